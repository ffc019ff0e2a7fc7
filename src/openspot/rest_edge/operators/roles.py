"""Which users are operators, and in which roles: reads and changes the table `operator_roles`.

Roles are read again at each request of an operator, so a change holds at once. A user who loses the last role loses all
sessions too. Nobody changes their own roles, and the last administrator keeps that role. Changes are made one after the
other, so that two administrators cannot take the role from each other at the same time.

A user gets roles only with a verified address: anybody can register the address of a colleague before the colleague
does. The first administrator is exempt, whom somebody with the machine or the engine makes, perhaps before mail works.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from openspot.http.errors import HttpError
from openspot.http.operators import OperatorRole
from openspot.kit.clock import utc_now
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.identity.credentials.store import revoke_families

LIST_MAX = 1000
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-operator-roles', 0))"
_LIST = """
    SELECT user_id, email, display_name, array_agg(operator_roles.role ORDER BY operator_roles.role) AS roles,
        coalesce(bool_or(enabled_at IS NOT NULL), FALSE) AS has_second_factor, max(granted_at) AS changed_at
    FROM operator_roles JOIN users USING (user_id) LEFT JOIN user_mfa USING (user_id)
    GROUP BY user_id, email, display_name ORDER BY email LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class OperatorUser:
    """A user who is an operator. Without a second factor the roles open nothing yet."""

    user_id: str
    email: str
    display_name: str | None
    roles: list[OperatorRole]
    has_second_factor: bool
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class RolesChange:
    """The outcome of a change. The access tokens of the sessions in `ended` must be refused."""

    user_id: str
    email: str
    before: frozenset[OperatorRole]
    after: frozenset[OperatorRole]
    ended: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether anything changed."""
        return self.before != self.after


async def list_operators(pool: Pool) -> list[OperatorUser]:
    """The users who are operators, by e-mail address; at most LIST_MAX."""
    rows = await pool.fetch(_LIST, LIST_MAX)
    return [OperatorUser(**{**row, "roles": [OperatorRole(role) for role in row["roles"]]}) for row in rows]


async def set_roles(
    connection: Connection, user: str, wanted: Callable[[frozenset[OperatorRole]], frozenset[OperatorRole]], by: str
) -> RolesChange:
    """Give a user (an id or an e-mail address) the roles that `wanted` makes of the present ones, by an operator.

    It is part of the caller's transaction. Raises what `wanted` does, or HttpError: 404 `USER_NOT_FOUND`; 409
    `EMAIL_NOT_VERIFIED`, `OWN_ROLES` or `LAST_ADMINISTRATOR`.
    """
    await connection.execute(_LOCK)
    row = await connection.fetchrow(
        "SELECT user_id, email, email_verified_at FROM users WHERE user_id = $1 OR email = $2 FOR UPDATE",
        user,
        user.lower(),
    )
    if row is None:
        raise HttpError(404, f"user: nobody is registered as {user}", "USER_NOT_FOUND")
    user_id = row["user_id"]
    if by == f"user:{user_id}":
        raise HttpError(409, "your own roles are changed by another administrator", "OWN_ROLES")
    found = await connection.fetch("SELECT role FROM operator_roles WHERE user_id = $1", user_id)
    before = frozenset(OperatorRole(each["role"]) for each in found)
    after = wanted(before)
    if OperatorRole.ADMINISTRATOR in before - after and not await _has_other_administrator(connection, user_id):
        raise HttpError(409, "the last administrator keeps the role: make another user one first", "LAST_ADMINISTRATOR")
    new = after - before
    is_first = OperatorRole.ADMINISTRATOR in new and not await _has_other_administrator(connection, user_id)
    if new and row["email_verified_at"] is None and not is_first:
        message = "the e-mail address of the user is not verified: its owner opens the link of the mail first"
        raise HttpError(409, message, "EMAIL_NOT_VERIFIED")
    gone = sorted(before - after)
    await connection.execute("DELETE FROM operator_roles WHERE user_id = $1 AND role = ANY($2::text[])", user_id, gone)
    await connection.executemany(
        "INSERT INTO operator_roles (user_id, role, granted_by, granted_at) VALUES ($1, $2, $3, $4)",
        [(user_id, role, by, utc_now()) for role in sorted(new)],
    )
    ended: list[str] = []
    if before and not after:
        ended = await revoke_families(connection, user_id, "", utc_now())
    return RolesChange(user_id, row["email"], before, after, tuple(ended))


async def _has_other_administrator(connection: Connection, user_id: str) -> bool:
    return bool(
        await connection.fetchval(
            "SELECT EXISTS (SELECT FROM operator_roles WHERE role = $1 AND user_id <> $2)",
            OperatorRole.ADMINISTRATOR,
            user_id,
        )
    )
