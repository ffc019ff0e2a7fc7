"""The sessions of a user: list them with their origin, and end them."""

from dataclasses import dataclass
from datetime import datetime

from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.store import AuthStore
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions

SESSIONS_MAX = 1000
"""At most this many sessions are listed. Ending the others ends unlisted ones too."""


@dataclass(frozen=True, slots=True)
class UserSession:
    """A session that can still be refreshed. `last_used_at` is its login or its last refresh."""

    session_id: str
    address: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


class SessionList:
    """Handles the requests to the routes of sessions. Methods raise HttpError to refuse a request."""

    def __init__(
        self, pool: Pool, store: AuthStore, ended: EndedSessions, activity: ActivityLog, now: DateClock = utc_now
    ) -> None:
        self._pool = pool
        self._store = store
        self._ended = ended
        self._activity = activity
        self._now = now

    async def all_of(self, user_id: str) -> list[UserSession]:
        """The user's sessions, the most recently used first."""
        rows = await self._pool.fetch(
            """
            SELECT session_id, address, user_agent, user_sessions.created_at, token.created_at AS last_used_at,
                   token.expires_at
            FROM user_sessions JOIN refresh_tokens AS token ON token.family_id = session_id
            WHERE user_sessions.user_id = $1 AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $2
            ORDER BY token.created_at DESC, session_id LIMIT $3
            """,
            user_id,
            self._now(),
            SESSIONS_MAX,
        )
        return [UserSession(**dict(row)) for row in rows]

    async def end(self, user_id: str, session_id: str, origin: Origin) -> None:
        """End one session of the user. 404 if the user has no such session, even if another user has it."""
        if not await self._store.revoke_family(session_id, user_id, self._now()):
            raise HttpError(404, "you have no such session", "SESSION_NOT_FOUND")
        await self._ended.end_as_far_as_possible([session_id])
        await self._activity.record(user_id, ActivityKind.SESSION_ENDED, origin)

    async def end_others(self, identity: Identity, origin: Origin) -> int:
        """End every session but the caller's, and return their number."""
        ended = await self._store.revoke_all(identity.user_id, identity.session_id, self._now())
        await self._ended.end_as_far_as_possible(ended)
        if ended:
            await self._activity.record(identity.user_id, ActivityKind.OTHER_SESSIONS_ENDED, origin)
        return len(ended)
