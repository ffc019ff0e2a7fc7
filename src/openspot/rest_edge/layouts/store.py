"""The layouts of users, in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from openspot.kit.database import Pool
from openspot.rest_edge.layouts.rules import WidthClass
from openspot.rest_edge.layouts.schemas import LayoutPanel

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[LayoutPanel]).decode


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """A stored layout."""

    width: str
    version: int
    panels: Sequence[LayoutPanel]
    updated_at: datetime


class LayoutChangedError(Exception):
    """The layout has another version, because it was changed elsewhere; `version` is 0 if there is none."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class LayoutStore:
    """Layouts by user and width class."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all_of(self, user_id: str) -> list[StoredLayout]:
        """The user's layouts, by width class."""
        rows = await self._pool.fetch(
            "SELECT width, version, panels, updated_at FROM screen_layouts WHERE user_id = $1"
            ' ORDER BY width COLLATE "C"',
            user_id,
        )
        return [StoredLayout(row["width"], row["version"], _decode(row["panels"]), row["updated_at"]) for row in rows]

    async def put(
        self, user_id: str, width: WidthClass, version: int, panels: Sequence[LayoutPanel], now: datetime
    ) -> StoredLayout:
        """Keep a layout in the place of the one with `version`; 0: in the place of none.

        What is kept already stays as it is, whatever its version: so a request may be repeated. Raises
        LayoutChangedError for another version.
        """
        query = "SELECT version, panels, updated_at FROM screen_layouts WHERE user_id = $1 AND width = $2"
        async with self._pool.acquire() as connection, connection.transaction():
            # The row is made first, so that two first layouts wait for each other as two changes do.
            made = await connection.fetchval(
                "INSERT INTO screen_layouts (user_id, width, version, panels, updated_at) VALUES ($1, $2, 0, '[]', $3)"
                " ON CONFLICT (user_id, width) DO NOTHING RETURNING true",
                user_id,
                width.value,
                now,
            )
            [row] = await connection.fetch(f"{query} FOR UPDATE", user_id, width.value)
            before = _decode(row["panels"])
            if not made and before == list(panels):
                return StoredLayout(width.value, row["version"], before, row["updated_at"])
            if row["version"] != version:
                raise LayoutChangedError(row["version"])
            await connection.execute(
                "UPDATE screen_layouts SET version = $3, panels = $4::jsonb, updated_at = $5"
                " WHERE user_id = $1 AND width = $2",
                user_id,
                width.value,
                version + 1,
                _encode(panels).decode(),
                now,
            )
        return StoredLayout(width.value, version + 1, panels, now)
