"""exchange.v1.OrderService over gRPC."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import grpc
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.core.records import FOK_STEPS_EXPONENT
from openspot.engine.intake.command_intake import CANCELS_MAX
from tests.support.engine_client import SCALE, EngineClient, engine_settings, order, running_engine


@pytest.mark.spec("A1.1-10", "B4.4-18", "B4.4-21", "B4.4-29")
async def test_an_order_that_rests_is_accepted_and_shows_in_the_book(engine: EngineClient) -> None:
    await engine.fund()
    answer = await engine.place("buy", "100", "2", order_id=7)
    assert answer == pb.PlaceOrderResponse(
        order_id=7, status=pb.ACCEPTED, result_code="SUCCESS", filled_quantity=0, remaining_quantity=2 * SCALE,
        sequence=await engine.last_sequence(), timestamp=answer.timestamp, notional="0", fee="0",
        is_order_completed=False,
    )  # fmt: skip
    assert answer.timestamp > 1_600_000_000_000
    _, book = await engine.request("GET", "/api/v1/marketdata/orderbook/BTC-USD")
    assert book["bids"] == [["100", "2"]]


async def test_a_crossing_order_is_filled_with_exact_notional_and_fee(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "100.01", "0.3", "maker")
    await engine.place("sell", "100.02", "0.3", "maker")
    answer = await engine.place("buy", "100.02", "0.5", "taker")
    assert (answer.status, answer.filled_quantity, answer.remaining_quantity) == (pb.ACCEPTED, SCALE // 2, 0)
    assert answer.notional == "50.007"  # 0.3 × 100.01 + 0.2 × 100.02
    assert answer.fee == "0.1250175"  # 25 bps of it
    # ACCEPTED and two trades.
    assert answer.sequence == await engine.last_sequence()


@pytest.mark.spec("A1.2-01", "B4.4-22")
async def test_an_order_without_funds_is_rejected(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")
    # The funds cover the price but not the worst-case fee.
    answer = await engine.place("buy", "100", "1")
    assert (answer.status, answer.result_code) == (pb.REJECTED, "RISK_NSF")
    assert (answer.filled_quantity, answer.remaining_quantity) == (0, SCALE)
    nobody = await engine.place("sell", "100", "1", "nobody")
    assert (nobody.status, nobody.result_code) == (pb.REJECTED, "RISK_NSF")


@pytest.mark.spec("B4.4-23")
async def test_an_ioc_on_an_empty_book_is_cancelled(engine: EngineClient) -> None:
    await engine.fund()
    answer = await engine.place(type=pb.IOC)
    assert (answer.status, answer.result_code, answer.remaining_quantity) == (pb.CANCELLED, "IOC_REMAINDER", 0)
    assert (await engine.find(answer.order_id)).status == "CANCELLED"


@pytest.mark.spec("B4.4-19")
async def test_each_public_order_type_is_accepted(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "100", "3", "maker")
    for order_type, fields in (
        (pb.GTC, {}),
        (pb.IOC, {}),
        (pb.FOK, {}),
        (pb.FOK_BUDGET, {"budget": "50.0"}),
    ):
        answer = await engine.place("buy", "100", "0.5", "taker", type=order_type, **fields)
        assert (answer.status, answer.filled_quantity) == (pb.ACCEPTED, SCALE // 2), order_type


@pytest.mark.spec("B4.4-19")
async def test_other_order_types_and_the_internal_post_only_are_refused(engine: EngineClient) -> None:
    await engine.fund()
    for order_type in (0, 5, 6, 99, -1, 256 + 1, 2**31 - 1):
        answer = await engine.place(type=order_type)
        assert (answer.status, answer.result_code) == (pb.REJECTED, "INVALID_ORDER_TYPE"), order_type


@pytest.mark.spec("B4.4-20")
async def test_the_reserve_price_of_a_buy_decides_how_much_is_held(engine: EngineClient) -> None:
    await engine.fund("alice", USD="1002.50")
    # A reserve price of 1000 holds 1000 and the worst-case fee of 25 bps, which is the whole balance.
    assert (await engine.place("buy", "100", "1", reserve_price=100_001)).result_code == "RISK_NSF"
    answer = await engine.place("buy", "100", "1", reserve_price=100_000)
    assert answer.status == pb.ACCEPTED
    usd = (await engine.balances())["USD"]
    assert (usd.locked, usd.reserved) == ("100", "902.5")
    assert (await engine.place("buy", "100", "1", reserve_price=9_999)).result_code == "RISK_INVALID_RESERVE_BID_PRICE"


_BAD_FIELDS = (
    ({"side": 0}, "INVALID_SIDE"),
    ({"side": 3}, "INVALID_SIDE"),
    ({"side": 257}, "INVALID_SIDE"),
    ({"side": -1}, "INVALID_SIDE"),
    ({"order_id": 0}, "INVALID_ORDER_ID"),
    ({"price": 0}, "INVALID_PRICE"),
    ({"price": -1}, "INVALID_PRICE"),
    ({"price": 2**63 - 1}, "INVALID_PRICE"),
    ({"price": -(2**63)}, "INVALID_PRICE"),
    ({"quantity": 0}, "INVALID_QUANTITY"),
    ({"quantity": -5}, "INVALID_QUANTITY"),
    ({"quantity": 2**63 - 1}, "INVALID_QUANTITY"),
    ({"quantity": 2**62, "price": 2**62}, "MAX_ORDER_SIZE"),
    ({"reserve_price": -1}, "RISK_INVALID_RESERVE_BID_PRICE"),
    ({"type": pb.FOK_BUDGET}, "INVALID_BUDGET"),
    ({"type": pb.FOK_BUDGET, "budget": "NaN"}, "INVALID_BUDGET"),
    ({"type": pb.FOK_BUDGET, "budget": "-1"}, "INVALID_BUDGET"),
    ({"type": pb.FOK_BUDGET, "budget": "1e999"}, "INVALID_BUDGET"),
    ({"type": pb.FOK_BUDGET, "budget": "0.0000000000000000001"}, "INVALID_BUDGET"),
    ({"symbol": "ZZZ-YYY"}, "INVALID_SYMBOL"),
    ({"symbol": ""}, "INVALID_SYMBOL"),
    ({"symbol": "btc-usd; drop"}, "INVALID_SYMBOL"),
    ({"participant_id": ""}, "AUTH_INVALID_USER"),
    ({"participant_id": "a b"}, "AUTH_INVALID_USER"),
    ({"participant_id": "a.b.>"}, "AUTH_INVALID_USER"),
    ({"participant_id": "x" * 65}, "AUTH_INVALID_USER"),
    ({"participant_id": "house:fees"}, "PARTICIPANT_INACTIVE"),
    ({"external_id": "x" * 65}, "INVALID_ORDER_ID"),
    ({"metadata": "x" * 4097}, "UNSUPPORTED_COMMAND"),
)


async def test_a_bad_field_is_rejected_with_a_code_and_changes_nothing(engine: EngineClient) -> None:
    await engine.fund()
    for fields, code in _BAD_FIELDS:
        request = order()
        for name, value in fields.items():
            setattr(request, name, value)
        answer = await engine.send(request)
        assert (answer.status, answer.result_code) == (pb.REJECTED, code), fields
        assert (answer.filled_quantity, answer.notional, answer.fee) == (0, "0", "0")
    assert {name: balance.locked for name, balance in (await engine.balances()).items()} == {"USD": "0", "BTC": "0"}
    assert (await engine.place()).status == pb.ACCEPTED


@pytest.mark.spec("A1.4-06", "A1.4-14", "B4.4-24")
async def test_a_cancel_removes_the_order_and_frees_its_funds_at_once(engine: EngineClient) -> None:
    await engine.fund()
    placed = await engine.place("buy", "100", "2")
    assert (await engine.balances())["USD"].locked == "200"
    answer = await engine.cancel(placed.order_id, symbol="BTC-USD")
    assert (answer.status, answer.result_code, answer.cancelled_quantity) == (pb.ACCEPTED, "SUCCESS", 2 * SCALE)
    assert answer.sequence == placed.sequence + 1
    usd = (await engine.balances())["USD"]
    assert (usd.locked, usd.reserved, usd.available) == ("0", "0", "1000000")
    assert (await engine.find(placed.order_id)).status == "CANCELLED"
    again = await engine.cancel(placed.order_id)
    assert (again.status, again.result_code, again.sequence) == (pb.REJECTED, "MATCHING_UNKNOWN_ORDER_ID", 0)


@pytest.mark.spec("A1.4-01")
async def test_only_the_owner_cancels_and_only_on_the_right_symbol(engine: EngineClient) -> None:
    await engine.fund()
    await engine.fund("bob")
    placed = await engine.place()
    for participant, symbol, code in (
        ("bob", "", "AUTH_INVALID_USER"),
        ("stranger", "", "AUTH_INVALID_USER"),
        ("", "", "AUTH_INVALID_USER"),
        ("alice", "ETH-USD", "MATCHING_UNKNOWN_ORDER_ID"),
        ("alice", "NO-SUCH", "MATCHING_UNKNOWN_ORDER_ID"),
    ):
        answer = await engine.cancel(placed.order_id, participant, symbol=symbol)
        assert (answer.status, answer.result_code) == (pb.REJECTED, code)
    assert (await engine.find(placed.order_id)).status == "OPEN"


async def test_a_fill_or_kill_looks_at_a_bounded_number_of_levels(engine: EngineClient) -> None:
    for participant in ("maker", "taker"):
        await engine.fund(participant)
    levels = 2**FOK_STEPS_EXPONENT
    sells = [order("sell", str(100 + number), "0.0001", "maker") for number in range(levels + 1)]
    for part in (sells[:levels], sells[levels:]):
        await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=part))
    too_many = str(Decimal("0.0001") * (levels + 1))
    answer = await engine.place("buy", "9000", too_many, "taker", type=pb.FOK)
    assert (answer.status, answer.result_code) == (pb.CANCELLED, "FOK_TOO_DEEP")
    answer = await engine.place("buy", "9000", str(Decimal("0.0001") * levels), "taker", type=pb.FOK)
    assert (answer.status, answer.is_order_completed) == (pb.ACCEPTED, True)


@pytest.mark.spec("B4.1-11")
async def test_a_bulk_cancel_takes_a_participants_open_orders_that_fit(engine: EngineClient) -> None:
    for participant in ("alice", "bob"):
        await engine.fund(participant)
    buys = [await engine.place("buy", str(90 + number)) for number in range(3)]
    sells = [await engine.place("sell", str(110 + number)) for number in range(2)]
    others = await engine.place("buy", "95", "1", "bob")
    assert await cancel_open(engine, "alice", symbol="ETH-USD") == ("SUCCESS", [])
    answer = await engine.orders.CancelOrders(pb.CancelOrdersRequest(participant_id="alice", side=pb.SELL))
    assert [(row.order_id, row.external_id, row.cancelled_quantity) for row in answer.orders] == [
        (placed.order_id, f"external-{placed.order_id}", SCALE) for placed in sells
    ]
    # One event for each order, directly after each other.
    assert [row.sequence for row in answer.orders] == [others.sequence + 1, others.sequence + 2]
    events = await engine.events(others.sequence + 1, others.sequence + 2)
    assert [(event["type"], event["reason"]) for event in events] == [("reduce", "CANCELLED_BY_USER")] * 2
    assert await cancel_open(engine, "alice", symbol="BTC-USD") == ("SUCCESS", [row.order_id for row in buys])
    assert await cancel_open(engine, "alice") == ("SUCCESS", [])
    assert (await engine.find(others.order_id)).status == "OPEN"
    assert {name: balance.locked for name, balance in (await engine.balances()).items()} == {"USD": "0", "BTC": "0"}


async def test_a_bulk_cancel_of_nobody_or_nothing_is_refused_by_name(engine: EngineClient) -> None:
    await engine.fund()
    assert await cancel_open(engine, "nobody") == ("AUTH_INVALID_USER", [])
    assert await cancel_open(engine, "alice", symbol="NO-SUCH") == ("INVALID_SYMBOL", [])
    assert await cancel_open(engine, "alice", side=7) == ("INVALID_SIDE", [])


async def test_a_bulk_cancel_takes_a_bounded_number_and_says_that_more_remain(engine: EngineClient) -> None:
    await engine.fund()
    orders = [order("buy", "90", "0.001") for _ in range(CANCELS_MAX + 7)]
    await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=orders))
    # The second call comes before the first is applied: it finds the same orders, which have ended when it runs.
    ask = pb.CancelOrdersRequest(participant_id="alice")
    first, second = await asyncio.gather(engine.orders.CancelOrders(ask), engine.orders.CancelOrders(ask))
    third = await engine.orders.CancelOrders(ask)
    cancelled = [row.order_id for answer in (first, second, third) for row in answer.orders]
    assert cancelled == [request.order_id for request in orders]
    assert max(len(answer.orders) for answer in (first, second, third)) == CANCELS_MAX
    assert (first.more_remain, third.more_remain) == (True, False)
    assert (await engine.balances())["USD"].locked == "0"


async def cancel_open(engine: EngineClient, participant: str, **fields: Any) -> tuple[str, list[int]]:
    """(result code, the ids of the cancelled orders) of one bulk cancel."""
    answer = await engine.orders.CancelOrders(pb.CancelOrdersRequest(participant_id=participant, **fields))
    assert (answer.status == pb.ACCEPTED) == (answer.result_code == "SUCCESS")
    return answer.result_code, [row.order_id for row in answer.orders]


async def test_an_order_is_cancelled_and_found_by_its_external_id(engine: EngineClient) -> None:
    await engine.fund()
    placed = await engine.place(external_id="mine")
    assert (await engine.find(external_id="mine")).order_id == placed.order_id
    answer = await engine.cancel(0, external_id="mine")
    assert (answer.order_id, answer.result_code) == (placed.order_id, "SUCCESS")
    assert (await engine.cancel(0, external_id="nobody's")).result_code == "MATCHING_UNKNOWN_ORDER_ID"
    assert not (await engine.find(external_id="nobody's")).found
    assert not (await engine.find(12345)).found


async def test_a_move_changes_the_price_and_matches_again(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "105", "1", "maker")
    placed = await engine.place("buy", "100", "3", "taker")
    move = pb.MoveOrderRequest(order_id=placed.order_id, participant_id="taker", symbol="BTC-USD", price=105_00)
    answer = await engine.orders.MoveOrder(move)
    assert (answer.status, answer.filled_quantity, answer.remaining_quantity) == (pb.ACCEPTED, SCALE, 2 * SCALE)
    assert answer.sequence == await engine.last_sequence()
    found = await engine.find(placed.order_id)
    assert (found.status, found.price, found.remaining_quantity) == ("PARTIALLY_FILLED", 105_00, 2 * SCALE)
    for fields, code in (
        ({"price": 0}, "INVALID_PRICE"),
        ({"participant_id": "maker"}, "AUTH_INVALID_USER"),
        ({"symbol": "ETH-USD"}, "MATCHING_UNKNOWN_ORDER_ID"),
        ({"order_id": 999}, "MATCHING_UNKNOWN_ORDER_ID"),
    ):
        bad = pb.MoveOrderRequest()
        bad.CopyFrom(move)
        for name, value in fields.items():
            setattr(bad, name, value)
        refused = await engine.orders.MoveOrder(bad)
        assert (refused.status, refused.result_code, refused.sequence) == (pb.REJECTED, code, 0)


async def test_amendments_of_one_call_have_their_own_outcomes_and_a_repeat_changes_nothing(
    engine: EngineClient,
) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "105", "1", "maker")
    first = await engine.place("buy", "100", "3", "taker")
    second = await engine.place("buy", "99", "3", "taker")
    request = pb.AmendOrdersRequest(
        orders=[
            pb.AmendOrderRequest(
                order_id=first.order_id, participant_id="taker", symbol="BTC-USD", price=105_00, quantity=4 * SCALE
            ),
            pb.AmendOrderRequest(order_id=second.order_id, participant_id="taker", quantity=2 * SCALE),
            pb.AmendOrderRequest(order_id=second.order_id, participant_id="taker", symbol="ETH-USD", quantity=SCALE),
            pb.AmendOrderRequest(order_id=second.order_id, participant_id="maker", quantity=SCALE),
            pb.AmendOrderRequest(order_id=first.order_id, participant_id="taker", quantity=SCALE),
            pb.AmendOrderRequest(order_id=999, participant_id="taker", quantity=SCALE),
        ]
    )
    answer = await engine.orders.AmendOrders(request)
    outcomes = [(row.result_code, row.filled_quantity, row.remaining_quantity) for row in answer.orders]
    assert outcomes == [
        ("SUCCESS", SCALE, 3 * SCALE),
        ("SUCCESS", 0, 2 * SCALE),
        ("MATCHING_UNKNOWN_ORDER_ID", 0, 0),
        ("AUTH_INVALID_USER", 0, 0),
        ("QUANTITY_BELOW_FILLED", 0, 0),
        ("MATCHING_UNKNOWN_ORDER_ID", 0, 0),
    ]
    last = await engine.last_sequence()
    assert [row.sequence for row in answer.orders] == [last - 1, last, 0, 0, 0, 0]
    moved, trade, reduced = await engine.events(last - 2, last)
    assert (moved["type"], moved["quantity"], moved["remaining"], moved["previousRemaining"]) == (
        "moved",
        "4",
        "4",
        "3",
    )
    assert (trade["type"], reduced["type"], reduced["reason"]) == ("trade", "reduce", "AMENDED_BY_USER")
    shown = [(row.price, row.quantity) for row in answer.orders]
    assert shown == [(105_00, 4 * SCALE), (99_00, 2 * SCALE), *[(0, 0)] * 4]
    assert [row.timestamp for row in answer.orders] == [moved["timestamp"], reduced["timestamp"], 0, 0, 0, 0]
    found = await engine.find(first.order_id)
    assert (found.status, found.price, found.quantity) == ("PARTIALLY_FILLED", 105_00, 4 * SCALE)
    assert found.remaining_quantity == 3 * SCALE

    del request.orders[2:]
    again = await engine.orders.AmendOrders(request)
    assert [(row.result_code, row.filled_quantity, row.sequence) for row in again.orders] == [("SUCCESS", 0, 0)] * 2
    assert await engine.last_sequence() == last
    assert not (await engine.orders.AmendOrders(pb.AmendOrdersRequest())).orders


async def test_a_bulk_cancel_of_named_orders_takes_those_alone(engine: EngineClient) -> None:
    for participant in ("alice", "bob"):
        await engine.fund(participant)
    placed = [await engine.place("buy", str(90 + number)) for number in range(4)]
    others = await engine.place("buy", "95", "1", "bob")
    named = [f"external-{row.order_id}" for row in (placed[2], placed[0], placed[2], others)] + ["nobody's"]
    assert await cancel_open(engine, "alice", external_ids=named, side=pb.SELL) == ("SUCCESS", [])
    assert await cancel_open(engine, "alice", external_ids=named, symbol="ETH-USD") == ("SUCCESS", [])
    assert await cancel_open(engine, "alice", external_ids=named) == (
        "SUCCESS",
        [placed[2].order_id, placed[0].order_id],
    )
    assert await cancel_open(engine, "alice", external_ids=named) == ("SUCCESS", [])
    assert (await engine.find(others.order_id)).status == "OPEN"
    assert (await engine.find(placed[1].order_id)).status == "OPEN"


async def test_a_reduced_order_keeps_its_place_in_the_queue(engine: EngineClient) -> None:
    await engine.fund()
    placed = await engine.place("buy", "100", "3")
    request = pb.ReduceOrderRequest(order_id=placed.order_id, participant_id="alice", quantity=SCALE)
    answer = await engine.orders.ReduceOrder(request)
    assert (answer.status, answer.remaining_quantity) == (pb.ACCEPTED, 2 * SCALE)
    assert (await engine.balances())["USD"].locked == "200"
    refused = await engine.orders.ReduceOrder(
        pb.ReduceOrderRequest(order_id=placed.order_id, participant_id="alice", quantity=-1)
    )
    assert (refused.status, refused.result_code) == (pb.REJECTED, "INVALID_QUANTITY")
    request.quantity = 100 * SCALE
    assert (await engine.orders.ReduceOrder(request)).remaining_quantity == 0
    assert (await engine.find(placed.order_id)).status == "CANCELLED"


async def test_a_filled_and_a_rejected_order_are_remembered(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    maker = await engine.place("sell", "100", "1", "maker")
    taker = await engine.place("buy", "100", "1", "taker")
    rejected = await engine.place("buy", "100", "1", "poor")
    for order_id, status, remaining in (
        (maker.order_id, "FILLED", 0),
        (taker.order_id, "FILLED", 0),
        (rejected.order_id, "REJECTED", SCALE),
    ):
        found = await engine.find(order_id)
        assert (found.found, found.status, found.quantity, found.remaining_quantity) == (True, status, SCALE, remaining)
    found = await engine.find(maker.order_id)
    assert (found.participant_id, found.symbol, found.side, found.price) == ("maker", "BTC-USD", pb.SELL, 100_00)
    assert found.external_id == f"external-{maker.order_id}"


async def test_a_repeated_order_id_is_refused_without_an_event(engine: EngineClient) -> None:
    await engine.fund()
    live = await engine.place()
    ended = await engine.place(type=pb.IOC)
    before = await engine.last_sequence()
    for placed in (live, ended):
        for fields in (
            {"order_id": placed.order_id, "external_id": "new"},
            {"external_id": f"external-{placed.order_id}"},
        ):
            answer = await engine.place(**fields)
            assert (answer.status, answer.result_code) == (pb.REJECTED, "DUPLICATE_ORDER_ID")
            assert answer.sequence == 0
    assert await engine.last_sequence() == before
    assert (await engine.find(live.order_id)).status == "OPEN"


async def test_a_repeated_order_id_is_refused_before_the_first_order_is_durable(engine: EngineClient) -> None:
    await engine.fund()
    requests = [order(order_id=1_000_000, external_id="twin") for _ in range(50)]
    answers = await asyncio.gather(*(engine.orders.PlaceOrder(request) for request in requests))
    assert sorted(answer.result_code for answer in answers) == ["DUPLICATE_ORDER_ID"] * 49 + ["SUCCESS"]
    assert (await engine.balances())["USD"].locked == "100"


async def test_orders_of_one_call_are_placed_in_order_with_one_response_each(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    first = order("sell", "100", "1", "maker")
    requests = [
        first,
        order("sell", "101", "1", "maker"),
        order(order_id=first.order_id),
        order("buy", "101", "1.5", "taker"),
        order("buy", "1", "1", "poor"),
        order(participant_id="no body"),
        order("buy", "50", "1", "taker"),
    ]
    answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))).orders
    assert [(answer.order_id, answer.result_code) for answer in answers] == [
        (requests[0].order_id, "SUCCESS"),
        (requests[1].order_id, "SUCCESS"),
        (first.order_id, "DUPLICATE_ORDER_ID"),
        (requests[3].order_id, "SUCCESS"),
        (requests[4].order_id, "RISK_NSF"),
        (requests[5].order_id, "AUTH_INVALID_USER"),
        (requests[6].order_id, "SUCCESS"),
    ]
    assert (answers[3].filled_quantity, answers[3].notional, answers[3].fee) == (3 * SCALE // 2, "150.5", "0.37625")
    taken = [answer.sequence for answer in answers if answer.sequence]
    assert taken == sorted(taken)
    assert taken[-1] == await engine.last_sequence()


async def test_an_empty_call_succeeds_and_an_oversized_one_is_refused(engine: EngineClient) -> None:
    assert len((await engine.orders.PlaceOrders(pb.PlaceOrdersRequest())).orders) == 0
    too_many = [pb.PlaceOrderRequest(order_id=number) for number in range(engine.settings.engine_batch_max + 1)]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=too_many))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "orders" in (caught.value.details() or "")


async def test_a_full_queue_refuses_all_orders_of_a_call_as_busy(tmp_path: Path) -> None:
    async with running_engine(engine_settings(tmp_path, engine_queue_max=10)) as engine:
        await engine.fund()
        requests = [order() for _ in range(11)]
        answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))).orders
        assert {(answer.status, answer.result_code, answer.sequence) for answer in answers} == {
            (pb.REJECTED, "ENGINE_BUSY", 0)
        }
        assert not (await engine.find(requests[0].order_id)).found
        # The same ids can be sent again.
        answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests[:10]))).orders
        assert {answer.result_code for answer in answers} == {"SUCCESS"}


@pytest.mark.spec("A9-03")
async def test_the_package_contains_the_named_services(engine: EngineClient) -> None:
    from openspot.contracts.gen.exchange.v1 import accounts_pb2, admin_pb2, market_data_pb2

    services = {
        service.full_name
        for module in (pb, accounts_pb2, market_data_pb2, admin_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
    }
    assert services == {
        f"exchange.v1.{name}" for name in ("OrderService", "AccountService", "MarketDataService", "AdminService")
    }
