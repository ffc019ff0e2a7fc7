"""A connection goes back to its pool without a statement of its own."""

import asyncpg
import pytest

from openspot.kit.database import Pool, create_idle_pool, create_pool
from openspot.kit.settings import Settings


async def _pool(settings: Settings, kind: str) -> Pool:
    return await (create_pool(settings, 1) if kind == "at once" else create_idle_pool(settings, 1))


@pytest.mark.parametrize("kind", ["at once", "at first use"])
async def test_a_connection_that_goes_back_to_its_pool_sends_nothing_more(
    settings: Settings, pool: asyncpg.Pool, kind: str
) -> None:
    own = await _pool(settings, kind)
    try:
        number = await own.fetchval("SELECT pg_backend_pid()")
        last = await pool.fetchval("SELECT query FROM pg_stat_activity WHERE pid = $1", number)
        assert last == "SELECT pg_backend_pid()"
    finally:
        await own.close()


@pytest.mark.parametrize("kind", ["at once", "at first use"])
async def test_a_transaction_that_is_left_open_ends_when_its_connection_goes_back(
    settings: Settings, pool: asyncpg.Pool, kind: str
) -> None:
    own = await _pool(settings, kind)
    try:
        async with own.acquire() as connection:
            await connection.execute("BEGIN")
            await connection.execute(
                "INSERT INTO ledger_outbox (user_id, asset, transaction_id) VALUES ('u', 'a', 't')"
            )
        assert not await own.fetchval("SELECT EXISTS (SELECT FROM ledger_outbox)")
    finally:
        await own.close()
