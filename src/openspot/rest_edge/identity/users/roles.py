"""Who is an administrator of the platform: reads and changes the roles of users.

A promoted user has the role from the next login or refresh on. A demotion ends every session of the user, so that no
access token keeps the role. Every change is in the user's activity log, and the user is notified of it;
the entry does not show where the administrator was.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from openspot.http.audit import AuditRecord, add_record
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.store import revoke_families

LIST_MAX = 1000


class Role(StrEnum):
    """The roles, as access tokens name them (`kit/tokens.py`)."""

    USER = "user"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class UserWithRole:
    """A user in a list."""

    user_id: str
    email: str
    role: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RoleChange:
    """The outcome of a change. `is_new` is False if the user had the role already.

    The access tokens of the sessions in `ended` must be refused: the change, or one shortly before, has ended them.
    """

    user_id: str
    email: str
    role: Role
    is_new: bool
    ended: tuple[str, ...]


class Roles:
    """Reads and changes `users.role`."""

    def __init__(self, pool: Pool, activity: ActivityLog, token_life: timedelta) -> None:
        """A token of a session that ended longer than `token_life` ago has expired."""
        self._pool = pool
        self._activity = activity
        self._token_life = token_life

    async def list(self, role: Role | None = None) -> list[UserWithRole]:
        """The users with this role, or all, by email address; at most LIST_MAX."""
        rows = await self._pool.fetch(
            "SELECT user_id, email, role, created_at FROM users WHERE $1::text IS NULL OR role = $1"
            " ORDER BY email LIMIT $2",
            role,
            LIST_MAX,
        )
        return [UserWithRole(**dict(row)) for row in rows]

    async def change(
        self, user: str, role: Role, record: Callable[[RoleChange], AuditRecord] | None = None
    ) -> RoleChange | None:
        """Give a user (an id or an email address) a role; None if there is no such user.

        With `record`, an audit record is written in the same transaction.
        """
        now = utc_now()
        async with self._pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow(
                "SELECT user_id, email, role FROM users WHERE user_id = $1 OR email = $1 FOR UPDATE", user
            )
            if row is None:
                return None
            change = RoleChange(row["user_id"], row["email"], role, row["role"] != role, ())
            if change.is_new:
                await connection.execute("UPDATE users SET role = $2 WHERE user_id = $1", change.user_id, role)
                kind = ActivityKind.MADE_ADMINISTRATOR if role is Role.ADMIN else ActivityKind.ADMINISTRATOR_NO_MORE
                await self._activity.record(change.user_id, kind, Origin(), connection)
            if role is Role.USER:
                if change.is_new:
                    await revoke_families(connection, change.user_id, "", now)
                # Also those of an earlier demotion, which may not have been told to every process.
                ended = await connection.fetch(
                    "SELECT family_id FROM refresh_tokens WHERE user_id = $1 AND used_at IS NULL AND revoked_at >= $2",
                    change.user_id,
                    now - self._token_life,
                )
                change = dataclasses.replace(change, ended=tuple(sorted(found["family_id"] for found in ended)))
            if record is not None:
                await add_record(connection, record(change))
        return change
