"""Databases for tests: copies of a migrated template, which are emptied and used again.

A copy takes a tenth of a second and more. Emptying takes a few milliseconds, because few tables hold rows.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import psycopg

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
    """Copies of one template on one server. A copy whose tables a test has changed is dropped, not used again.

    The connection that empties a copy stays open, as the server's superuser: a new one would read the catalogue anew,
    which takes longer than emptying.
    """

    __test__ = False

    def __init__(self, server: EmbeddedPostgres, template: str) -> None:
        self._server = server
        self._template = template
        self._numbers = itertools.count(1)
        self._free: list[str] = []
        self._owners: dict[str, psycopg.Connection] = {}
        self._shape: str | None = None

    def __enter__(self) -> "TestDatabases":
        return self

    def __exit__(self, *_: object) -> None:
        for owner in self._owners.values():
            owner.close()

    @contextmanager
    def lend(self) -> Iterator[str]:
        """The address of a database whose tables are empty, for a test, or for a service that several tests use."""
        name = self._free.pop() if self._free else self._copy()
        try:
            yield self._server.url(name)
        finally:
            self._take_back(name)

    def _copy(self) -> str:
        name = f"{self._template}_test_{next(self._numbers)}"
        self._administer(f"CREATE DATABASE {name} TEMPLATE {self._template} OWNER openspot")
        return name

    def _take_back(self, name: str) -> None:
        owner = self._owners.pop(name, None) or psycopg.connect(self._server.administrator_url(name), autocommit=True)
        try:
            owner.execute(_END_OTHER_SESSIONS)
            shape = owner.execute(_SHAPE).fetchone()[0]
            self._shape = self._shape or shape
            if shape == self._shape:
                owner.execute(_EMPTY)
                self._free.append(name)
                self._owners[name] = owner
                return
        except BaseException:
            owner.close()
            raise
        owner.close()
        self._administer(f"DROP DATABASE {name} WITH (FORCE)")

    def _administer(self, command: str) -> None:
        with psycopg.connect(self._server.administrator_url(), autocommit=True) as administrator:
            administrator.execute(command)


async def empty_tables(connection: asyncpg.Connection) -> None:
    """Delete all rows of the connection's database, and let every sequence begin anew."""
    await connection.execute(_EMPTY)
