"""The SQL of the tables of moves, which have the same columns beside those of their kind."""

from collections.abc import Collection
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Generic, Protocol

from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.moves.model import Move, WhatT
from openspot.rest_edge.operators.newest import newest_first

_SHARED = (
    "asset", "amount", "reason", "value_cents", "requested_by", "approved_by", "created_at", "status", "result_code",
    "decided_at",
)  # fmt: skip
_WRITTEN = _SHARED[:-2]
"""Without what the engine's decision writes."""


class MoveFilter(Protocol):
    """The filter of a list."""

    def conditions(self, values: list[Any]) -> list[str]:
        """The conditions of SQL. Their values are added to `values`, which are numbered from 1."""


class MoveTable(Generic[WhatT]):
    """The table of one kind of moves, whose ids are in the column `key`."""

    def __init__(self, what: type[WhatT], *, table: str, key: str) -> None:
        self.what = what
        self._table = table
        self._key = key
        self._own = tuple(field.name for field in fields(what))
        self._select = f"SELECT {', '.join((key, *self._own, *_SHARED))} FROM {table}"  # noqa: S608

    async def add(self, connection: Connection, move: Move[WhatT]) -> None:
        """Write a move whose transfer is begun in the same transaction."""
        columns = (self._key, *self._own, *_WRITTEN)
        values = (move.move_id, *asdict(move.what).values(), *(getattr(move, column) for column in _WRITTEN))
        places = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        await connection.execute(
            f"INSERT INTO {self._table} ({', '.join(columns)}) VALUES ({places})",  # noqa: S608
            *values,
        )

    async def decide(self, connection: Connection, move_id: str, status: str, code: str | None, now: datetime) -> None:
        """Write what became of a move."""
        await connection.execute(
            f"UPDATE {self._table} SET status = $2, result_code = $3, decided_at = $4 WHERE {self._key} = $1",  # noqa: S608
            move_id,
            status,
            code,
            now,
        )

    async def get(self, pool: Pool, move_id: str) -> Move[WhatT] | None:
        """The move with this id."""
        row = await pool.fetchrow(f"{self._select} WHERE {self._key} = $1", move_id)
        return None if row is None else self._move(row)

    async def page(
        self, pool: Pool, wanted: MoveFilter, limit: int, after: tuple[datetime, str] | None
    ) -> list[Move[WhatT]]:
        """Moves, newest first, behind the position `after`."""
        values: list[Any] = []
        conditions = wanted.conditions(values)
        place = "created_at", self._key
        rows = await newest_first(pool, self._select, conditions, values, place=place, limit=limit, after=after)
        return [self._move(row) for row in rows]

    async def sum_alone(self, connection: Connection, accounts: Collection[str], since: datetime) -> int:
        """US cents that a person, with all of these accounts, has moved without another since then.

        What was refused moved nothing.
        """
        return int(
            await connection.fetchval(
                f"SELECT coalesce(sum(value_cents), 0)::bigint FROM {self._table} WHERE approved_by IS NULL AND"  # noqa: S608
                " created_at > $2 AND status <> 'refused' AND"
                " lower(split_part(requested_by, ':', 2)) = ANY($1::text[])",
                [*accounts],
                since,
            )
        )

    def _move(self, row: Any) -> Move[WhatT]:
        shared = {column: row[column] for column in _SHARED}
        return Move(move_id=row[self._key], what=self.what.of_row(row), **shared)
