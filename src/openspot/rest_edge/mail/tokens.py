"""Tokens whose holder can read the mail of an address. The table holds only their hashes."""

from datetime import datetime, timedelta

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.mail.texts import TokenKind

REGISTERED_ALREADY_GAP = timedelta(hours=1)
"""A mailbox gets at most one mail in this time that tells of a registration of its address."""
TOKEN_LIFE = {
    TokenKind.VERIFY_EMAIL: timedelta(hours=24),
    TokenKind.RESET_PASSWORD: timedelta(minutes=30),
    TokenKind.REGISTERED_ALREADY: REGISTERED_ALREADY_GAP,
}


class MailTokens:
    """The table `mail_tokens`. A user has at most one token of a kind, from the newest mail."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def issue(
        self, kind: TokenKind, user_id: str, token_hash: bytes, now: datetime, *, unless_since: datetime | None
    ) -> bool:
        """Store a token. It replaces the user's earlier token of this kind.

        False, with nothing changed, if that one was issued after `unless_since`; None replaces any.
        """
        outcome = await self._pool.execute(
            """
            INSERT INTO mail_tokens (user_id, kind, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (user_id, kind) DO UPDATE SET
                token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at
            WHERE $6::timestamptz IS NULL OR mail_tokens.created_at <= $6
            """,
            user_id,
            kind.value,
            token_hash,
            now,
            now + TOKEN_LIFE[kind],
            unless_since,
        )
        return rows_changed(outcome) == 1

    async def user_of(self, kind: TokenKind, token_hash: bytes, now: datetime) -> str | None:
        """The user who has this token. None if it is unknown, used or expired."""
        user_id: str | None = await self._pool.fetchval(
            "SELECT user_id FROM mail_tokens WHERE kind = $1 AND token_hash = $2 AND expires_at > $3",
            kind.value,
            token_hash,
            now,
        )
        return user_id

    async def delete_expired(self, before: datetime) -> int:
        """Delete the tokens that expired before that time, and return their number."""
        outcome = await self._pool.execute("DELETE FROM mail_tokens WHERE expires_at < $1", before)
        return rows_changed(outcome)


async def consume_token(connection: Connection, kind: TokenKind, token_hash: bytes, now: datetime) -> str | None:
    """Use a token up within a transaction, and return its user. None if it is unknown, used or expired."""
    user_id: str | None = await connection.fetchval(
        "DELETE FROM mail_tokens WHERE kind = $1 AND token_hash = $2 AND expires_at > $3 RETURNING user_id",
        kind.value,
        token_hash,
        now,
    )
    return user_id
