"""Searches the trail of operators, and hands it out as a file, page by page: a slow reader holds no connection."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from openspot.kit.clock import iso_from_ms, ms_from_datetime
from openspot.kit.database import Connection, Pool
from openspot.kit.parquet_rows import Column, ColumnType
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.table_files import Rows
from openspot.rest_edge.operators.trail import ENTRIES, Entry

EXPORT_PAGE = 1000
COLUMNS = (
    Column("entry", ColumnType.COUNT),
    Column("time", ColumnType.TIME),
    *(
        Column(name, ColumnType.TEXT)
        for name in (
            "operator", "action", "subjectKind", "subjectId", "reason", "before", "after", "requestId", "address",
            "previousHash", "hash", "originHash",
        )
    ),
)  # fmt: skip
"""What a file of the trail has, with what it takes to check the hashes."""


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which entries: a field that is None admits all. `since` is the first moment, `until` the first one too late."""

    operator: str | None = None
    action: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def texts(self) -> dict[str, str | None]:
        """What the trail notes of it."""
        names = {
            "operator": self.operator, "action": self.action, "subjectKind": self.subject_kind,
            "subjectId": self.subject_id,
        }  # fmt: skip
        return names | Span(self.since, self.until).texts()


class Trail:
    """Reads the trail for the routes.

    Times of entries never fall, so an index of them gives the first and the last entry of a period; operator, action
    and subject have indexes of their own.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(self, wanted: TrailFilter, limit: int, before: int | None) -> list[Entry]:
        """At most `limit` entries, newest first, older than the entry `before`."""
        async with self._pool.acquire() as connection:
            first, last = await _bounds(connection, wanted)
            return await _page(connection, wanted, first, last if before is None else min(last, before - 1), limit)

    def pages(self, wanted: TrailFilter) -> AsyncIterator[Rows]:
        """The entries as rows of COLUMNS, newest first, page by page."""
        return _pages(self._pool, wanted)


async def _pages(pool: Pool, wanted: TrailFilter) -> AsyncIterator[Rows]:
    async with pool.acquire() as connection:
        first, last = await _bounds(connection, wanted)
    while True:
        async with pool.acquire() as connection:
            found = await _page(connection, wanted, first, last, EXPORT_PAGE)
        if found:
            yield [_row(entry) for entry in found]
        if len(found) < EXPORT_PAGE:
            return
        last = found[-1].entry_number - 1


def _row(entry: Entry) -> dict[str, str | int | None]:
    return {
        "entry": entry.entry_number,
        "time": iso_from_ms(entry.at_ms),
        "operator": entry.operator,
        "action": entry.action,
        "subjectKind": entry.subject_kind,
        "subjectId": entry.subject_id,
        "reason": entry.reason,
        "before": entry.before,
        "after": entry.after,
        "requestId": entry.request_id,
        "address": entry.address,
        "previousHash": entry.previous_hash,
        "hash": entry.hash,
        "originHash": entry.origin_hash,
    }


async def _bounds(connection: Connection, wanted: TrailFilter) -> tuple[int, int]:
    """The numbers of the first and the last entry of the period."""
    first, last = 1, 0
    if wanted.since is not None:
        query = "SELECT entry_number FROM operator_actions WHERE at_ms >= $1 ORDER BY at_ms, entry_number LIMIT 1"
        first = await connection.fetchval(query, ms_from_datetime(wanted.since)) or 2**62
    if wanted.until is not None:
        query = (
            "SELECT entry_number FROM operator_actions WHERE at_ms < $1 ORDER BY at_ms DESC, entry_number DESC LIMIT 1"
        )
        last = await connection.fetchval(query, ms_from_datetime(wanted.until)) or 0
    else:
        last = await connection.fetchval("SELECT max(entry_number) FROM operator_actions") or 0
    return first, last


async def _page(connection: Connection, wanted: TrailFilter, first: int, last: int, limit: int) -> list[Entry]:
    conditions, values = ["entry_number BETWEEN $1 AND $2"], [first, last]
    for column in ("operator", "action", "subject_kind", "subject_id"):
        value = getattr(wanted, column)
        if value is not None:
            values.append(value)
            conditions.append(f"operator_actions.{column} = ${len(values)}")
    query = f"{ENTRIES} WHERE {' AND '.join(conditions)} ORDER BY entry_number DESC LIMIT {limit}"
    return [Entry(**dict(row)) for row in await connection.fetch(query, *values)]
