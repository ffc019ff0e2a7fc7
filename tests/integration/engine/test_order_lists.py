"""Order lists over gRPC: what the engine answers, streams and keeps, also if it is killed."""

import asyncio
import time
from collections import Counter
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.core.records import ACTIVATIONS_MAX
from openspot.kit.settings import Settings
from tests.support.engine_client import SCALE, EngineClient, order, running_engine
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

STOP_AT_90 = {"trigger": pb.TRIGGER_FIXED, "trigger_value": 9_000, "trigger_direction": pb.TRIGGER_AT_OR_BELOW}


def bracket(first_id: int = 11, quantity: str = "3") -> list[pb.PlaceOrderRequest]:
    """A buy at 100 with a take profit at 110 and a stop at 90."""
    return [
        order("buy", "100", quantity, order_id=first_id, metadata="entry"),
        order("sell", "110", quantity, order_id=first_id + 1, metadata="profit"),
        order("sell", "85", quantity, order_id=first_id + 2, metadata="stop", **STOP_AT_90),
    ]


def oco(first_id: int = 21, quantity: str = "2") -> list[pb.PlaceOrderRequest]:
    """A take profit at 110 and a stop at 90."""
    return [
        order("sell", "110", quantity, order_id=first_id),
        order("sell", "85", quantity, order_id=first_id + 1, **STOP_AT_90),
    ]


async def place_list(
    engine: EngineClient, list_id: int, list_type: Any, orders: list[pb.PlaceOrderRequest]
) -> pb.PlaceOrderListResponse:
    request = pb.PlaceOrderListRequest(list_id=list_id, type=list_type, orders=orders)
    answer: pb.PlaceOrderListResponse = await engine.orders.PlaceOrderList(request)
    return answer


async def cancel_list(engine: EngineClient, list_id: int, participant: str = "alice") -> pb.CancelOrderListResponse:
    request = pb.CancelOrderListRequest(list_id=list_id, participant_id=participant)
    answer: pb.CancelOrderListResponse = await engine.orders.CancelOrderList(request)
    return answer


async def statuses(engine: EngineClient, *order_ids: int) -> list[str]:
    return [(await engine.find(order_id)).status for order_id in order_ids]


async def test_a_bracket_is_streamed_with_its_list_and_its_exits_follow_the_entry(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    first = await engine.last_sequence() + 1
    answer = await place_list(engine, 7, pb.BRACKET, bracket())
    assert (answer.status, answer.result_code, answer.remaining_quantity) == (pb.ACCEPTED, "SUCCESS", 3 * SCALE)
    events = await engine.events(first, answer.sequence)
    assert [event["type"] for event in events] == ["listed", "listed", "listed", "accepted"]
    assert [(event["listId"], event["listType"], event["listPlace"]) for event in events[:3]] == [
        ("7", "BRACKET", place) for place in (1, 2, 3)
    ]
    assert [event["metadata"] for event in events[:3]] == ["entry", "profit", "stop"]
    assert (events[2]["triggerKind"], events[2]["triggerPrice"]) == ("FIXED", "90")
    assert await statuses(engine, 11, 12, 13) == ["OPEN", "PLANNED", "PLANNED"]
    assert (await engine.balances())["BTC"].locked == "0"

    sold = await engine.place("sell", "100", "1", "bob", order_id=31, metadata="taker")

    assert (sold.filled_quantity, sold.is_order_completed) == (SCALE, True)
    events = await engine.events(answer.sequence + 1, await engine.last_sequence())
    assert [event["type"] for event in events] == ["accepted", "trade", "accepted", "waiting"]
    assert [(event["orderId"], event["externalId"], event["metadata"]) for event in (events[0], *events[2:])] == [
        ("31", "external-31", "taker"),
        ("12", "external-12", ""),
        ("13", "external-13", ""),
    ]
    assert await statuses(engine, 11, 12, 13) == ["PARTIALLY_FILLED", "OPEN", "WAITING"]
    assert (await engine.balances())["BTC"].locked == "1"


async def test_the_buyer_of_an_exit_is_told_that_its_order_is_complete(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await place_list(engine, 7, pb.OCO, oco())
    answer = await engine.place("buy", "110", "2", "bob", with_fills=True)
    assert (answer.filled_quantity, answer.is_order_completed, len(answer.fills)) == (2 * SCALE, True, 1)
    last = await engine.last_sequence()
    trade, reduced, ended = await engine.events(last - 2, last)
    assert (trade["type"], reduced["type"], reduced["reason"]) == ("trade", "reduce", "LIST_EXIT_TRADED")
    assert (ended["type"], ended["listId"], ended["reason"]) == ("listEnded", "7", "LIST_EXIT_TRADED")
    assert await statuses(engine, 21, 22) == ["FILLED", "CANCELLED"]


async def test_a_list_is_placed_all_or_none_and_the_answer_names_the_order(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    # The core knows prices from the first terms on.
    await engine.place("buy", "100", "1", "bob", self_trade_prevention=pb.SELF_TRADE_PREVENTION_NONE)
    await engine.place("sell", "100", "1", "bob")
    orders = oco()
    orders[1].trigger_value = 10_000
    answer = await place_list(engine, 7, pb.OCO, orders)
    assert (answer.status, answer.result_code, answer.failed_order) == (pb.REJECTED, "TRIGGER_WOULD_FIRE", 2)
    rejects = await engine.events(answer.sequence - 1, answer.sequence)
    assert [(event["type"], event["externalId"]) for event in rejects] == [
        ("reject", "external-21"),
        ("reject", "external-22"),
    ]
    assert await statuses(engine, 21, 22) == ["REJECTED", "REJECTED"]
    assert (await engine.balances())["BTC"].locked == "0"


@pytest.mark.parametrize(
    ("change", "code", "failed"),
    [
        ({"order_id": 21}, "DUPLICATE_ORDER_ID", 2),
        ({"external_id": "external-21"}, "DUPLICATE_ORDER_ID", 2),
        ({"client_order_id": "c" * 129}, "UNSUPPORTED_COMMAND", 2),
        ({"post_only": pb.SLIDE}, "INVALID_ORDER_LIST", 2),
        ({"budget": "5"}, "INVALID_ORDER_LIST", 2),
        ({"symbol": "ETH-USD"}, "INVALID_ORDER_LIST", 0),
        ({"participant_id": "bob"}, "INVALID_ORDER_LIST", 0),
        ({"quantity": 1}, "INVALID_ORDER_LIST", 0),
    ],
)
async def test_a_list_that_cannot_be_one_is_refused(
    engine: EngineClient, change: dict[str, Any], code: str, failed: int
) -> None:
    await engine.fund("alice")
    orders = oco()
    for name, value in change.items():
        setattr(orders[1], name, value)
    answer = await place_list(engine, 7, pb.OCO, orders)
    assert (answer.status, answer.result_code, answer.failed_order) == (pb.REJECTED, code, failed)
    assert (await engine.balances())["BTC"].locked == "0"
    assert (await cancel_list(engine, 7)).result_code == "UNKNOWN_LIST_ID"


@pytest.mark.parametrize("count", [0, 4])
async def test_a_list_of_a_wrong_size_is_refused(engine: EngineClient, count: int) -> None:
    answer = await place_list(engine, 7, pb.OCO, [order(order_id=50 + number) for number in range(count)])
    assert (answer.status, answer.result_code) == (pb.REJECTED, "INVALID_ORDER_LIST")


async def test_a_list_of_names_that_are_unknown_is_refused_for_each_of_its_orders(engine: EngineClient) -> None:
    orders = oco()
    for each in orders:
        each.symbol, each.metadata = "NO-SUCH", f"m{each.order_id}"
    answer = await place_list(engine, 7, pb.OCO, orders)
    assert (answer.result_code, answer.failed_order) == ("INVALID_SYMBOL", 1)
    rejects = await engine.events(answer.sequence - 1, answer.sequence)
    assert [(event["symbol"], event["participantId"], event["metadata"]) for event in rejects] == [
        ("NO-SUCH", "alice", "m21"),
        ("NO-SUCH", "alice", "m22"),
    ]


async def test_a_cancel_ends_all_of_a_list_once_and_only_for_its_owner(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await place_list(engine, 7, pb.BRACKET, bracket())
    assert (await cancel_list(engine, 7, "bob")).result_code == "AUTH_INVALID_USER"
    answer = await cancel_list(engine, 7)
    assert (answer.status, answer.result_code) == (pb.ACCEPTED, "SUCCESS")
    ended = await engine.events(answer.sequence - 3, answer.sequence)
    assert [event["type"] for event in ended] == ["reduce", "reduce", "reduce", "listEnded"]
    assert [event.get("isWaiting", False) for event in ended[:3]] == [False, True, True]
    assert await statuses(engine, 11, 12, 13) == ["CANCELLED"] * 3
    assert (await cancel_list(engine, 7)).result_code == "UNKNOWN_LIST_ID"
    assert (await engine.balances())["USD"].locked == "0"


async def test_a_bulk_cancel_ends_lists_with_all_their_orders(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await place_list(engine, 7, pb.BRACKET, bracket())
    await place_list(engine, 8, pb.OCO, oco())
    answer = await engine.orders.CancelOrders(pb.CancelOrdersRequest(participant_id="alice"))
    assert (answer.status, answer.more_remain) == (pb.ACCEPTED, False)
    assert await statuses(engine, 11, 12, 13, 21, 22) == ["CANCELLED"] * 5
    assert (await engine.balances())["BTC"].locked == "0"


async def test_an_order_that_others_depend_on_cannot_be_moved_and_one_that_is_planned_can_be_cancelled(
    engine: EngineClient,
) -> None:
    await engine.fund("alice")
    await place_list(engine, 7, pb.BRACKET, bracket())
    moved = await engine.orders.MoveOrder(
        pb.MoveOrderRequest(order_id=11, participant_id="alice", symbol="BTC-USD", price=9_900)
    )
    assert moved.result_code == "ORDER_IN_LIST"
    cancelled = await engine.cancel(12)
    assert (cancelled.status, cancelled.result_code) == (pb.ACCEPTED, "SUCCESS")
    assert await statuses(engine, 11, 12, 13) == ["CANCELLED"] * 3


async def test_an_exit_that_expires_ends_the_other_without_a_caller(engine: EngineClient) -> None:
    await engine.fund("alice")
    orders = oco()
    orders[0].expires_at_ms = time.time_ns() // 1_000_000 + 400
    await place_list(engine, 7, pb.OCO, orders)
    await eventually(lambda: _are_cancelled(engine, 21, 22))


async def _are_cancelled(engine: EngineClient, *order_ids: int) -> bool:
    return await statuses(engine, *order_ids) == ["CANCELLED"] * len(order_ids)


async def test_lists_are_as_they_were_after_a_restart(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        await place_list(engine, 7, pb.BRACKET, bracket())
        await engine.place("sell", "100", "1", "bob")
        await place_list(engine, 8, pb.BRACKET, bracket(41))
        before = await engine.events(1, await engine.last_sequence())
    async with running_engine(settings) as engine:
        assert await engine.events(1, await engine.last_sequence()) == before
        assert await statuses(engine, 11, 12, 13) == ["PARTIALLY_FILLED", "OPEN", "WAITING"]
        assert await statuses(engine, 41, 42, 43) == ["OPEN", "PLANNED", "PLANNED"]
        answer = await engine.place("buy", "110", "1", "bob")
        assert answer.is_order_completed
        assert await statuses(engine, 11, 12, 13) == ["CANCELLED", "FILLED", "CANCELLED"]


@pytest.mark.parametrize("pause_s", [0.0, 0.05, 0.2])
async def test_no_list_is_torn_or_ended_twice_by_kill_9(settings: Settings, nursery: Nursery, pause_s: float) -> None:
    lists = ACTIVATIONS_MAX + 20
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund("alice")
        await engine.fund("bob")
        for number in range(1, lists + 1):
            await place_list(engine, number, pb.BRACKET, bracket(1_000 + 10 * number, "0.02"))
        # One order fills more entries than one command arms; its answer is of no interest.
        filling = asyncio.ensure_future(engine.place("sell", "100", f"{lists * 0.02:.2f}", "bob", type=pb.IOC))
        await asyncio.sleep(pause_s)
        child.kill()
        await asyncio.gather(filling, return_exceptions=True)
    async with forked_engine(settings, nursery) as (_, engine):
        if not filling.exception():
            assert filling.result().filled_quantity == lists * SCALE // 50
        if (await engine.find(1_010)).status == "OPEN":
            await engine.place("sell", "100", f"{lists * 0.02:.2f}", "bob", type=pb.IOC)
        stops = [1_002 + 10 * number for number in range(1, lists + 1)]
        await eventually(lambda: _all_wait(engine, stops))
        assert (await engine.balances())["BTC"].locked == f"{lists * 0.02:.2f}"
        await engine.place("buy", "110", f"{lists * 0.02:.2f}", "bob", type=pb.IOC)
        assert await statuses(engine, *stops) == ["CANCELLED"] * lists
        events = await engine.events(1, await engine.last_sequence())
        ended = Counter(event["listId"] for event in events if event["type"] == "listEnded")
        assert ended == {str(number): 1 for number in range(1, lists + 1)}
        assert (await engine.balances())["BTC"].locked == "0"


async def _all_wait(engine: EngineClient, order_ids: list[int]) -> bool:
    return set(await statuses(engine, *order_ids)) == {"WAITING"}
