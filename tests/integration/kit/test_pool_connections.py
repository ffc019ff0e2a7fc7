"""What becomes of a connection when it goes back to its pool."""

from collections.abc import AsyncIterator

import pytest

from openspot.kit.database import Pool, create_idle_pool, create_pool
from openspot.kit.settings import Settings


@pytest.fixture(params=["connected", "idle"])
async def pool(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Pool]:
    """A pool with one connection, made in either way."""
    made = await (create_pool(settings, 1) if request.param == "connected" else create_idle_pool(settings, 1))
    try:
        yield made
    finally:
        made.terminate()


async def test_a_use_of_a_pool_is_one_statement(pool: Pool, settings: Settings) -> None:
    backend = await pool.fetchval("SELECT pg_backend_pid()")
    await pool.fetchval("SELECT 'the only statement'")
    watcher = await create_pool(settings, 1)
    try:
        last = await watcher.fetchval("SELECT query FROM pg_stat_activity WHERE pid = $1", backend)
    finally:
        await watcher.close()
    assert last == "SELECT 'the only statement'"


async def test_a_transaction_that_was_left_open_is_rolled_back(pool: Pool) -> None:
    async with pool.acquire() as connection:
        await connection.execute("CREATE TEMPORARY TABLE kept (id int)")
    async with pool.acquire() as connection:
        await connection.transaction().start()
        await connection.execute("INSERT INTO kept VALUES (1)")
    assert await pool.fetchval("SELECT count(*) FROM kept") == 0
