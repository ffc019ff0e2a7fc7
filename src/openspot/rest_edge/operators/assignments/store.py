"""The table `withdrawal_assignments`, and which operators can be in it."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from openspot.kit.database import Connection, Pool

LIST_MAX = 1000
_LIST = """
    SELECT users.user_id, email, display_name, (
        SELECT count(*) FROM withdrawal_assignments JOIN custody_withdrawals USING (withdrawal_id)
        WHERE assignee = 'user:' || users.user_id AND funds NOT IN ('refused', 'released', 'taken')
    ) AS assigned
    FROM users WHERE EXISTS (
        SELECT FROM operator_roles WHERE operator_roles.user_id = users.user_id AND role = ANY($1::text[])
    ) ORDER BY email LIMIT $2
"""


async def deciders(pool: Pool, roles: Collection[str]) -> list[Any]:
    """The users who have one of these roles, by e-mail address; at most LIST_MAX."""
    return list(await pool.fetch(_LIST, sorted(roles), LIST_MAX))


async def has_role(connection: Connection, user_id: str, roles: Collection[str]) -> bool:
    """Whether the user has one of these roles. They stay as they are until the transaction ends."""
    query = "SELECT role FROM operator_roles WHERE user_id = $1 AND role = ANY($2::text[]) FOR SHARE"
    return bool(await connection.fetch(query, user_id, sorted(roles)))


async def withdrawal(connection: Connection, withdrawal_id: str) -> Any | None:
    """The owner of a withdrawal, and whether it is settled; None if there is no such withdrawal.

    Nobody else assigns it until the transaction ends.
    """
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('assignment ' || $1, 0))", withdrawal_id)
    return await connection.fetchrow(
        "SELECT user_id, funds IN ('refused', 'released', 'taken') AS is_settled FROM custody_withdrawals"
        " WHERE withdrawal_id = $1",
        withdrawal_id,
    )


async def assignee_of(connection: Connection, withdrawal_id: str) -> str | None:
    """Who is to decide on a withdrawal."""
    query = "SELECT assignee FROM withdrawal_assignments WHERE withdrawal_id = $1"
    found: str | None = await connection.fetchval(query, withdrawal_id)
    return found


async def assign(connection: Connection, withdrawal_id: str, assignee: str | None, by: str, now: datetime) -> None:
    """Let `assignee` decide on a withdrawal; nobody without one."""
    if assignee is None:
        await connection.execute("DELETE FROM withdrawal_assignments WHERE withdrawal_id = $1", withdrawal_id)
        return
    await connection.execute(
        """
        INSERT INTO withdrawal_assignments (withdrawal_id, assignee, assigned_by, assigned_at)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (withdrawal_id) DO UPDATE SET assignee = $2, assigned_by = $3, assigned_at = $4
        """,
        withdrawal_id,
        assignee,
        by,
        now,
    )
