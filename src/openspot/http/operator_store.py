"""Reads which roles the user of a session has as an operator, whether it began with a second factor, and who is who."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from openspot.http.operators import OperatorRole
from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import Connection, Pool

_STANDING = """
    SELECT
        (SELECT array_agg(role) FROM operator_roles WHERE user_id = $1) AS roles,
        (SELECT enabled_at FROM user_mfa WHERE user_id = $1) <=
            (SELECT created_at FROM user_sessions WHERE session_id = $2 AND user_id = $1) AS had_second_factor,
        EXISTS (
            SELECT FROM refresh_tokens WHERE family_id = $2 AND used_at IS NULL AND revoked_at IS NOT NULL
        ) AS has_ended
"""
_ACCOUNTS = """
    WITH RECURSIVE known (user_id) AS (
        SELECT $1::text
        UNION
        SELECT CASE WHEN lower(first_user_id) = known.user_id THEN lower(second_user_id)
            ELSE lower(first_user_id) END
        FROM owner_links JOIN known ON known.user_id IN (lower(first_user_id), lower(second_user_id))
        WHERE ended_at IS NULL
    ) SELECT user_id FROM known
"""
_MADE_TOGETHER = """
    WITH RECURSIVE given AS MATERIALIZED (
        SELECT lower(split_part(operator, ':', 2)) AS giver, lower(subject_id) AS taker FROM operator_actions
        WHERE action = 'operators.roles' AND at_ms > $2 AND operator NOT LIKE 'shell:%'
            AND NOT string_to_array(after::jsonb ->> 'roles', ',')
                <@ string_to_array(coalesce(before::jsonb ->> 'roles', ''), ',')
    ), known (user_id) AS (
        SELECT unnest($1::text[])
        UNION
        SELECT CASE WHEN giver = known.user_id THEN taker ELSE giver END
        FROM given JOIN known ON known.user_id IN (giver, taker)
    ) SELECT user_id FROM known
"""
"""Roles that were taken away connect nobody; nor do commands, whose account of the machine is no operator."""


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


async def made_together_with(
    connection: Connection | Pool, user_ids: Collection[str], since: datetime
) -> frozenset[str]:
    """Who since then gave a role to one of these people or got one from them, over any number of steps; and these.

    The trail says so, which nobody can change: a role that was taken and given again does not hide it. All ids are in
    small letters.
    """
    rows = await connection.fetch(_MADE_TOGETHER, [*user_ids], ms_from_datetime(since))
    return frozenset(row["user_id"] for row in rows)


async def accounts_of_owner(connection: Connection | Pool, user_id: str) -> frozenset[str]:
    """The accounts of one owner, in small letters: this one and those that `openspot owners` linked with it."""
    rows = await connection.fetch(_ACCOUNTS, user_id.lower())
    return frozenset(row["user_id"] for row in rows)
