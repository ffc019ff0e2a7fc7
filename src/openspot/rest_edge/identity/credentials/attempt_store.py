"""Login attempts in the shared database. All processes of the edge count together. A restart loses nothing.

Every statement locks its rows in the order of their keys. Otherwise two logins of one user wait for each other.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from openspot.kit.database import Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.identity.credentials.login_throttling import (
    FAILURES_MAX,
    AttemptKey,
    AttemptState,
    account_key,
    is_locked,
    reaches_lock,
    take,
)

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """The decision on an attempt: it counts, or it must come again in `wait_s` whole seconds, or it is locked out.

    `is_last` says that the attempt is the last one before the lock.
    """

    wait_s: int = 0
    is_locked: bool = False
    is_last: bool = False


class AttemptStore:
    """The table `login_attempts`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take(self, keys: tuple[AttemptKey, ...], now: datetime) -> LoginAttempt:
        """Count one attempt under every key. If it must wait or is locked out, count nothing."""
        texts = sorted(key.text for key in keys)
        async with self._pool.acquire() as connection, connection.transaction():
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
            if is_locked(keys, states):
                return LoginAttempt(is_locked=True)
            wait, changed = take(keys, states, now)
            if wait:
                return LoginAttempt(wait_s=math.ceil(wait.total_seconds()))
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
        return LoginAttempt(is_last=reaches_lock(keys, changed))

    async def succeeded(self, keys: tuple[AttemptKey, ...]) -> None:
        """The password was right: reset the keys that reset, and give one attempt back under the others."""
        reset = [key.text for key in keys if key.resets]
        await self._pool.execute(
            """
            DELETE FROM login_attempts WHERE key IN (
                SELECT key FROM login_attempts WHERE key = ANY($1::text[]) ORDER BY key COLLATE "C" FOR UPDATE
            )
            """,
            reset,
        )
        await self.undo(tuple(key for key in keys if not key.resets))

    async def undo(self, keys: tuple[AttemptKey, ...]) -> None:
        """Give one attempt back under every key: its password was right, or was not checked."""
        await self._pool.execute(
            """
            UPDATE login_attempts SET attempts = greatest(attempts - 1, 0), next_at = $2 WHERE key IN (
                SELECT key FROM login_attempts WHERE key = ANY($1::text[]) ORDER BY key COLLATE "C" FOR UPDATE
            )
            """,
            [key.text for key in keys],
            _LONG_AGO,
        )

    async def is_account_locked(self, email: str) -> bool:
        """Whether logins to an account are locked, for one network or for all unknown networks."""
        account = account_key(email)
        return bool(
            await self._pool.fetchval(
                """
                SELECT EXISTS (
                    SELECT FROM login_attempts WHERE (key = $1 OR starts_with(key, $2)) AND attempts >= $3
                )
                """,
                f"account:{account}",
                f"pair:{account}:",
                FAILURES_MAX,
            )
        )

    async def forget_account(self, email: str) -> None:
        """Forget all failed logins to an account, from any network: its owner has reset the password."""
        account = account_key(email)
        await self._pool.execute(
            """
            DELETE FROM login_attempts WHERE key IN (
                SELECT key FROM login_attempts WHERE key = $1 OR starts_with(key, $2)
                ORDER BY key COLLATE "C" FOR UPDATE
            )
            """,
            f"account:{account}",
            f"pair:{account}:",
        )

    async def delete_older(self, before: datetime, locked_before: datetime) -> int:
        """Delete keys without an attempt since `before`, or if locked since `locked_before`. Returns their number."""
        outcome = await self._pool.execute(
            """
            DELETE FROM login_attempts WHERE key IN (
                SELECT key FROM login_attempts WHERE last_at < $1 AND (attempts < $3 OR last_at < $2)
                FOR UPDATE SKIP LOCKED
            )
            """,
            before,
            locked_before,
            FAILURES_MAX,
        )
        return rows_changed(outcome)
