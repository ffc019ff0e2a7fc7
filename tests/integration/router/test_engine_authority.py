"""Where order rows or the router's own figures differ from the engine, the engine decides (facts A1.2-01, A1.2-02)."""

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, running_router
from tests.support.waiting import eventually


async def falsify(pool: asyncpg.Pool, order_id: str, before: str, after: str) -> None:
    """Wait until the row has status `before`, then claim that it is `after`."""
    query = "UPDATE orders SET status = $3, price = 7 WHERE order_id = $1 AND status = $2 RETURNING order_id"
    await eventually(lambda: pool.fetchval(query, order_id, before, after))


@pytest.mark.spec("A1.2-02")
async def test_the_book_decides_whatever_the_order_table_says(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> None:
    client = RouterClient(bus)
    async with running_router(settings):
        resting = await client.place("alice", price="100")
        cancelled = await client.place("alice", price="101")
        assert (await client.cancel(cancelled)).success
        await falsify(pool, resting, "open", "cancelled")
        await falsify(pool, cancelled, "cancelled", "open")
    # A new router knows of these orders only what the rows and the engine say.
    async with running_router(settings):
        reply = await client.submit("bob", side="sell", price="100", quantity="0.5")
        assert reply.order is not None
        assert (reply.order.status, reply.order.average_price) == ("filled", "100")
        assert not (await client.cancel(cancelled)).success
        ended, open_order = await engine.find(external_id=cancelled), await engine.find(external_id=resting)
        assert (ended.status, open_order.status) == ("CANCELLED", "PARTIALLY_FILLED")


@pytest.mark.spec("A1.2-03")
async def test_a_trade_settles_with_the_price_quantity_and_fees_of_the_engines_event(
    router: RouterClient, pool: asyncpg.Pool, engine: EngineClient, published: Published
) -> None:
    fees = {"takerFee": 50, "makerFee": 5}
    status, _ = await engine.request("PUT", "/api/v1/admin/symbols/BTC-USD", fees)
    assert status == 200
    # The router still has the fees that it read at its start: 25 and 15.
    maker = await router.place("alice", side="sell", price="100", quantity="0.4")
    await falsify(pool, maker, "open", "open")
    reply = await router.submit("bob", price="105", quantity="1")
    assert reply.success
    (trade,) = await eventually(published.trades)
    assert (trade.price, trade.quantity) == ("100", "0.4")
    assert (trade.fees.buyer.amount, trade.fees.seller.amount) == ("0.2", "0.02")
    row = await eventually(lambda: pool.fetchrow("SELECT price, quantity, taker_fee, maker_fee FROM trades"))
    assert [str(value.normalize()) for value in row.values()] == ["1E+2", "0.4", "0.2", "0.02"]
