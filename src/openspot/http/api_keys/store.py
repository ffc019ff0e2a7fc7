"""The table `api_keys`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openspot.http.api_keys.signature import Algorithm
from openspot.http.ended_sessions import SessionOverError, is_over
from openspot.http.policy import Scope
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed

SEALING_KEYS_MAX = 100
KEYS_MAX = 30
"""A user has at most this many keys at a time, unless a plan says otherwise."""

_COLUMNS = """
    key_id, user_id, name, scopes, networks, algorithm, sealed_secret, public_key, version, created_at, rotated_at,
    last_used_at
"""
_IS_USABLE = """
    revoked_at IS NULL AND NOT EXISTS (
        SELECT FROM user_locks WHERE user_locks.user_id = api_keys.user_id AND kind = 'login'
    )
"""
# Only one process changes a user's keys at a time. Otherwise two could each add the last key that there is room for.
_LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended('api_keys ' || $1, 0))"


class TooManyKeysError(Exception):
    """The user has as many keys as a user may have."""


class NoSuchUserError(Exception):
    """There is no user with this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyRow:
    """A key that is not revoked. `version` grows with each rotation.

    A key has an encrypted secret (HMAC) or a public key (Ed25519). `networks` are CIDR texts. Without networks, the
    key may be used from everywhere.
    """

    key_id: str
    user_id: str
    name: str
    scopes: frozenset[Scope]
    networks: tuple[str, ...]
    algorithm: Algorithm
    sealed_secret: bytes | None
    public_key: bytes | None
    version: int
    created_at: datetime
    rotated_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A key that was rotated or revoked. Versions below `first_valid` no longer work."""

    key_id: str
    first_valid: int


class ApiKeyStore:
    """Reads and writes keys. A revoked key keeps its row, without its secret."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def pool(self) -> Pool:
        """The connections."""
        return self._pool

    async def get(self, key_id: str) -> ApiKeyRow | None:
        """The key with this id, of any user; None if it does not exist, is revoked, or its user must not log in."""
        query = f"SELECT {_COLUMNS} FROM api_keys WHERE key_id = $1 AND {_IS_USABLE}"  # noqa: S608
        row = await self._pool.fetchrow(query, key_id)
        return None if row is None else _key_of(row)

    async def note_sealing_keys(self, current: str, sealed_tag_keys: Mapping[str, bytes]) -> None:
        """Record the sealing keys that this process knows, and that it seals with `current` from now on.

        See Vault.sealed_tag_keys.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.executemany(
                "INSERT INTO sealing_keys (key_id, sealed_tag_key) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                sorted(sealed_tag_keys.items()),
            )
            await connection.execute("UPDATE sealing_keys SET current_at = now() WHERE key_id = $1", current)

    async def sealed_tag_keys(self) -> list[tuple[str, bytes]]:
        """The name and the sealed tag key of every sealing key that ever was, the newest SEALING_KEYS_MAX of them."""
        rows = await self._pool.fetch(
            "SELECT key_id, sealed_tag_key FROM sealing_keys ORDER BY noted_at DESC, key_id LIMIT $1", SEALING_KEYS_MAX
        )
        return [(row["key_id"], row["sealed_tag_key"]) for row in rows]

    async def versions(self, key_ids: Sequence[str]) -> dict[str, int]:
        """The version of each of these keys that `get` would find."""
        rows = await self._pool.fetch(
            f"SELECT key_id, version FROM api_keys WHERE key_id = ANY ($1::text[]) AND {_IS_USABLE}",  # noqa: S608
            list(key_ids),
        )
        return {row["key_id"]: row["version"] for row in rows}

    async def list_of(self, user_id: str) -> list[ApiKeyRow]:
        """A user's keys, the newest first."""
        rows = await self._pool.fetch(
            f"""
            SELECT {_COLUMNS} FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL
            ORDER BY created_at DESC, key_id
            """,  # noqa: S608
            user_id,
        )
        return [_key_of(row) for row in rows]

    async def add(self, key: ApiKeyRow, keys_max: int = KEYS_MAX, session_id: str = "") -> None:
        """Add a key. Raises TooManyKeysError beyond `keys_max`, NoSuchUserError for an unknown user.

        Raises SessionOverError if the session that asks was ended meanwhile: whoever ended it and revoked all keys
        would not have seen this one.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_USER, key.user_id)
            if await is_over(connection, session_id):
                raise SessionOverError
            number = await connection.fetchval(
                "SELECT count(*) FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL", key.user_id
            )
            if number >= keys_max:
                raise TooManyKeysError
            outcome = await connection.execute(
                """
                INSERT INTO api_keys (key_id, user_id, name, scopes, networks, algorithm, sealed_secret, public_key,
                                      version, created_at)
                SELECT $1, user_id, $3, $4, $5, $6, $7, $8, $9, $10 FROM users WHERE user_id = $2
                """,
                key.key_id,
                key.user_id,
                key.name,
                sorted(key.scopes),
                list(key.networks),
                key.algorithm,
                key.sealed_secret,
                key.public_key,
                key.version,
                key.created_at,
            )
            if not rows_changed(outcome):
                raise NoSuchUserError

    async def rotate(
        self, user_id: str, key_id: str, sealed_secret: bytes | None, public_key: bytes | None, now: datetime
    ) -> ApiKeyRow | None:
        """Replace the secret or the public key of a user's key; None if the user has no such key."""
        row = await self._pool.fetchrow(
            f"""
            UPDATE api_keys SET sealed_secret = $3, public_key = $4, version = version + 1, rotated_at = $5
            WHERE key_id = $2 AND user_id = $1 AND revoked_at IS NULL RETURNING {_COLUMNS}
            """,  # noqa: S608
            user_id,
            key_id,
            sealed_secret,
            public_key,
            now,
        )
        return None if row is None else _key_of(row)

    async def revoke(self, user_id: str, key_id: str, now: datetime) -> Ended | None:
        """Revoke a user's key; None if the user never had it. Revoking twice changes nothing."""
        row = await self._pool.fetchrow(
            """
            UPDATE api_keys SET revoked_at = coalesce(revoked_at, $3), sealed_secret = NULL, public_key = NULL
            WHERE key_id = $2 AND user_id = $1 RETURNING key_id, version
            """,
            user_id,
            key_id,
            now,
        )
        return None if row is None else Ended(row["key_id"], row["version"] + 1)

    async def revoke_all(self, user_id: str, now: datetime) -> list[Ended]:
        """Revoke every key of a user."""
        rows = await self._pool.fetch(
            """
            UPDATE api_keys SET revoked_at = $2, sealed_secret = NULL, public_key = NULL
            WHERE user_id = $1 AND revoked_at IS NULL RETURNING key_id, version
            """,
            user_id,
            now,
        )
        return [Ended(row["key_id"], row["version"] + 1) for row in rows]

    async def revoke_within(
        self, connection: Connection, user_id: str, key_id: str | None, now: datetime
    ) -> tuple[list[Ended], bool]:
        """Revoke one key of a user, or all if `key_id` is None, in the caller's transaction.

        Returns the keys, and whether any of them was not revoked before. A named key that was is among them, so that
        every process can be told of it again.
        """
        await connection.execute(_LOCK_USER, user_id)
        condition = "revoked_at IS NULL" if key_id is None else "key_id = $2"
        rows = await connection.fetch(
            f"SELECT key_id, version, revoked_at FROM api_keys WHERE user_id = $1 AND {condition} FOR UPDATE",  # noqa: S608
            *([user_id] if key_id is None else [user_id, key_id]),
        )
        new = [row["key_id"] for row in rows if row["revoked_at"] is None]
        await connection.execute(
            "UPDATE api_keys SET revoked_at = $2, sealed_secret = NULL, public_key = NULL"
            " WHERE key_id = ANY($1::text[])",
            new,
            now,
        )
        return [Ended(row["key_id"], row["version"] + 1) for row in rows], bool(new)

    async def suspended(self, user_id: str) -> list[Ended]:
        """The keys of a user who must not log in any more, as if they had ended: connections with them are closed."""
        rows = await self._pool.fetch(
            "SELECT key_id, version FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL", user_id
        )
        return [Ended(row["key_id"], row["version"] + 1) for row in rows]

    async def note_uses(self, times: Mapping[str, datetime]) -> None:
        """Record when keys were last used. A time before the recorded one changes nothing.

        Locks the keys in the order of their ids: other processes do the same at the same time.
        """
        await self._pool.execute(
            """
            UPDATE api_keys SET last_used_at = new.used_at FROM (
                SELECT key_id, used_at FROM api_keys
                JOIN unnest($1::text[], $2::timestamptz[]) AS given (key_id, used_at) USING (key_id)
                ORDER BY key_id FOR UPDATE OF api_keys
            ) AS new
            WHERE api_keys.key_id = new.key_id AND coalesce(last_used_at, '-infinity') < new.used_at
            """,
            list(times),
            list(times.values()),
        )


def _key_of(row: Any) -> ApiKeyRow:
    networks: Sequence[str] = row["networks"]
    return ApiKeyRow(
        key_id=row["key_id"],
        user_id=row["user_id"],
        name=row["name"],
        scopes=frozenset(Scope(scope) for scope in row["scopes"]),
        networks=tuple(networks),
        algorithm=Algorithm(row["algorithm"]),
        sealed_secret=row["sealed_secret"],
        public_key=row["public_key"],
        version=row["version"],
        created_at=row["created_at"],
        rotated_at=row["rotated_at"],
        last_used_at=row["last_used_at"],
    )
