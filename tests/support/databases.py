"""Databases for tests: copies of a migrated template, which are emptied and used again.

A copy takes a tenth of a second and more. Emptying takes a few milliseconds, because few tables hold rows.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg

from openspot.up.embedded_postgres import EmbeddedPostgres

_EMPTY = """
DO $$
DECLARE
    filled text;
    sequence record;
BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO filled
    FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version' AND (
        pg_relation_size(oid) > 0
        -- The numbers of a table begin again only with the table locked: a service of the test before may still write.
        OR EXISTS (
            SELECT FROM pg_depend JOIN pg_sequence ON seqrelid = objid
            WHERE refobjid = pg_class.oid AND deptype = 'i' AND pg_sequence_last_value(seqrelid) IS NOT NULL
        )
    );
    IF filled IS NOT NULL THEN
        -- A trigger keeps the trail of operators from this.
        IF filled LIKE '%operator_actions%' THEN
            ALTER TABLE operator_actions DISABLE TRIGGER operator_actions_stay;
        END IF;
        EXECUTE 'TRUNCATE ' || filled || ' RESTART IDENTITY CASCADE';
        IF filled LIKE '%operator_actions%' THEN
            ALTER TABLE operator_actions ENABLE TRIGGER operator_actions_stay;
        END IF;
    END IF;
    FOR sequence IN
        SELECT seqrelid::regclass AS name FROM pg_sequence
        WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = seqrelid AND deptype = 'i')
    LOOP
        EXECUTE format('ALTER SEQUENCE %s RESTART', sequence.name);
    END LOOP;
END $$
"""
_SHAPE = """
SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (
    SELECT concat_ws(',', relnamespace, relname, relkind) AS line
    FROM pg_class WHERE relnamespace::regnamespace::text NOT IN ('pg_catalog', 'pg_toast', 'information_schema')
    UNION ALL SELECT concat_ws(',', attrelid::regclass, attname, atttypid, attnotnull) FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid AND relnamespace = 'public'::regnamespace WHERE attnum > 0
    UNION ALL SELECT concat_ws(',', conrelid::regclass, conname) FROM pg_constraint
    UNION ALL SELECT concat_ws(',', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(',', pronamespace, proname) FROM pg_proc WHERE oid > 16384
) AS lines
"""
"""A digest of tables, columns, constraints, triggers and functions."""
_END_OTHER_SESSIONS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class TestDatabases:
    """Copies of one template on one server. A copy whose tables a test has changed is dropped, not used again."""

    __test__ = False

    def __init__(self, server: EmbeddedPostgres, template: str) -> None:
        self._server = server
        self._template = template
        self._numbers = itertools.count(1)
        self._free: list[str] = []
        self._shape: str | None = None

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[str]:
        """The address of a database whose tables are empty, for the time of one test."""
        name = self._free.pop() if self._free else await self._copy()
        try:
            yield self._server.url(name)
        finally:
            await self._take_back(name)

    @contextmanager
    def lend_to_service(self) -> Iterator[str]:
        """The address of a database whose tables are empty, for a service that several tests use one after another."""
        name = asyncio.run(self._copy())
        try:
            yield self._server.url(name)
        finally:
            asyncio.run(self._take_back(name))

    async def _copy(self) -> str:
        name = f"{self._template}_test_{next(self._numbers)}"
        administrator = await asyncpg.connect(self._server.administrator_url())
        try:
            await administrator.execute(f"CREATE DATABASE {name} TEMPLATE {self._template} OWNER openspot")
        finally:
            await administrator.close()
        return name

    async def _take_back(self, name: str) -> None:
        # One connection, because each costs a process of the server.
        owner = await asyncpg.connect(self._server.administrator_url(name))
        try:
            await owner.fetch(_END_OTHER_SESSIONS)
            shape = await owner.fetchval(_SHAPE)
            self._shape = self._shape or shape
            if shape == self._shape:
                await empty_tables(owner)
                self._free.append(name)
                return
        finally:
            await owner.close()
        administrator = await asyncpg.connect(self._server.administrator_url())
        try:
            await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
        finally:
            await administrator.close()


async def empty_tables(connection: asyncpg.Connection) -> None:
    """Delete all rows of the connection's database, and let every sequence begin anew."""
    await connection.execute(_EMPTY)
