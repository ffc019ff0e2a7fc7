"""What a database holds, table by table, so that two moments can be compared: rows, and the sums of all amounts."""

from decimal import Decimal
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

_TABLES = """
    SELECT table_name, coalesce(array_agg(column_name::text ORDER BY column_name)
        FILTER (WHERE data_type = 'numeric'), '{}')
    FROM information_schema.columns JOIN pg_class ON pg_class.oid = format('public.%I', table_name)::regclass
    WHERE table_schema = 'public' AND table_name <> 'alembic_version' AND relkind IN ('r', 'p') AND NOT relispartition
    GROUP BY table_name ORDER BY table_name
"""


class TableContent(NamedTuple):
    """The rows of a table, and the sum of each of its numeric columns."""

    rows: int
    sums: dict[str, Decimal]


def contents_of(url: str) -> dict[str, TableContent]:
    """The content of every table of the database at `url`. Raises psycopg.Error."""
    found = {}
    with psycopg.connect(url) as connection:
        for table, columns in connection.execute(_TABLES).fetchall():
            found[table] = _content(connection, table, columns)
    return found


def _content(connection: "psycopg.Connection[Any]", table: str, columns: list[str]) -> TableContent:
    sums = [sql.SQL("coalesce(sum({}), 0)").format(sql.Identifier(column)) for column in columns]
    query = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(", ").join([sql.SQL("count(*)"), *sums]), sql.Identifier("public", table)
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return TableContent(int(row[0]), dict(zip(columns, row[1:], strict=True)))


def lost(before: dict[str, TableContent], after: dict[str, TableContent]) -> list[str]:
    """What has become less, or has another sum. New rows, tables and columns are no loss."""
    problems = []
    for table, old in before.items():
        new = after.get(table)
        if new is None:
            if old.rows:
                problems.append(f"the table {table} with {old.rows:,} rows is gone after the migrations")
            continue
        if new.rows < old.rows:
            problems.append(f"the table {table} has {new.rows:,} rows after the migrations, {old.rows:,} before")
        problems += [
            f"the sum of {table}.{column} is {new.sums[column]} after the migrations, {value} before"
            for column, value in old.sums.items()
            if column in new.sums and new.sums[column] != value
        ]
    return problems
