"""Orders with terms over gRPC: what the engine answers, streams and keeps, and what it does by itself."""

import time
from typing import Any

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.core.records import ACTIVATIONS_MAX
from openspot.kit.settings import Settings
from tests.support.engine_client import SCALE, EngineClient, order, running_engine
from tests.support.waiting import eventually

WAITS_AT_105 = {"trigger": pb.TRIGGER_FIXED, "trigger_value": 10_500}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def status(engine: EngineClient, order_id: int) -> str:
    return (await engine.find(order_id)).status


async def trade_at(engine: EngineClient, price: str) -> None:
    """A trade of its own at `price`."""
    await engine.place("sell", price, "0.01", "bob")
    answer = await engine.place("buy", price, "0.01", "bob")
    assert answer.filled_quantity == SCALE // 100


async def test_a_stop_waits_with_its_funds_and_is_matched_once_its_trigger_fires(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await engine.place("sell", "110", "1", "bob")
    answer = await engine.place("buy", "112", "1", order_id=7, metadata="m", **WAITS_AT_105)
    assert (answer.status, answer.remaining_quantity) == (pb.ACCEPTED, SCALE)
    found = await engine.find(7)
    assert (found.status, found.trigger_price, found.trigger_limit) == ("WAITING", 10_500, 11_200)
    assert (found.type, found.trigger, found.trigger_source, found.trigger_direction) == (
        pb.GTC, pb.TRIGGER_FIXED, pb.TRIGGER_LAST_TRADE, pb.TRIGGER_AT_OR_ABOVE,
    )  # fmt: skip
    assert (await engine.balances())["USD"].locked == "112"
    first = await engine.last_sequence()
    (waiting,) = await engine.events(first, first)
    assert (waiting["type"], waiting["orderId"], waiting["metadata"]) == ("waiting", "7", "m")
    assert (waiting["triggerKind"], waiting["triggerSource"], waiting["triggerPrice"]) == ("FIXED", "last", "105")

    await trade_at(engine, "105")

    assert await status(engine, 7) == "FILLED"
    events = await engine.events(first + 1, await engine.last_sequence())
    assert [event["type"] for event in events] == ["accepted", "accepted", "trade", "triggered", "trade"]
    assert (events[3]["firedPrice"], events[3]["price"]) == ("105", "112")


async def test_an_order_that_waits_keeps_over_a_restart_whether_its_owner_chose_its_limit(settings: Settings) -> None:
    limits = {7: {"type": pb.IOC, "has_limit": True}, 8: {"type": pb.IOC}, 9: {"has_limit": True}}
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        for order_id, fields in limits.items():
            await engine.place("buy", "112", "1", order_id=order_id, **WAITS_AT_105, **fields)
        before = [await engine.find(order_id) for order_id in limits]

    async with running_engine(settings) as engine:
        after = [await engine.find(order_id) for order_id in limits]

    assert [found.has_limit for found in before] == [True, False, True]
    assert [found.type for found in before] == [pb.IOC, pb.IOC, pb.GTC]
    assert after == before


async def test_the_answer_to_the_order_that_fires_a_stop_is_about_that_order_alone(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await engine.place("buy", "200", "1", order_id=7, type=pb.IOC, **WAITS_AT_105)
    await engine.place("sell", "105", "2", "bob")
    answer = await engine.place("buy", "105", "1", "bob", order_id=8)
    assert (answer.filled_quantity, answer.is_order_completed) == (SCALE, True)
    (last,) = await engine.events(answer.sequence, answer.sequence)
    assert (last["type"], last["takerOrderId"]) == ("trade", "8")
    assert await status(engine, 7) == "FILLED"


async def test_a_list_may_hold_orders_with_and_without_terms(engine: EngineClient) -> None:
    await engine.fund("alice")
    requests = [
        order("buy", "90", order_id=1),
        order("buy", "112", order_id=2, **WAITS_AT_105),
        order("buy", "112", order_id=3, trigger=9, trigger_value=1),
        order("buy", "91", order_id=4, self_trade_prevention=pb.SELF_TRADE_PREVENTION_CANCEL_BOTH),
    ]
    answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))).orders
    assert [(answer.order_id, answer.result_code) for answer in answers] == [
        *((1, "SUCCESS"), (2, "SUCCESS"), (3, "INVALID_TERMS"), (4, "SUCCESS"))
    ]
    assert [await status(engine, number) for number in (1, 2, 3, 4)] == ["OPEN", "WAITING", "REJECTED", "OPEN"]


async def test_a_bulk_cancel_reaches_orders_that_wait_whatever_their_type(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.place("buy", "112", "1", order_id=7, type=pb.IOC, **WAITS_AT_105)
    answer = await engine.orders.CancelOrders(pb.CancelOrdersRequest(participant_id="alice"))
    assert [cancelled.order_id for cancelled in answer.orders] == [7]
    assert await status(engine, 7) == "CANCELLED"
    (reduced,) = await engine.events(answer.orders[0].sequence, answer.orders[0].sequence)
    assert (reduced["type"], reduced["isWaiting"]) == ("reduce", True)


async def test_the_mark_price_fires_more_stops_than_one_command_activates(engine: EngineClient) -> None:
    await engine.fund("alice")
    terms = WAITS_AT_105 | {"trigger_source": pb.TRIGGER_MARK_PRICE}
    numbers = range(1, 3 * ACTIVATIONS_MAX)
    requests = [order("buy", "90", "0.01", order_id=number, **terms) for number in numbers]
    await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))
    answer = await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=10_501))
    assert (answer.status, answer.result_code) == (pb.ACCEPTED, "SUCCESS")

    async def all_rest() -> bool:
        return await status(engine, numbers[-1]) == "OPEN"

    await eventually(all_rest)
    assert {await status(engine, number) for number in numbers} == {"OPEN"}
    refused = await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="NO-SUCH", price=1))
    assert (refused.status, refused.result_code) == (pb.REJECTED, "INVALID_SYMBOL")


async def test_a_mark_price_that_is_scaled_for_another_symbol_of_the_name_is_refused(engine: EngineClient) -> None:
    _, markets = await engine.request("GET", "/api/v1/markets")
    (number,) = (market["symbolId"] for market in markets if market["symbol"] == "BTC-USD")
    for symbol_id, code in ((number, "SUCCESS"), (number + 1, "INVALID_SYMBOL")):
        request = pb.SetMarkPriceRequest(symbol="BTC-USD", price=10_501, symbol_id=symbol_id)
        assert (await engine.orders.SetMarkPrice(request)).result_code == code


async def test_the_answer_to_a_trailing_order_that_gets_less_says_where_its_limit_is_now(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=100_00))
    terms = {"trigger_source": pb.TRIGGER_MARK_PRICE, "trigger_direction": pb.TRIGGER_AT_OR_BELOW}
    trailing = terms | {"trigger": pb.TRIGGER_TRAILING_DISTANCE, "trigger_value": 3_00}
    await engine.place("sell", "96", "2", order_id=7, **trailing)
    await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=104_00))

    wanted = pb.AmendOrderRequest(order_id=7, participant_id="alice", quantity=SCALE)
    (answer,) = (await engine.orders.AmendOrders(pb.AmendOrdersRequest(orders=[wanted]))).orders

    assert (answer.price, answer.quantity, answer.trigger_price) == (100_00, SCALE, 101_00)
    (reduced,) = await engine.events(answer.sequence, answer.sequence)
    assert (reduced["type"], reduced["price"], reduced["remaining"]) == ("reduce", "100", "1")


async def test_the_answer_to_an_amendment_says_nothing_of_what_came_after_it_in_the_same_commit(
    engine: EngineClient,
) -> None:
    await engine.fund("alice")
    await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=100_00))
    terms = {"trigger_source": pb.TRIGGER_MARK_PRICE, "trigger_direction": pb.TRIGGER_AT_OR_BELOW}
    await engine.place("sell", "96", "3", order_id=7, **terms, trigger=pb.TRIGGER_TRAILING_DISTANCE, trigger_value=3_00)
    await engine.place("sell", "90", "3", order_id=8, **terms, trigger=pb.TRIGGER_FIXED, trigger_value=94_00)
    await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=104_00))

    wanted = [
        {"order_id": 7, "quantity": 2 * SCALE},
        {"order_id": 7, "price": 98_00},
        {"order_id": 7, "price": 97_00, "quantity": SCALE},
        {"order_id": 8, "trigger_price": 93_00},
        {"order_id": 8, "trigger_price": 92_00},
    ]
    requests = [pb.AmendOrderRequest(participant_id="alice", **each) for each in wanted]
    answers = (await engine.orders.AmendOrders(pb.AmendOrdersRequest(orders=requests))).orders

    assert [(answer.price, answer.quantity, answer.trigger_price) for answer in answers] == [
        (100_00, 2 * SCALE, 101_00),
        (98_00, 2 * SCALE, 101_00),
        (97_00, SCALE, 101_00),
        (90_00, 3 * SCALE, 93_00),
        (90_00, 3 * SCALE, 92_00),
    ]


async def test_an_order_ends_when_its_time_is_over(engine: EngineClient) -> None:
    await engine.fund("alice")
    late = await engine.place("buy", "90", "1", order_id=6, expires_at_ms=now_ms() - 1_000)
    assert late.result_code == "INVALID_EXPIRY"
    await engine.place("buy", "90", "1", order_id=7, expires_at_ms=now_ms() + 200)
    await engine.place("buy", "91", "1", order_id=8, expires_at_ms=now_ms() + 3_600_000)
    await eventually(lambda: _is(engine, 7, "CANCELLED"))
    sequence = await engine.last_sequence()
    (reduced,) = await engine.events(sequence, sequence)
    assert (reduced["orderId"], reduced["reason"]) == ("7", "ORDER_EXPIRED")
    assert await status(engine, 8) == "OPEN"


async def test_a_restart_keeps_what_waits_and_when_it_ends(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        await engine.place("buy", "112", "1", order_id=7, expires_at_ms=now_ms() + 1_500, **WAITS_AT_105)
        await engine.place("buy", "112", "1", order_id=8, type=pb.IOC, **WAITS_AT_105)
        assert await status(engine, 7) == "WAITING"
    async with running_engine(settings) as engine:
        assert await status(engine, 8) == "WAITING"
        await eventually(lambda: _is(engine, 7, "CANCELLED"))
        answer = await engine.orders.CancelOrders(pb.CancelOrdersRequest(participant_id="alice"))
        assert [cancelled.order_id for cancelled in answer.orders] == [8]


async def _is(engine: EngineClient, order_id: int, expected: Any) -> bool:
    return await status(engine, order_id) == expected
