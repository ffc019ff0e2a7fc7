"""What a use of a pool leaves behind in its connection."""

import asyncio
import inspect
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.kit.database import Connection, Pool, PooledConnection, create_pool
from openspot.kit.settings import Settings
from tests.support.waiting import eventually, stretched

READ = "SELECT * FROM orders WHERE order_id = $1"
LOCK = "LOCK TABLE orders IN ACCESS EXCLUSIVE MODE"


@pytest.fixture
async def own_pool(settings: Settings) -> AsyncIterator[Pool]:
    """A pool of one connection."""
    async with await create_pool(settings, 1) as pool:
        yield pool


@pytest.fixture
async def other(settings: Settings) -> AsyncIterator[Connection]:
    """A connection of somebody else, who does not wait for ever."""
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(f"SET lock_timeout = '{stretched(5)}s'")
    yield connection
    await connection.close()


async def lock(other: Connection) -> None:
    """Fails if a connection of the pool still has a lock of the orders."""
    await other.execute(f"BEGIN; {LOCK}; ROLLBACK")


async def test_a_statement_that_was_parsed_and_never_run_keeps_no_lock_in_the_pool(
    own_pool: Pool, other: Connection
) -> None:
    async with own_pool.acquire() as connection:
        await connection.prepare(READ)
    await lock(other)


async def test_a_statement_for_each_of_no_rows_keeps_no_lock_in_the_pool(own_pool: Pool, other: Connection) -> None:
    await own_pool.executemany("DELETE FROM orders WHERE order_id = $1", [])
    await lock(other)
    async with own_pool.acquire() as connection:
        await connection.fetchmany("DELETE FROM orders WHERE order_id = $1 RETURNING order_id", [])
    await lock(other)


async def test_a_copy_of_no_rows_keeps_no_lock_in_the_pool(own_pool: Pool, other: Connection) -> None:
    await own_pool.copy_records_to_table("orders", records=[])
    await lock(other)


def test_every_statement_that_a_connection_may_send_is_noted() -> None:
    sends = {
        name
        for name, method in vars(asyncpg.Connection).items()
        if inspect.iscoroutinefunction(method) and not name.startswith("_")
    }
    # The reset, and what other connections than those of a pool use.
    others = {
        "add_listener", "close", "reload_schema_state", "remove_listener", "reset", "reset_type_codec",
        "set_builtin_type_codec",
    }  # fmt: skip
    assert sends - others == sends & set(vars(PooledConnection))


async def test_a_value_of_a_wrong_form_keeps_no_lock_in_the_pool(own_pool: Pool, other: Connection) -> None:
    with pytest.raises(asyncpg.DataError):
        await own_pool.fetch(READ, 5)
    await lock(other)


async def test_a_cancelled_statement_keeps_no_lock_in_the_pool(own_pool: Pool, other: Connection) -> None:
    asking = asyncio.create_task(
        own_pool.fetch("SELECT pg_sleep(600) FROM (SELECT count(*) FROM orders) AS all_orders")
    )

    async def is_under_way() -> bool:
        return await other.fetchval("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'")

    await eventually(is_under_way)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await lock(other)


async def test_an_open_transaction_ends_with_its_use(own_pool: Pool, other: Connection) -> None:
    async with own_pool.acquire() as connection:
        await connection.execute(f"BEGIN; {LOCK}")
    await lock(other)


async def test_what_ended_well_costs_no_second_round_trip(own_pool: Pool) -> None:
    asked: list[str] = []
    async with own_pool.acquire() as connection:
        connection.add_query_logger(lambda record: asked.append(record.query))
    for _ in range(3):
        await own_pool.fetch(READ, "none")
    assert asked == [READ] * 3
