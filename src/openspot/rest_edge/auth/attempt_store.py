"""Login attempts in the shared database. All processes of the edge count together, also across restarts."""

import math
from datetime import UTC, datetime

from openspot.kit.database import Pool
from openspot.rest_edge.auth.guessing import AttemptKey, AttemptState, take

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class AttemptStore:
    """The table `login_attempts`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take(self, keys: tuple[AttemptKey, ...], now: datetime) -> int:
        """Count one attempt under every key and return 0, or return the whole seconds to wait, and count nothing."""
        texts = sorted(key.text for key in keys)
        async with self._pool.acquire() as connection, connection.transaction():
            # Locked in one order, so that two attempts never wait for each other.
            rows = await connection.fetch(
                """
                INSERT INTO login_attempts (key, next_at) SELECT given, $2 FROM unnest($1::text[]) AS given
                ON CONFLICT (key) DO UPDATE SET key = excluded.key
                RETURNING key, attempts, next_at
                """,
                texts,
                _LONG_AGO,
            )
            states = {row["key"]: AttemptState(row["attempts"], row["next_at"]) for row in rows}
            wait, changed = take(keys, states, now)
            if wait:
                return math.ceil(wait.total_seconds())
            await connection.execute(
                """
                UPDATE login_attempts SET attempts = new.attempts, next_at = new.next_at, last_at = $4
                FROM unnest($1::text[], $2::integer[], $3::timestamptz[]) AS new (key, attempts, next_at)
                WHERE login_attempts.key = new.key
                """,
                list(changed),
                [state.attempts for state in changed.values()],
                [state.next_at for state in changed.values()],
                now,
            )
        return 0

    async def succeeded(self, keys: tuple[AttemptKey, ...]) -> None:
        """The password was right: forget the attempts of keys that reset, and one attempt of the others."""
        reset = [key.text for key in keys if key.resets]
        await self._pool.execute("DELETE FROM login_attempts WHERE key = ANY($1::text[])", reset)
        await self.undo(tuple(key for key in keys if not key.resets))

    async def undo(self, keys: tuple[AttemptKey, ...]) -> None:
        """Give one attempt back under every key, because its password was not checked or was right."""
        await self._pool.execute(
            "UPDATE login_attempts SET attempts = greatest(attempts - 1, 0), next_at = $2 WHERE key = ANY($1::text[])",
            sorted(key.text for key in keys),
            _LONG_AGO,
        )

    async def delete_older(self, before: datetime) -> int:
        """Delete keys whose last attempt was before that time; returns how many."""
        outcome = await self._pool.execute("DELETE FROM login_attempts WHERE last_at < $1", before)
        return int(outcome.rpartition(" ")[2])
