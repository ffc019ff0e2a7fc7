"""The drawings of users, in the database: those of a user on a market are a row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from openspot.kit.database import Pool
from openspot.rest_edge.drawings.schemas import Drawing

_LOCK_OF_USER = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-drawings:' || $1, 0))"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Drawing]).decode

ById = Mapping[str, Drawing]


@dataclass(frozen=True, slots=True)
class DrawnOn:
    """How many drawings a user has on a market."""

    symbol: str
    count: int
    updated_at: datetime


class DrawingStore:
    """Drawings by user and market."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def markets_of(self, user_id: str) -> list[DrawnOn]:
        """The markets that the user has drawn on, by symbol."""
        query = 'SELECT symbol, count, updated_at FROM chart_drawings WHERE user_id = $1 ORDER BY symbol COLLATE "C"'
        return [DrawnOn(*row) for row in await self._pool.fetch(query, user_id)]

    async def on_market(self, user_id: str, symbol: str) -> list[Drawing]:
        """The user's drawings on a market, in the order in which they were first put."""
        query = "SELECT drawings FROM chart_drawings WHERE user_id = $1 AND symbol = $2"
        text = await self._pool.fetchval(query, user_id, symbol)
        return [] if text is None else _decode(text)

    async def change(
        self, user_id: str, symbol: str, change: Callable[[ById, int], ById], now: datetime
    ) -> list[Drawing]:
        """Make of the drawings on a market what `change` makes of them and of the number on the others.

        Raises what `change` raises, and changes nothing then. Changes of one user come one after another.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_OF_USER, user_id)
            row = await connection.fetchrow(
                "SELECT coalesce(sum(count) FILTER (WHERE symbol <> $2), 0)::bigint AS elsewhere,"
                " max(drawings::text) FILTER (WHERE symbol = $2) AS here FROM chart_drawings WHERE user_id = $1",
                user_id,
                symbol,
            )
            before = [] if row is None or row["here"] is None else _decode(row["here"])
            elsewhere = 0 if row is None else row["elsewhere"]
            after = list(change({drawing.id: drawing for drawing in before}, elsewhere).values())
            if after == before:
                return after
            if after:
                await connection.execute(
                    "INSERT INTO chart_drawings (user_id, symbol, drawings, count, updated_at)"
                    " VALUES ($1, $2, $3::jsonb, $4, $5)"
                    " ON CONFLICT (user_id, symbol) DO UPDATE SET drawings = $3::jsonb, count = $4, updated_at = $5",
                    user_id,
                    symbol,
                    _encode(after).decode(),
                    len(after),
                    now,
                )
            else:
                await connection.execute(
                    "DELETE FROM chart_drawings WHERE user_id = $1 AND symbol = $2", user_id, symbol
                )
        return after
