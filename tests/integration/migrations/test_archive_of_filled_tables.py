"""The tables of an earlier version come up with the same rows, and the archive names every column of its tables."""

import asyncio
import secrets
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.archive.kinds import KINDS
from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.histories import fill

TABLES = {"orders": "orders", "trades": "trades", "entries": "ledger_entries", "audit": "audit_records"}
ROWS = 2000
_STATE = "SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)), pg_relation_filenode('{0}') FROM {0} AS t"
_TYPES = {"timestamp with time zone": "timestamptz"}


@pytest.fixture
async def old_url(postgres_server: EmbeddedPostgres) -> AsyncIterator[str]:
    """A database of the version before the archive."""
    name = f"old_{secrets.token_hex(4)}"
    postgres_server.ensure_database(name)
    url = postgres_server.url(name)
    await asyncio.to_thread(upgrade, url, revision="0024")
    yield url
    administrator = await asyncpg.connect(postgres_server.administrator_url())
    await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await administrator.close()


async def test_filled_tables_come_up_equal_and_none_is_written_anew(old_url: str) -> None:
    async with asyncpg.create_pool(old_url, min_size=1, max_size=1) as pool:
        await fill(pool, ROWS, with_lists=False)
        before = {table: tuple(await pool.fetchrow(_STATE.format(table))) for table in TABLES.values()}
        assert before["trades"][0] == ROWS
        # The same file of the table: the time that a migration takes does not grow with the rows.
        await asyncio.to_thread(upgrade, old_url, revision="0025")
        assert {table: tuple(await pool.fetchrow(_STATE.format(table))) for table in TABLES.values()} == before
        # Later versions add columns.
        await asyncio.to_thread(upgrade, old_url)
        after = {table: tuple(await pool.fetchrow(_STATE.format(table))) for table in TABLES.values()}
        assert {table: (rows, file) for table, (rows, _, file) in after.items()} == {
            table: (rows, file) for table, (rows, _, file) in before.items()
        }


@pytest.mark.parametrize("kind", KINDS)
async def test_the_archive_has_every_column_with_its_type(pool: asyncpg.Pool, kind: str) -> None:
    columns = await pool.fetch(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1", TABLES[kind]
    )
    assert {name: _TYPES.get(type_, type_) for name, type_ in columns} == KINDS[kind].columns
