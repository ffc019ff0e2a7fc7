"""Rows are written after the events are published, and no reply waits for a row (facts A1.3-31, A3.1-15)."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.contracts.messages import OrderEvent
from tests.support.router_client import Published, RouterClient
from tests.support.waiting import eventually


@pytest.fixture
async def blocked_rows(pool: asyncpg.Pool, router: RouterClient) -> AsyncIterator[asyncpg.transaction.Transaction]:
    """A transaction during which nobody else can write an order row or a trade row."""
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("LOCK TABLE orders, trades IN EXCLUSIVE MODE")
        yield transaction
        if not connection.is_closed() and connection.is_in_transaction():
            await transaction.rollback()


async def statuses(pool: asyncpg.Pool) -> dict[str, str]:
    return dict(await pool.fetch("SELECT order_id, status FROM orders"))


@pytest.mark.spec("A1.3-31", "A3.1-15")
async def test_fills_and_cancels_are_answered_and_published_while_no_row_can_be_written(
    router: RouterClient,
    published: Published,
    pool: asyncpg.Pool,
    blocked_rows: asyncpg.transaction.Transaction,
) -> None:
    resting = await router.place("alice")
    filled = await router.submit("bob", side="sell", order_id="taker")
    assert filled.order is not None
    assert filled.order.status == "filled"
    cancelled = await router.place("alice", price="90")
    assert (await router.cancel(cancelled)).success

    async def event(subject: str) -> OrderEvent:
        found: list[OrderEvent] = await eventually(lambda: published.orders(subject))
        return found[0]

    assert (await event("orders.filled.bob")).order.order_id == "taker"
    assert (await event("orders.filled.alice")).order.order_id == resting
    assert (await event("orders.cancelled.alice")).order.order_id == cancelled
    await eventually(published.trades)
    # The lock allows reading: none of this is in a row yet.
    assert await statuses(pool) == {}
    assert await pool.fetchval("SELECT count(*) FROM trades") == 0

    await blocked_rows.rollback()
    wanted = {resting: "filled", "taker": "filled", cancelled: "cancelled"}

    async def written() -> bool:
        return await statuses(pool) == wanted

    await eventually(written)
    assert await pool.fetchval("SELECT count(*) FROM trades") == 1
