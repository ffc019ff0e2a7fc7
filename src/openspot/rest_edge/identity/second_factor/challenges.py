"""Logins whose password was right and whose second factor is still missing.

A challenge lives five minutes, takes five codes and ends with the login. The table has only the hash of its token.
"""

from datetime import datetime, timedelta

from openspot.kit.database import Pool
from openspot.kit.sql import rows_changed

CHALLENGE_LIFE = timedelta(minutes=5)
CHALLENGE_ATTEMPTS_MAX = 5


class ChallengeStore:
    """The table `mfa_challenges`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, token_hash: bytes, user_id: str, expires_at: datetime) -> None:
        """Store a challenge."""
        await self._pool.execute(
            "INSERT INTO mfa_challenges (token_hash, user_id, expires_at) VALUES ($1, $2, $3)",
            token_hash,
            user_id,
            expires_at,
        )

    async def take_attempt(self, token_hash: bytes, now: datetime) -> str | None:
        """Count an attempt and return the user. None if the challenge is unknown, expired or used up."""
        user_id: str | None = await self._pool.fetchval(
            """
            UPDATE mfa_challenges SET attempts = attempts + 1
            WHERE token_hash = $1 AND expires_at > $2 AND attempts < $3
            RETURNING user_id
            """,
            token_hash,
            now,
            CHALLENGE_ATTEMPTS_MAX,
        )
        return user_id

    async def give_back_attempt(self, token_hash: bytes) -> None:
        """Give back an attempt whose code was not checked."""
        await self._pool.execute(
            "UPDATE mfa_challenges SET attempts = greatest(attempts - 1, 0) WHERE token_hash = $1", token_hash
        )

    async def consume(self, token_hash: bytes) -> bool:
        """End the challenge, because its login succeeds. False if another request did so already."""
        outcome = await self._pool.execute("DELETE FROM mfa_challenges WHERE token_hash = $1", token_hash)
        return rows_changed(outcome) == 1

    async def delete_expired(self, before: datetime) -> int:
        """Delete the challenges that expired before that time, and return their number."""
        outcome = await self._pool.execute("DELETE FROM mfa_challenges WHERE expires_at < $1", before)
        return rows_changed(outcome)
