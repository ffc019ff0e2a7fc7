"""Indexes are made while others write, and an interrupted migration goes on."""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof

BEFORE = "0020"
INDEXES = {
    "trades": "trades_of_buyer_by_side",
    "ledger_entries": "ledger_entries_deposits",
    "custody_deposits": "custody_deposits_of_user",
}
"""Of each table, the first index that the migration makes."""


@pytest.fixture
async def old_url(postgres_server: EmbeddedPostgres) -> AsyncIterator[str]:
    """A database as it was before the indexes."""
    name = f"old_{secrets.token_hex(4)}"
    postgres_server.ensure_database(name)
    url = postgres_server.url(name)
    await asyncio.to_thread(upgrade, url, revision=BEFORE)
    yield url
    administrator = await asyncpg.connect(postgres_server.administrator_url())
    await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await administrator.close()


@pytest.fixture
async def writer(old_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Who has written and has not committed yet."""
    connection = await asyncpg.connect(old_url)
    yield connection
    await connection.close()


@pytest.fixture
async def other(old_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Who looks, and writes at the same time."""
    connection = await asyncpg.connect(old_url)
    yield connection
    await connection.close()


async def migrate(url: str) -> int:
    """Migrate in a process of its own, as a start of the platform does. Returns its exit code."""
    code = "import sys; from openspot.migrations import upgrade; upgrade(sys.argv[1])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, url, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait()


async def making(connection: asyncpg.Connection, table: str) -> int:
    """Wait until the index of `table` is being made and waits for a writer. Returns the process id of who makes it."""
    query = """
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1
    """
    found = await eventually(lambda: connection.fetchval(query, f"CREATE INDEX%{INDEXES[table]} %"))
    return int(found)


async def is_valid(connection: asyncpg.Connection, index: str) -> bool | None:
    found: bool | None = await connection.fetchval(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", index
    )
    return found


@pytest.mark.parametrize("table", INDEXES)
async def test_a_table_is_written_to_while_two_processes_migrate(
    old_url: str, writer: asyncpg.Connection, other: asyncpg.Connection, table: str
) -> None:
    write = f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE"
    async with writer.transaction():
        await writer.execute(write)
        migrating = [asyncio.create_task(migrate(old_url)) for _ in range(2)]
        await making(other, table)
        await other.execute(f"SET lock_timeout = {int(stretched(2) * 1000)}")
        async with other.transaction():
            await other.execute(write)
    assert await asyncio.gather(*migrating) == [0, 0]
    assert [await is_valid(other, index) for index in INDEXES.values()] == [True] * len(INDEXES)


@pytest.mark.parametrize("table", INDEXES)
async def test_an_index_whose_making_was_interrupted_is_made_again(
    old_url: str, writer: asyncpg.Connection, other: asyncpg.Connection, table: str
) -> None:
    async with writer.transaction():
        await writer.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE")
        migrating = asyncio.create_task(migrate(old_url))
        await other.execute("SELECT pg_terminate_backend($1)", await making(other, table))
        assert await migrating != 0
        assert await is_valid(other, INDEXES[table]) is False
    assert await other.fetchval("SELECT version_num FROM alembic_version") == BEFORE
    assert await migrate(old_url) == 0
    assert [await is_valid(other, index) for index in INDEXES.values()] == [True] * len(INDEXES)
    assert await other.fetchval("SELECT version_num FROM alembic_version") > BEFORE
