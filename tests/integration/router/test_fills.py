"""Fills through the real engine: answers, events, rows, reference prices and market orders."""

from decimal import Decimal

import asyncpg
import msgspec
import pytest

from openspot.contracts.messages import IncompleteOrder, OrderRecord, SideTrade
from openspot.domain.fees import GATEWAY_TIERS
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, running_router, stored
from tests.support.waiting import eventually


async def row_with(pool: asyncpg.Pool, order_id: str, status: str) -> asyncpg.Record:
    return await eventually(
        lambda: pool.fetchrow("SELECT * FROM orders WHERE order_id = $1 AND status = $2", order_id, status)
    )


async def settled_record(router: RouterClient, order_id: str, user_id: str, status: str) -> OrderRecord:
    async def record() -> OrderRecord | None:
        order = (await router.get(order_id, user_id)).order
        return order if order is not None and order.status == status else None

    found = await eventually(record)
    assert found is not None
    return found


@pytest.mark.spec("A1.3-34", "A2.7-01", "A3.1-05", "A3.1-06", "A3.1-07", "A6.1-07", "A6.1-08", "A6.1-10", "A6.1-11",
                  "A6.1-32")  # fmt: skip
async def test_a_trade_fills_taker_and_maker_and_is_published_and_stored(
    router: RouterClient, pool: asyncpg.Pool, published: Published, nats_url: str
) -> None:
    maker = await router.place("alice", quantity="2")
    reply = await router.submit("bob", side="sell", order_id="taker")
    assert reply.success
    assert reply.order is not None
    assert (reply.order.status, reply.order.filled_quantity, reply.order.average_price) == ("filled", "1", "100")
    assert (reply.order.fee, reply.order.fee_currency) == ("0.25", "USD")
    await eventually(lambda: published.orders("orders.updated.alice"))
    (trade,) = await eventually(published.trades)
    assert (trade.buyer_id, trade.seller_id, trade.price, trade.quantity) == ("alice", "bob", "100", "1")
    assert (trade.fees.buyer.amount, trade.fees.seller.amount, trade.fees.buyer.asset) == ("0.15", "0.25", "USD")
    assert (15, 25) not in [(tier.maker_bps, tier.taker_bps) for tier in GATEWAY_TIERS]
    await eventually(lambda: len(published.of("trades.executed.BTC-USD", SideTrade)) >= 2)
    sides = published.of("trades.executed.BTC-USD", SideTrade)
    assert [(side.liquidity, side.order_id, side.trade_id) for side in sides] == [
        ("taker", "taker", trade.id),
        ("maker", maker, trade.id),
    ]
    (filled,) = await eventually(lambda: published.orders("orders.filled.bob"))
    assert filled.order == reply.order
    (partial,) = published.orders("orders.updated.alice")
    assert (partial.order.status, partial.order.remaining_quantity) == ("partially_filled", "1")
    row = await eventually(lambda: pool.fetchrow("SELECT * FROM trades"))
    assert (row["trade_id"], row["taker_order_id"], row["maker_order_id"]) == (trade.id, "taker", maker)
    assert (row["taker_fee"], row["maker_fee"]) == (Decimal("0.25"), Decimal("0.15"))
    assert (await settled_record(router, "taker", "bob", "filled")) == reply.order
    await router.place("bob", side="sell")
    await row_with(pool, maker, "filled")
    await eventually(lambda: len(published.orders("orders.filled.alice")) == 1)
    trades = [subject for subject, *_ in await stored(nats_url, "TRADES")]
    assert trades.count("trades.executed") == 2

    async def has_both_sides_of_both() -> bool:
        return [subject for subject, *_ in await stored(nats_url, "TRADE_SIDES")] == ["trades.executed.BTC-USD"] * 4

    await eventually(has_both_sides_of_both)


@pytest.mark.spec("A1.3-20", "A1.3-21", "A7-04", "A7-05", "A1.2-08")
async def test_a_market_order_needs_a_trade_that_this_router_saw(
    router: RouterClient, settings: Settings, bus: Bus, published: Published
) -> None:
    refused = await router.submit(type="market", quantity="0.1")
    assert refused.error == "no recent trade price for BTC-USD: a market order needs one"
    await router.place("alice", quantity="3")
    await router.place("bob", side="sell")
    await eventually(published.trades)

    async def sold() -> bool:
        return (await router.submit("bob", type="market", side="sell", quantity="0.5")).success

    assert await eventually(sold)


@pytest.mark.spec("A1.3-21")
async def test_the_reference_price_is_gone_after_a_restart(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger, published: Published
) -> None:
    client = RouterClient(bus)

    async def both_are_written() -> bool:
        return bool(await pool.fetchval("SELECT count(*) = 2 FROM trades"))

    async with running_router(settings):
        await client.place("alice", quantity="3")
        await client.place("bob", side="sell")
        await eventually(published.trades)

        async def sold() -> bool:
            return (await client.submit("bob", type="market", side="sell", quantity="0.5")).success

        await eventually(sold)
        # What is written is published, and no other router publishes it again.
        await eventually(both_are_written)
    async with running_router(settings):
        reply = await client.submit("bob", type="market", side="sell", quantity="0.5")
        assert reply.error == "no recent trade price for BTC-USD: a market order needs one"


async def test_what_filled_in_part_before_it_was_cancelled_is_in_the_stream_once_and_a_whole_fill_is_not(
    router: RouterClient, nats_url: str
) -> None:
    maker = await router.place("alice", quantity="2")
    taker = await router.place("bob", side="sell", quantity="0.5")
    await settled_record(router, taker, "bob", "filled")
    assert (await router.cancel(maker)).success

    async def told() -> list[IncompleteOrder]:
        kept = await stored(nats_url, "ORDERS")
        return [
            msgspec.json.decode(payload, type=IncompleteOrder)
            for subject, payload, _ in kept
            if subject.startswith("orders.incomplete.")
        ]

    (incomplete,) = await eventually(told)
    assert (incomplete.order_id, incomplete.user_id, incomplete.side) == (maker, "alice", "buy")
    assert (incomplete.quantity, incomplete.filled_quantity, incomplete.filled_notional) == ("2", "0.5", "50")
    assert incomplete.reason == "CANCELLED_BY_USER"


@pytest.mark.spec("A6.1-05", "A1.2-08")
async def test_a_market_order_that_finds_nobody_is_cancelled(
    router: RouterClient, pool: asyncpg.Pool, published: Published
) -> None:
    await router.place("alice")
    await router.place("bob", side="sell")
    await eventually(published.trades)
    reply = await eventually(lambda: _accepted(router, type="market", order_id="lonely", quantity="1"))
    assert reply.order is not None
    assert (reply.order.status, reply.order.filled_quantity, reply.order.price) == ("cancelled", "0", None)
    await eventually(lambda: published.orders("orders.cancelled.alice"))
    (event,) = await eventually(lambda: published.orders("orders.cancelled"))
    assert (event.reason, event.order) == ("IOC_REMAINDER", reply.order)
    assert all(created.order.order_id != "lonely" for created in published.orders("orders.created"))
    row = await row_with(pool, "lonely", "cancelled")
    assert (row["type"], row["price"]) == ("market", None)


async def _accepted(router: RouterClient, **fields: str):  # type: ignore[no-untyped-def]
    """The reply once the router has seen the trade that a market order needs."""
    reply = await router.submit(**fields)
    return reply if reply.success else None


async def test_a_market_buy_spends_at_most_its_quote_quantity(router: RouterClient, published: Published) -> None:
    await router.place("alice", quantity="3")
    await router.place("bob", side="sell")
    await router.place("bob", side="sell", price="101", quantity="2")
    await eventually(published.trades)

    async def bought():  # type: ignore[no-untyped-def]
        reply = await router.submit(type="market", quantity=None, quote_quantity="51", max_slippage_bps="200")
        return reply.order if reply.success else None

    order = await eventually(bought)
    # 51 USD at the worst price of 102 buy 0.5 BTC, which then cost 101 each.
    assert (order.quantity, order.status, order.average_price) == ("0.5", "filled", "101")


@pytest.mark.spec("A1.3-13")
async def test_a_fat_finger_is_refused_once_there_is_a_trade(router: RouterClient, published: Published) -> None:
    await router.place("alice")
    await router.place("bob", side="sell")
    await eventually(published.trades)

    async def refused() -> str | None:
        return (await router.submit(price="121")).error

    reason = await eventually(refused)
    assert reason == "price 121 deviates from the last trade price 100 by more than 2000 bps on BTC-USD"


@pytest.mark.spec("A1.2-05", "A1.2-06")
async def test_rows_mirror_the_engine(router: RouterClient, engine: EngineClient, pool: asyncpg.Pool) -> None:
    placed = []
    for number in range(20):
        price, quantity = str(95 + number % 7), str(1 + number % 3)
        side, user = ("buy", "alice") if number % 2 else ("sell", "bob")
        placed.append(await router.place(user, side=side, price=price, quantity=quantity))
    last = await engine.last_sequence()
    await eventually(lambda: pool.fetchval("SELECT sequence >= $1 FROM engine_cursors WHERE consumer = 'router'", last))
    for order_id in placed:
        found = await engine.find(external_id=order_id)
        row = await pool.fetchrow("SELECT * FROM orders WHERE order_id = $1", order_id)
        assert row["status"] == found.status.lower()
        assert row["remaining_quantity"] == Decimal(found.remaining_quantity) / 10**8
    traded = await pool.fetchval("SELECT sum(quantity) FROM trades")
    filled = await pool.fetchval("SELECT sum(filled_quantity) FROM orders")
    assert filled == traded * 2
    assert await pool.fetchval("SELECT sum(filled_notional) FROM orders") == 2 * await pool.fetchval(
        "SELECT sum(price * quantity) FROM trades"
    )
    assert await pool.fetchval("SELECT sum(fee) FROM orders") == await pool.fetchval(
        "SELECT sum(taker_fee + maker_fee) FROM trades"
    )
