"""Reads which roles the user of a session has as an operator, and whether the session began with a second factor."""

from typing import NamedTuple

from openspot.http.operators import OperatorRole
from openspot.kit.database import Pool

_STANDING = """
    SELECT
        (SELECT array_agg(role) FROM operator_roles WHERE user_id = $1) AS roles,
        (SELECT enabled_at FROM user_mfa WHERE user_id = $1) <=
            (SELECT created_at FROM user_sessions WHERE session_id = $2 AND user_id = $1) AS had_second_factor,
        EXISTS (
            SELECT FROM refresh_tokens WHERE family_id = $2 AND revoked_at IS NOT NULL
        ) AS has_ended
"""


class OperatorStanding(NamedTuple):
    """What a user may do as an operator, in one session.

    `had_second_factor`: the user's second factor was on when the session began, so that its login took a code.
    """

    roles: frozenset[OperatorRole]
    had_second_factor: bool
    has_ended: bool


async def standing_of(pool: Pool, user_id: str, session_id: str) -> OperatorStanding:
    """The roles of a user now, and what is known of the session."""
    row = await pool.fetchrow(_STANDING, user_id, session_id)
    assert row is not None, "a SELECT without a table has one row"
    roles = frozenset(OperatorRole(role) for role in row["roles"] or ())
    return OperatorStanding(roles, bool(row["had_second_factor"]), row["has_ended"])
