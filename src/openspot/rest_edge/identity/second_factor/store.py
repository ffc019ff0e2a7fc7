"""The tables `user_mfa` and `user_recovery_codes`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed


@dataclass(frozen=True, slots=True)
class Factor:
    """A user's TOTP factor. `enabled_at` is None until the user has proved the secret by a code."""

    sealed_secret: bytes
    enabled_at: datetime | None
    last_step: int


class MfaStore:
    """Second factors. A method that consumes a code returns False if it was consumed already."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def factor(self, user_id: str) -> Factor | None:
        """The user's factor, enabled or only set up."""
        row = await self._pool.fetchrow(
            "SELECT sealed_secret, enabled_at, last_step FROM user_mfa WHERE user_id = $1", user_id
        )
        return None if row is None else Factor(**dict(row))

    async def set_up(self, user_id: str, sealed_secret: bytes) -> bool:
        """Store a new secret, which is not enabled yet. False if a factor is enabled already."""
        outcome = await self._pool.execute(
            """
            INSERT INTO user_mfa (user_id, sealed_secret) VALUES ($1, $2)
            ON CONFLICT (user_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, last_step = 0
            WHERE user_mfa.enabled_at IS NULL
            """,
            user_id,
            sealed_secret,
        )
        return rows_changed(outcome) == 1

    async def enable(
        self, user_id: str, sealed_secret: bytes, step: int, code_hashes: Sequence[bytes], now: datetime
    ) -> bool:
        """Enable the factor that was set up with this secret. False if it was replaced or enabled meanwhile."""
        async with self._pool.acquire() as connection, connection.transaction():
            outcome = await connection.execute(
                """
                UPDATE user_mfa SET enabled_at = $4, last_step = $3
                WHERE user_id = $1 AND sealed_secret = $2 AND enabled_at IS NULL
                """,
                user_id,
                sealed_secret,
                step,
                now,
            )
            if not rows_changed(outcome):
                return False
            await _replace_codes(connection, user_id, code_hashes)
        return True

    async def replace_codes(self, user_id: str, code_hashes: Sequence[bytes]) -> None:
        """Replace all recovery codes of an enabled factor."""
        async with self._pool.acquire() as connection, connection.transaction():
            # This locks the factor. After two replacements at once, only the codes of the later one are left.
            if await connection.fetchval("SELECT TRUE FROM user_mfa WHERE user_id = $1 FOR UPDATE", user_id):
                await _replace_codes(connection, user_id, code_hashes)

    async def use_step(self, user_id: str, step: int) -> bool:
        """Consume a TOTP step. False if it or a later one was used."""
        outcome = await self._pool.execute(
            "UPDATE user_mfa SET last_step = $2 WHERE user_id = $1 AND last_step < $2", user_id, step
        )
        return rows_changed(outcome) == 1

    async def use_recovery_code(self, user_id: str, code_hash: bytes, now: datetime) -> bool:
        """Consume a recovery code. False if it is wrong or was used."""
        outcome = await self._pool.execute(
            "UPDATE user_recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL",
            user_id,
            code_hash,
            now,
        )
        return rows_changed(outcome) == 1

    async def recovery_codes_left(self, user_id: str) -> int:
        """The number of unused recovery codes."""
        return int(
            await self._pool.fetchval(
                "SELECT count(*) FROM user_recovery_codes WHERE user_id = $1 AND used_at IS NULL", user_id
            )
        )

    async def remove(self, user_id: str) -> None:
        """Delete the factor with its recovery codes."""
        await self._pool.execute("DELETE FROM user_mfa WHERE user_id = $1", user_id)


async def reset_factor(connection: Connection, user_id: str) -> bool:
    """Delete an enabled factor and the logins that wait for its code, within a transaction. False if there is none."""
    outcome = await connection.execute("DELETE FROM user_mfa WHERE user_id = $1 AND enabled_at IS NOT NULL", user_id)
    await connection.execute("DELETE FROM mfa_challenges WHERE user_id = $1", user_id)
    return rows_changed(outcome) == 1


async def remove_any_factor(connection: Connection, user_id: str) -> bool:
    """Delete a factor, enabled or only set up, within a transaction. False if none was enabled."""
    query = "DELETE FROM user_mfa WHERE user_id = $1 RETURNING enabled_at IS NOT NULL"
    return bool(await connection.fetchval(query, user_id))


async def _replace_codes(connection: Connection, user_id: str, code_hashes: Sequence[bytes]) -> None:
    await connection.execute("DELETE FROM user_recovery_codes WHERE user_id = $1", user_id)
    await connection.executemany(
        "INSERT INTO user_recovery_codes (user_id, code_hash) VALUES ($1, $2)",
        [(user_id, code_hash) for code_hash in code_hashes],
    )
