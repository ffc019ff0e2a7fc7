"""The watchlists of users, in the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from openspot.kit.database import Pool
from openspot.rest_edge.watchlists.rules import LISTS_MAX

_LOCK_OF_USER = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-watchlists:' || $1, 0))"


@dataclass(frozen=True, slots=True)
class StoredWatchlist:
    """A stored watchlist."""

    name: str
    symbols: Sequence[str]
    updated_at: datetime


class TooManyWatchlistsError(Exception):
    """The user has LISTS_MAX lists already."""


class NameTakenError(Exception):
    """The user has another list of the name that one is to get."""


class WatchlistStore:
    """Watchlists by user and name."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all_of(self, user_id: str) -> list[StoredWatchlist]:
        """The user's lists, by name."""
        query = 'SELECT name, symbols, updated_at FROM watchlists WHERE user_id = $1 ORDER BY name COLLATE "C"'
        return [StoredWatchlist(*row) for row in await self._pool.fetch(query, user_id)]

    async def change(
        self, user_id: str, name: str, change: Callable[[Sequence[str]], list[str]], now: datetime
    ) -> StoredWatchlist:
        """Make of a list what `change` makes of its markets; a new list begins empty. Raises TooManyWatchlistsError.

        Raises what `change` raises, and changes nothing then. Changes of one user come one after another.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_OF_USER, user_id)
            rows = await connection.fetch(
                "SELECT name, symbols, updated_at FROM watchlists WHERE user_id = $1", user_id
            )
            known = {row["name"]: StoredWatchlist(*row) for row in rows}
            if name not in known and len(known) >= LISTS_MAX:
                raise TooManyWatchlistsError
            before = known[name].symbols if name in known else []
            symbols = change(before)
            if name in known and symbols == before:
                return known[name]
            await connection.execute(
                "INSERT INTO watchlists (user_id, name, symbols, updated_at) VALUES ($1, $2, $3, $4)"
                " ON CONFLICT (user_id, name) DO UPDATE SET symbols = $3, updated_at = $4",
                user_id,
                name,
                symbols,
                now,
            )
        return StoredWatchlist(name, symbols, now)

    async def rename(self, user_id: str, name: str, to: str) -> StoredWatchlist | None:
        """Give a list another name; None if the user has none with this name. Raises NameTakenError.

        Markets, their order and the time of the last change stay.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_OF_USER, user_id)
            taken = "SELECT true FROM watchlists WHERE user_id = $1 AND name = $2"
            if to != name and await connection.fetchval(taken, user_id, to):
                raise NameTakenError
            row = await connection.fetchrow(
                "UPDATE watchlists SET name = $3 WHERE user_id = $1 AND name = $2 RETURNING name, symbols, updated_at",
                user_id,
                name,
                to,
            )
        return None if row is None else StoredWatchlist(*row)

    async def delete(self, user_id: str, name: str) -> bool:
        """Delete a list. False if the user has none with this name."""
        query = "DELETE FROM watchlists WHERE user_id = $1 AND name = $2 RETURNING true"
        return bool(await self._pool.fetchval(query, user_id, name))
