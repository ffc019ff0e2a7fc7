"""A user's profile and anti-phishing code: columns of the table `users`."""

from collections.abc import Mapping

from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.users.schemas import ProfileResponse


class Profiles:
    """What the profile routes do. Every method raises HttpError (404) if the user was deleted."""

    def __init__(self, pool: Pool, activity: ActivityLog) -> None:
        self._pool = pool
        self._activity = activity

    async def get(self, user_id: str) -> ProfileResponse:
        """The user's profile."""
        row = await self._pool.fetchrow(
            """
            SELECT user_id, email, email_verified_at IS NOT NULL AS email_verified, role, display_name, language,
                   time_zone, anti_phishing_code, created_at,
                   EXISTS (SELECT FROM user_mfa WHERE user_mfa.user_id = users.user_id AND enabled_at IS NOT NULL)
                       AS mfa_enabled
            FROM users WHERE user_id = $1
            """,
            user_id,
        )
        if row is None:
            raise user_not_found()
        return ProfileResponse(**dict(row) | {"created_at": iso_of(row["created_at"])})

    async def change(self, user_id: str, given: Mapping[str, str | None], origin: Origin) -> ProfileResponse:
        """Change those of display_name, language and time_zone that are given. None empties a field."""
        outcome = await self._pool.execute(
            """
            UPDATE users SET
                display_name = CASE WHEN $2 THEN $3 ELSE display_name END,
                language = CASE WHEN $4 THEN $5 ELSE language END,
                time_zone = CASE WHEN $6 THEN $7 ELSE time_zone END
            WHERE user_id = $1
            """,
            user_id,
            *(part for name in ("display_name", "language", "time_zone") for part in (name in given, given.get(name))),
        )
        if not rows_changed(outcome):
            raise user_not_found()
        if given:
            await self._activity.record(user_id, ActivityKind.PROFILE_CHANGED, origin)
        return await self.get(user_id)

    async def set_anti_phishing_code(self, user_id: str, code: str | None, origin: Origin) -> None:
        """Set the text that every mail shows from now on. None removes it."""
        async with self._pool.acquire() as connection, connection.transaction():
            outcome = await connection.execute(
                "UPDATE users SET anti_phishing_code = $2 WHERE user_id = $1", user_id, code
            )
            if not rows_changed(outcome):
                raise user_not_found()
            await self._activity.record(user_id, ActivityKind.ANTI_PHISHING_CODE_CHANGED, origin, connection)
