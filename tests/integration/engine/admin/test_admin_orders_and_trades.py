"""Lists of orders and trades, and forced cancels (facts A1.4-07, B4.4-49 to B4.4-51)."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from openspot.contracts.engine_events import EngineEvent
from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import OrderEvent
from openspot.router.translation.order_state_machine import OrderStateMachine
from tests.support.admin_client import AdminClient, CallFailedError, Transport
from tests.support.engine_client import EngineClient, engine_settings, order, running_engine


async def ids(admin: AdminClient, /, **fields: Any) -> list[int]:
    return [int(row["orderId"]) for row in (await admin.call("ListOrders", **fields))["orders"]]


async def trade(engine: EngineClient, price: str = "100", quantity: str = "1", **fields: Any) -> None:
    await engine.place("sell", price, quantity, "maker", **fields)
    await engine.place("buy", price, quantity, "taker", **fields)


@pytest.fixture
async def funded(admin: AdminClient) -> AdminClient:
    for participant in ("alice", "maker", "taker"):
        await admin.engine.fund(participant, USD="1000000", BTC="1000", ETH="1000")
    return admin


@pytest.mark.spec("B4.4-49", "A2.1-12")
async def test_orders_of_every_status_are_listed_in_upper_case(funded: AdminClient) -> None:
    engine = funded.engine
    before = time.time_ns() // 1_000_000
    resting = await engine.place("buy", "100", "1.5")
    partly = await engine.place("buy", "101", "2")
    filled = await engine.place("sell", "101", "0.5", "maker")
    cancelled = await engine.place("buy", "90", "3")
    await engine.cancel(cancelled.order_id)
    rejected = await engine.place("buy", "100", "1", "nobody")
    answer = await funded.call("ListOrders")
    assert answer["total"] == 5
    rows = {int(row["orderId"]): row for row in answer["orders"]}
    assert list(rows) == sorted(rows, reverse=True)
    for row in rows.values():
        assert before <= int(row["createdAt"]) <= time.time_ns() // 1_000_000
    statuses = {
        resting.order_id: "OPEN",
        partly.order_id: "PARTIALLY_FILLED",
        filled.order_id: "FILLED",
        cancelled.order_id: "CANCELLED",
        rejected.order_id: "REJECTED",
    }
    assert {number: row["status"] for number, row in rows.items()} == statuses
    shown = rows[partly.order_id]
    del shown["createdAt"]
    assert shown == {
        "orderId": str(partly.order_id),
        "externalId": f"external-{partly.order_id}",
        "participantId": "alice",
        "symbol": "BTC-USD",
        "side": "BUY",
        "type": "GTC",
        "price": "101",
        "quantity": "2",
        "filledQuantity": "0.5",
        "remainingQuantity": "1.5",
        "status": "PARTIALLY_FILLED",
    }
    assert (rows[cancelled.order_id]["filledQuantity"], rows[cancelled.order_id]["remainingQuantity"]) == ("0", "3")
    assert (rows[filled.order_id]["filledQuantity"], rows[filled.order_id]["remainingQuantity"]) == ("0.5", "0")
    for number, status in statuses.items():
        assert await ids(funded, status=status) == [number]
        assert await ids(funded, status=status.lower()) == [number]


@pytest.mark.spec("B4.4-49")
async def test_orders_are_filtered_by_participant_and_symbol_and_paged(funded: AdminClient) -> None:
    engine = funded.engine
    alices = [(await engine.place("buy", "100", "1")).order_id for _ in range(5)]
    makers = [(await engine.place("sell", "200", "1", "maker")).order_id for _ in range(3)]
    ether = [(await engine.place("buy", "10", "1", symbol="ETH-USD")).order_id]
    await engine.place("buy", "100", "1", "unknown-to-the-engine")
    assert await ids(funded, participantId="alice") == sorted(alices + ether, reverse=True)
    assert await ids(funded, participantId="alice", symbol="BTC-USD") == sorted(alices, reverse=True)
    assert await ids(funded, symbol="ETH-USD") == ether
    assert await ids(funded, participantId="maker", status="OPEN") == sorted(makers, reverse=True)
    for nobody in ("nobody", "unknown-to-the-engine"):
        assert await funded.call("ListOrders", participantId=nobody) == {"orders": [], "total": 0}
    page = await funded.call("ListOrders", participantId="alice", symbol="BTC-USD", limit=2, offset=1)
    assert [int(row["orderId"]) for row in page["orders"]] == sorted(alices, reverse=True)[1:3]
    assert page["total"] == 5
    beyond = await funded.call("ListOrders", offset=1000)
    assert (beyond["orders"], beyond["total"]) == ([], 10)


async def test_a_page_has_a_hundred_orders_by_default_and_a_thousand_at_most(funded: AdminClient) -> None:
    orders = [order("buy", "100", "0.001") for _ in range(1100)]
    await funded.engine.orders.PlaceOrders(orders_pb2.PlaceOrdersRequest(orders=orders))
    newest = sorted((asked.order_id for asked in orders), reverse=True)
    assert await ids(funded) == newest[:100]
    assert await ids(funded, limit=1000) == newest[:1000]
    assert await ids(funded, limit=1000, offset=1000) == newest[1000:]
    assert await ids(funded, limit=7, offset=1095, status="OPEN") == newest[1095:]


async def test_a_reduction_does_not_count_as_filled(funded: AdminClient) -> None:
    engine = funded.engine
    placed = await engine.place("buy", "100", "3")
    await engine.orders.ReduceOrder(
        orders_pb2.ReduceOrderRequest(order_id=placed.order_id, participant_id="alice", quantity=10**8)
    )
    (row,) = (await funded.call("ListOrders", participantId="alice"))["orders"]
    figures = (row["status"], row["quantity"], row["filledQuantity"], row["remainingQuantity"])
    assert figures == ("OPEN", "2", "0", "2")
    assert (await engine.find(placed.order_id)).status == "OPEN"
    await engine.cancel(placed.order_id)
    (row,) = (await funded.call("ListOrders", participantId="alice"))["orders"]
    assert (row["status"], row["filledQuantity"], row["remainingQuantity"]) == ("CANCELLED", "0", "2")


_BAD_LISTS = (
    ("ListOrders", {"status": "GONE"}, "status must be one of OPEN, PARTIALLY_FILLED, FILLED, CANCELLED, REJECTED"),
    ("ListOrders", {"status": "PENDING"}, "status must be one of"),
    ("ListOrders", {"symbol": "NO-SUCH"}, "symbol: there is no 'NO-SUCH'"),
    ("ListOrders", {"symbol": "btc-usd"}, "symbol: there is no 'btc-usd'"),
    ("ListOrders", {"participantId": "a.b"}, "participantId must be"),
    ("ListOrders", {"limit": 1001}, "limit must be at most 1000"),
    ("ListOrders", {"offset": 2**32 - 1}, "offset must be at most 2147483647"),
    ("ListTrades", {"symbol": "NO-SUCH"}, "symbol: there is no 'NO-SUCH'"),
    ("ListTrades", {"participantId": "a.b"}, "participantId must be"),
    ("ListTrades", {"limit": 1001}, "limit must be at most 1000"),
    ("ListTrades", {"offset": 2**31}, "offset must be at most 2147483647"),
    ("ListBalances", {"participantId": "a b"}, "participantId must be"),
    ("ListRiskMetrics", {"participantId": "a b"}, "participantId must be"),
)


async def test_a_list_refuses_a_bad_filter_with_the_name_of_its_field(admin: AdminClient) -> None:
    for method, fields, message in _BAD_LISTS:
        with pytest.raises(CallFailedError) as caught:
            await admin.call(method, **fields)
        assert caught.value.status == "invalid_argument", (method, fields)
        assert caught.value.message.startswith(message), (method, fields)


@pytest.mark.spec("A1.4-09")
async def test_the_router_makes_orders_cancelled_of_the_events_that_the_engine_emits(funded: AdminClient) -> None:
    engine = funded.engine
    first = await engine.last_sequence() + 1
    placed = await engine.place("buy", "100", "2")
    await funded.call("CancelOrderAdmin", orderId=str(placed.order_id), participantId="alice", symbol="BTC-USD")
    state = OrderStateMachine("epoch", [])
    events = await engine.events(first, await engine.last_sequence())
    publications = [
        publication
        for event in msgspec.convert(events, list[EngineEvent])
        for publication in state.apply(event).publications
    ]
    assert [publication.targets[0].subject for publication in publications] == ["orders.created", "orders.cancelled"]
    assert [target.subject for target in publications[1].targets] == ["orders.cancelled", "orders.cancelled.alice"]
    cancelled = publications[1].message
    assert isinstance(cancelled, OrderEvent)
    assert (cancelled.event, cancelled.reason) == ("cancelled", "CANCELLED_BY_ADMIN")
    record = cancelled.order
    assert (record.order_id, record.user_id, record.status) == (f"external-{placed.order_id}", "alice", "cancelled")
    assert (record.quantity, record.filled_quantity, record.remaining_quantity) == ("2", "0", "0")


@pytest.mark.spec("A1.4-07", "A1.4-08", "B4.4-50")
async def test_a_forced_cancel_emits_a_reduce_event_that_completes_the_order(funded: AdminClient) -> None:
    engine = funded.engine
    placed = await engine.place("buy", "100", "2")
    await engine.place("sell", "100", "0.5", "maker")
    answer = await funded.call(
        "CancelOrderAdmin", orderId=str(placed.order_id), participantId="alice", symbol="BTC-USD"
    )
    assert answer == {
        "orderId": str(placed.order_id),
        "status": "CANCELLED",
        "resultCode": "SUCCESS",
        "success": True,
        "error": "",
    }
    newest = await engine.last_sequence()
    (event,) = await engine.events(newest, newest)
    assert (event["type"], event["orderId"], event["externalId"]) == (
        "reduce",
        str(placed.order_id),
        f"external-{placed.order_id}",
    )
    assert (event["isOrderCompleted"], event["reason"], event["quantity"]) == (True, "CANCELLED_BY_ADMIN", "1.5")
    assert (await engine.find(placed.order_id)).status == "CANCELLED"
    assert (await engine.balances())["USD"].locked == "0"


@pytest.mark.spec("B4.4-50")
async def test_a_forced_cancel_needs_only_one_of_the_two_order_ids(funded: AdminClient) -> None:
    first, second = [await funded.engine.place("buy", "100", "1") for _ in range(2)]
    by_number = await funded.call("CancelOrderAdmin", orderId=str(first.order_id))
    by_name = await funded.call("CancelOrderAdmin", orderId=f"external-{second.order_id}")
    assert (by_number["success"], by_name["success"]) == (True, True)
    assert by_name["orderId"] == str(second.order_id)


@pytest.mark.spec("B4.4-50", "A7-18")
async def test_a_forced_cancel_is_refused_if_participant_or_symbol_differ(funded: AdminClient) -> None:
    engine = funded.engine
    placed = await engine.place("buy", "100", "1")
    ended = await engine.place("buy", "90", "1")
    await engine.cancel(ended.order_id)
    number = str(placed.order_id)
    unknown = "MATCHING_UNKNOWN_ORDER_ID"
    for fields, code, error in (
        ({"orderId": "999999999999"}, unknown, "orderId: there is no such open order"),
        ({"orderId": str(2**64)}, unknown, "orderId"),
        ({"orderId": "9" * 500}, unknown, "orderId"),
        ({"orderId": "-1"}, unknown, "orderId"),
        ({"orderId": "no-such"}, unknown, "orderId"),
        ({"orderId": ""}, unknown, "orderId"),
        ({"orderId": "0"}, unknown, "orderId"),
        ({"orderId": str(ended.order_id)}, unknown, "orderId"),
        ({"orderId": number, "symbol": "ETH-USD"}, unknown, "symbol: the order is on another symbol"),
        ({"orderId": number, "symbol": "NO-SUCH"}, unknown, "symbol"),
        ({"orderId": number, "participantId": "maker"}, "AUTH_INVALID_USER", "participantId: the order is another"),
        ({"orderId": number, "participantId": "nobody"}, "AUTH_INVALID_USER", "participantId"),
    ):
        answer = await funded.call("CancelOrderAdmin", **fields)
        assert (answer["success"], answer["status"], answer["resultCode"]) == (False, "REJECTED", code), fields
        assert answer["error"].startswith(error), fields
    assert (await engine.find(placed.order_id)).status == "OPEN"


@pytest.mark.spec("B4.4-51")
async def test_trades_are_listed_newest_first_with_both_sides(funded: AdminClient) -> None:
    engine = funded.engine
    maker = await engine.place("sell", "100", "2", "maker")
    taker = await engine.place("buy", "100", "1.5", "taker")
    newest = await engine.last_sequence()
    (event,) = await engine.events(newest, newest)
    answer = await funded.call("ListTrades")
    assert answer == {
        "trades": [
            {
                "tradeId": event["tradeId"],
                "symbol": "BTC-USD",
                "price": "100",
                "quantity": "1.5",
                "takerOrderId": str(taker.order_id),
                "makerOrderId": str(maker.order_id),
                "takerParticipantId": "taker",
                "makerParticipantId": "maker",
                "takerSide": "BUY",
                "takerFee": event["takerFeeAmount"],
                "makerFee": event["makerFeeAmount"],
                "feeCurrency": "USD",
                "timestamp": str(event["timestamp"]),
            }
        ],
        "total": 1,
    }
    await trade(engine, "99")
    prices = [row["price"] for row in (await funded.call("ListTrades"))["trades"]]
    assert prices == ["99", "100"]


@pytest.mark.spec("B4.4-51")
async def test_trades_are_filtered_by_symbol_and_participant_and_paged(funded: AdminClient) -> None:
    engine = funded.engine
    for price in range(100, 110):
        await trade(engine, str(price))
    await trade(engine, "10", symbol="ETH-USD")
    await engine.place("sell", "110", "1", "alice")
    await engine.place("buy", "110", "1", "taker")

    async def prices(**fields: Any) -> tuple[list[str], int]:
        answer = await funded.call("ListTrades", **fields)
        return [row["price"] for row in answer["trades"]], answer["total"]

    assert await prices(symbol="ETH-USD") == (["10"], 1)
    assert await prices(participantId="alice") == (["110"], 1)
    assert (await prices(participantId="maker"))[1] == 11
    assert (await prices(participantId="taker"))[1] == 12
    assert await prices(participantId="maker", symbol="BTC-USD", limit=3, offset=1) == (["108", "107", "106"], 10)
    assert await prices(limit=2, offset=2) == (["109", "108"], 12)
    assert await prices(offset=50) == ([], 12)
    assert await prices(participantId="nobody") == ([], 0)
    # The next list contains the new trade.
    await trade(engine, "111")
    assert await prices(limit=1) == (["111"], 13)


@pytest.mark.spec("B4.4-51")
async def test_trades_are_found_on_disk_and_after_a_restart(tmp_path: Path, transport: Transport) -> None:
    # Only the newest sixteen events are in memory.
    settings = engine_settings(tmp_path, admin_password="first-password", engine_stream_buffer=16)
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, transport).login()
        for participant in ("maker", "taker"):
            await engine.fund(participant)
        for price in range(100, 140):
            await trade(engine, str(price))
        before = await admin.call("ListTrades", limit=1000)
        assert [row["price"] for row in before["trades"]] == [str(price) for price in range(139, 99, -1)]
        assert len({row["tradeId"] for row in before["trades"]}) == 40
        assert await admin.call("ListTrades", limit=1000) == before
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, transport).login()
        assert await admin.call("ListTrades", limit=1000) == before
        assert (await admin.call("ListTrades", limit=1, offset=39))["trades"] == before["trades"][39:]


async def test_orders_are_listed_the_same_after_a_restart(tmp_path: Path, transport: Transport) -> None:
    settings = engine_settings(tmp_path, admin_password="first-password")
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, transport).login()
        for participant in ("maker", "taker"):
            await engine.fund(participant)
        await trade(engine)
        await engine.place("sell", "100", "1", "maker")
        cancelled = await engine.place("sell", "100", "1", "maker")
        await engine.cancel(cancelled.order_id, "maker")
        before = await admin.call("ListOrders")
        assert before["total"] == 4
    # Once from the snapshot, once from the journal only.
    for restart in ("snapshot", "journal"):
        if restart == "journal":
            for path in (settings.data_dir / "engine/snapshots").glob("*"):
                path.unlink()
        async with running_engine(settings) as engine:
            admin = await AdminClient(engine, transport).login()
            assert await admin.call("ListOrders") == before
