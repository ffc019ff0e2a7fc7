"""Users and refresh tokens in the shared database, so that every process of the edge knows them (fact A5-09).

A row has only the hash of a refresh token. The tokens of one login form a family. Each use of a token makes the next
one of its family. A second use revokes the family, because two parties hold the token. A family is revoked by its one
unused token, however many it has used.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.identity.credentials.refresh_pace import after_refresh

NETWORKS_MAX = 50
# Only one transaction changes a family at a time. Otherwise a token made during the revocation would survive it.
_LOCK_FAMILY = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"

REVOKED_SINCE = "SELECT family_id FROM refresh_tokens WHERE revoked_at >= $1 AND used_at IS NULL"
# Along refresh_tokens_unused and refresh_tokens_unused_of_user: the used tokens of a family may be many, and stay.
END_FAMILIES = """
    UPDATE refresh_tokens SET revoked_at = $3
    WHERE family_id = ANY($1::text[]) AND user_id = $2 AND used_at IS NULL AND revoked_at IS NULL
"""
LIVING_FAMILIES = """
    SELECT family_id FROM refresh_tokens
    WHERE user_id = $1 AND family_id <> $2 AND used_at IS NULL AND revoked_at IS NULL ORDER BY family_id
"""
_IS_LOGIN_LOCKED = "SELECT EXISTS (SELECT FROM user_locks WHERE user_id = $1 AND kind = 'login')"


@dataclass(frozen=True, slots=True)
class User:
    """A user's row."""

    user_id: str
    email: str
    password_hash: str
    role: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session: the hash of its first refresh token, and the origin of the login."""

    session_id: str
    token_hash: bytes
    expires_at: datetime
    address: str
    user_agent: str


class RefreshFault(Enum):
    """Why a refresh token was refused."""

    UNKNOWN = auto()
    EXPIRED = auto()
    REVOKED = auto()
    REUSED = auto()
    TOO_OFTEN = auto()


@dataclass(frozen=True, slots=True)
class Rotation:
    """The outcome of using a refresh token: a fault, or the user and family of the new token.

    A token that came too often can be used in `wait_s` whole seconds.
    """

    family_id: str
    user_id: str
    role: str
    fault: RefreshFault | None = None
    wait_s: int = 0


class AuthStore:
    """The tables `users`, `user_networks`, `user_sessions` and `refresh_tokens`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add_user(self, user: User) -> bool:
        """Add a user. False, with nothing added, if the email address is taken."""
        outcome = await self._pool.execute(
            "INSERT INTO users (user_id, email, password_hash, role, created_at) VALUES ($1, $2, $3, $4, $5)"
            " ON CONFLICT (email) DO NOTHING",
            user.user_id,
            user.email,
            user.password_hash,
            user.role,
            user.created_at,
        )
        return rows_changed(outcome) == 1

    async def user_by_email(self, email: str, network: str) -> tuple[User | None, bool]:
        """The user with this email address, and whether the user has logged in from `network` before."""
        row = await self._pool.fetchrow(
            """
            SELECT user_id, email, password_hash, role, created_at,
                   EXISTS (SELECT FROM user_networks known
                           WHERE known.user_id = users.user_id AND known.network = $2) AS is_known
            FROM users WHERE email = $1
            """,
            email,
            network,
        )
        if row is None:
            return None, False
        fields = dict(row)
        known = fields.pop("is_known")
        return User(**fields), known

    async def knows_network(self, user_id: str, network: str) -> bool:
        """Whether the user has logged in from `network` before."""
        query = "SELECT EXISTS (SELECT FROM user_networks WHERE user_id = $1 AND network = $2)"
        return bool(await self._pool.fetchval(query, user_id, network))

    async def user_by_id(self, user_id: str) -> User | None:
        """The user with this id, None if there is none."""
        row = await self._pool.fetchrow(
            "SELECT user_id, email, password_hash, role, created_at FROM users WHERE user_id = $1", user_id
        )
        return None if row is None else User(**dict(row))

    async def is_login_locked(self, user_id: str) -> bool:
        """Whether an operator has locked the user's login."""
        return bool(await self._pool.fetchval(_IS_LOGIN_LOCKED, user_id))

    async def note_network(self, user_id: str, network: str, now: datetime) -> bool:
        """Remember that the user has logged in from `network`. Returns whether the network is new.

        Only the user's NETWORKS_MAX newest networks are remembered.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            is_new = await connection.fetchval(
                """
                INSERT INTO user_networks (user_id, network, last_login_at) VALUES ($1, $2, $3)
                ON CONFLICT (user_id, network) DO UPDATE SET last_login_at = excluded.last_login_at
                RETURNING xmax = 0
                """,
                user_id,
                network,
                now,
            )
            await connection.execute(
                """
                DELETE FROM user_networks WHERE user_id = $1 AND network NOT IN (
                    SELECT network FROM user_networks WHERE user_id = $1 ORDER BY last_login_at DESC LIMIT $2
                )
                """,
                user_id,
                NETWORKS_MAX,
            )
        return bool(is_new)

    async def forget_networks(self, before: datetime) -> int:
        """Delete the networks without a login since `before`, and return their number."""
        outcome = await self._pool.execute("DELETE FROM user_networks WHERE last_login_at < $1", before)
        return rows_changed(outcome)

    async def replace_password_hash(self, user_id: str, old_hash: str, new_hash: str) -> bool:
        """Replace a user's hash. False if it is no longer `old_hash`, so that a newer password stays."""
        outcome = await self._pool.execute(
            "UPDATE users SET password_hash = $3 WHERE user_id = $1 AND password_hash = $2", user_id, old_hash, new_hash
        )
        return rows_changed(outcome) == 1

    async def start_session(self, session: NewSession, user: User, now: datetime) -> bool:
        """Store a session with its first refresh token.

        False, with nothing stored, if the user was deleted, no longer has the password and the role of `user`, or must
        not log in: no session may begin after the reset, the demotion or the lock that was to end all sessions.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            unchanged = await connection.fetchval(
                "SELECT TRUE FROM users WHERE user_id = $1 AND password_hash = $2 AND role = $3 FOR SHARE",
                user.user_id,
                user.password_hash,
                user.role,
            )
            # A statement of its own, after the row is locked: it sees the lock of an operator who had the row before.
            if not unchanged or await connection.fetchval(_IS_LOGIN_LOCKED, user.user_id):
                return False
            await connection.execute(
                "INSERT INTO user_sessions (session_id, user_id, address, user_agent, created_at)"
                " VALUES ($1, $2, $3, $4, $5)",
                session.session_id,
                user.user_id,
                session.address,
                session.user_agent,
                now,
            )
            await connection.execute(
                "INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at) VALUES ($1, $2, $3, $4)",
                session.token_hash,
                session.session_id,
                user.user_id,
                session.expires_at,
            )
        return True

    async def rotate(
        self, used_hash: bytes, next_hash: bytes, now: datetime, expires_at: datetime, access_life: timedelta
    ) -> Rotation:
        """Use a refresh token and store the next one of its family, in one transaction. A reuse revokes the family.

        `access_life` is the life of an access token, which says how often a family may be refreshed.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            family = await connection.fetchval("SELECT family_id FROM refresh_tokens WHERE token_hash = $1", used_hash)
            if family is None:
                return Rotation("", "", "", RefreshFault.UNKNOWN)
            await connection.execute(_LOCK_FAMILY, family)
            row = await connection.fetchrow(
                """
                SELECT family_id, user_id, role, expires_at, used_at, revoked_at, allowance_full_at
                FROM refresh_tokens JOIN users USING (user_id) WHERE token_hash = $1
                """,
                used_hash,
            )
            if row is None:
                return Rotation("", "", "", RefreshFault.UNKNOWN)
            family_id, user_id, role = row["family_id"], row["user_id"], row["role"]
            if row["revoked_at"] is not None:
                return Rotation(family_id, user_id, role, RefreshFault.REVOKED)
            if row["used_at"] is not None:
                # A used token does not say whether its family was revoked: the unused one does.
                has_ended = rows_changed(await connection.execute(END_FAMILIES, [family_id], user_id, now)) > 0
                fault = RefreshFault.REUSED if has_ended else RefreshFault.REVOKED
                return Rotation(family_id, user_id, role, fault)
            if row["expires_at"] <= now:
                return Rotation(family_id, user_id, role, RefreshFault.EXPIRED)
            wait, full_at = after_refresh(row["allowance_full_at"], now, access_life)
            if wait:
                wait_s = math.ceil(wait.total_seconds())
                return Rotation(family_id, user_id, role, RefreshFault.TOO_OFTEN, wait_s)
            await connection.execute("UPDATE refresh_tokens SET used_at = $2 WHERE token_hash = $1", used_hash, now)
            await connection.execute(
                """
                INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at, allowance_full_at)
                VALUES ($1, $2, $3, $4, $5)
                """,
                next_hash,
                family_id,
                user_id,
                expires_at,
                full_at,
            )
            return Rotation(family_id, user_id, role)

    async def revoke_all(self, user_id: str, kept: str, now: datetime) -> list[str]:
        """Revoke every family of a user but `kept`, which may be empty. Returns the families that this revoked."""
        async with self._pool.acquire() as connection, connection.transaction():
            return await revoke_families(connection, user_id, kept, now)

    async def revoke_family(self, family_id: str, user_id: str, now: datetime) -> bool:
        """Revoke a user's family. False if the user has no such family that is not revoked yet."""
        async with self._pool.acquire() as connection, connection.transaction():
            return await end_family(connection, family_id, user_id, now)

    async def revoked_since(self, time: datetime) -> list[str]:
        """The families that were revoked at `time` or later."""
        # A family has one token that was not used. Along refresh_tokens_revoked, which has no other tokens.
        rows = await self._pool.fetch(REVOKED_SINCE, time)
        return [row["family_id"] for row in rows]

    async def delete_expired(self, before: datetime) -> int:
        """Delete the tokens that expired before that time, and return their number."""
        outcome = await self._pool.execute("DELETE FROM refresh_tokens WHERE expires_at < $1", before)
        await self._pool.execute(
            "DELETE FROM user_sessions WHERE NOT EXISTS (SELECT FROM refresh_tokens WHERE family_id = session_id)"
        )
        return rows_changed(outcome)


async def end_family(connection: Connection, family_id: str, user_id: str, now: datetime) -> bool:
    """Revoke a user's family, within a transaction. False if the user has no such family that is not revoked yet."""
    await connection.execute(_LOCK_FAMILY, family_id)
    return rows_changed(await connection.execute(END_FAMILIES, [family_id], user_id, now)) > 0


async def revoke_families(connection: Connection, user_id: str, kept: str, now: datetime) -> list[str]:
    """Revoke every family of a user but `kept`, within a transaction. Returns the families that this revoked."""
    living = await connection.fetch(LIVING_FAMILIES, user_id, kept)
    families = [row["family_id"] for row in living]
    for family in families:
        await connection.execute(_LOCK_FAMILY, family)
    await connection.execute(END_FAMILIES, families, user_id, now)
    return families


async def set_password(
    connection: Connection,
    user_id: str,
    password_hash: str,
    now: datetime,
    *,
    kept: str = "",
    is_email_proved: bool = False,
) -> list[str]:
    """Set a password and revoke every family but `kept`, within a transaction. Returns the revoked families.

    Logins that wait for a second factor end too. `is_email_proved` says that the user has proved to own the address.
    """
    await connection.execute(
        """
        UPDATE users SET password_hash = $2,
            email_verified_at = CASE WHEN $4 THEN coalesce(email_verified_at, $3) ELSE email_verified_at END
        WHERE user_id = $1
        """,
        user_id,
        password_hash,
        now,
        is_email_proved,
    )
    await connection.execute("DELETE FROM mfa_challenges WHERE user_id = $1", user_id)
    return await revoke_families(connection, user_id, kept, now)
