"""Cancels on the real bus, engine and database (facts A1.4-01 to A1.4-06)."""

import asyncio

import asyncpg
import pytest

from openspot.contracts.messages import CancelOpenOrdersReply, OrderEvent
from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.router.orders.lookup import OrderLookup
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, running_router
from tests.support.waiting import eventually


@pytest.mark.spec("A1.4-02", "A1.4-06", "B4.3-04", "A3.1-08", "A6.1-05", "A6.1-31")
async def test_a_just_placed_order_is_cancelled_at_once(
    router: RouterClient, engine: EngineClient, published: Published, pool: asyncpg.Pool
) -> None:
    order_id = await router.place()
    reply = await router.cancel(order_id)
    assert reply.success, reply
    assert reply.order is not None
    assert (reply.order.order_id, reply.order.status) == (order_id, "cancelled")
    assert not (await engine.balances("alice"))["USD"].locked.strip("0")
    (event,) = await eventually(lambda: published.orders("orders.cancelled.alice"))
    assert (event.order.order_id, event.order.status, event.reason) == (order_id, "cancelled", "CANCELLED_BY_USER")
    await eventually(lambda: published.orders("orders.cancelled"))
    query = "SELECT 1 FROM orders WHERE order_id = $1 AND status = 'cancelled'"
    await eventually(lambda: pool.fetchval(query, order_id))


@pytest.mark.spec("B4.1-11")
async def test_open_orders_are_cancelled_together_and_their_rows_are_written_before_the_reply(
    router: RouterClient, published: Published, pool: asyncpg.Pool
) -> None:
    buys = [await router.place(quantity="0.1") for _ in range(3)]
    sell = await router.place(side="sell", price="200", quantity="0.1")
    assert await router.cancel_open(side="sell") == CancelOpenOrdersReply(True, (sell,))
    assert await router.cancel_open(symbol="ETH-USD") == CancelOpenOrdersReply(True)
    assert await router.cancel_open() == CancelOpenOrdersReply(True, tuple(buys))
    query = "SELECT array_agg(status) FROM orders WHERE order_id = ANY($1)"
    assert await pool.fetchval(query, [*buys, sell]) == ["cancelled"] * 4
    events = await eventually(lambda: _four(published.orders("orders.cancelled.alice")))
    assert [event.order.order_id for event in events] == [sell, *buys]
    for order_id in buys:
        found = (await router.get(order_id)).order
        assert found is not None
        assert (found.status, found.remaining_quantity) == ("cancelled", "0")


def _four(events: list[OrderEvent]) -> list[OrderEvent] | None:
    return events if len(events) == 4 else None


async def test_a_bulk_cancel_of_a_stranger_finds_nothing_and_a_bad_field_is_named(router: RouterClient) -> None:
    assert await router.cancel_open("stranger") == CancelOpenOrdersReply(True)
    assert await router.cancel_open(symbol="NO-SUCH") == CancelOpenOrdersReply(True)
    for fields, message in (
        ({"user_id": "no one"}, "userId must be 1 to 64 letters, digits, '_', ':' or '-'"),
        ({"symbol": "?"}, "symbol must have the form <BASE>-<QUOTE>"),
        ({"side": "hold"}, "side must be buy, sell or empty"),
    ):
        reply = await router.cancel_open(**fields)
        assert (reply.success, reply.code, reply.error) == (False, RefusalCode.VALIDATION, message)


def forbid_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail if the router asks the engine for an order."""

    async def forbidden(lookup: OrderLookup, order_id: str) -> None:
        raise AssertionError(f"order {order_id} was looked up")

    monkeypatch.setattr(OrderLookup, "ask_engine", forbidden)


@pytest.mark.spec("A1.3-26", "A1.4-04")
async def test_the_router_that_placed_an_order_knows_its_engine_order_id(
    router: RouterClient, engine: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(lookup: OrderLookup, order_id: str) -> None:
        return None

    forbid_the_engine(monkeypatch)
    monkeypatch.setattr(OrderLookup, "row", nothing)
    order_id = await router.place()
    reply = await router.cancel(order_id)
    assert reply.success, reply
    assert (await engine.find(external_id=order_id)).status == "CANCELLED"


@pytest.mark.spec("A1.4-05")
async def test_after_a_restart_of_the_router_the_order_is_found_in_the_database(
    settings: Settings,
    bus: Bus,
    pool: asyncpg.Pool,
    engine: EngineClient,
    ledger: FakeLedger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forbid_the_engine(monkeypatch)
    router = RouterClient(bus)
    async with running_router(settings):
        order_id = await router.place()
        await eventually(lambda: pool.fetchval("SELECT 1 FROM orders WHERE order_id = $1", order_id))
    async with running_router(settings):
        reply = await router.cancel(order_id)
    assert reply.success, reply
    assert (await engine.find(external_id=order_id)).status == "CANCELLED"


@pytest.mark.spec("A1.4-01", "A7-07")
async def test_another_users_order_stays_open_and_is_not_found(router: RouterClient, engine: EngineClient) -> None:
    order_id = await router.place("alice")
    reply = await router.cancel(order_id, user_id="bob")
    assert (reply.success, reply.code) == (False, RefusalCode.NOT_FOUND)
    assert (await engine.find(external_id=order_id)).status == "OPEN"


@pytest.mark.spec("A7-07", "B4.3-05")
async def test_an_order_that_nobody_knows_is_not_found(router: RouterClient) -> None:
    reply = await router.cancel("nobodyknowsthis1")
    assert (reply.success, reply.code) == (False, RefusalCode.NOT_FOUND)
    assert reply.error


@pytest.mark.spec("B4.3-05")
async def test_an_order_that_has_ended_cannot_be_cancelled_again(router: RouterClient) -> None:
    order_id = await router.place()
    assert (await router.cancel(order_id)).success
    reply = await router.cancel(order_id)
    assert (reply.success, reply.code) == (False, RefusalCode.ALREADY_ENDED)
    assert reply.error is not None
    assert "cancelled" in reply.error


async def test_an_order_that_was_filled_and_whose_row_is_late_is_told_as_filled(
    router: RouterClient, pool: asyncpg.Pool
) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("LOCK TABLE orders IN EXCLUSIVE MODE")
        order_id = await router.place("alice")
        await router.place("bob", side="sell")
        reply = await router.cancel(order_id)
    assert (reply.success, reply.code) == (False, RefusalCode.ALREADY_ENDED)
    assert reply.error == "order is already filled"
    assert reply.order is not None
    assert (reply.order.status, reply.order.filled_quantity) == ("filled", "1")


@pytest.mark.spec("A3.1-10", "A1.4-15")
async def test_a_partly_filled_order_is_cancelled_with_what_it_filled(router: RouterClient) -> None:
    order_id = await router.place("alice", quantity="2")
    await router.place("bob", side="sell", quantity="0.5")
    reply = await router.cancel(order_id)
    assert reply.order is not None
    assert (reply.order.status, reply.order.filled_quantity) == ("cancelled", "0.5")


async def test_of_many_cancels_of_one_order_exactly_one_succeeds(router: RouterClient) -> None:
    order_id = await router.place()
    replies = await asyncio.gather(*(router.cancel(order_id) for _ in range(8)))
    assert sum(reply.success for reply in replies) == 1
    assert not any(reply.code is RefusalCode.NOT_FOUND for reply in replies)
