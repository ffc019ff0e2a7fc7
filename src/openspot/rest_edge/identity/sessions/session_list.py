"""The sessions of a user: list them with their origin, and end them."""

from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.kit.clock import iso_of, utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.store import AuthStore
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.identity.sessions.schemas import UserSessionResponse

SESSIONS_MAX = 1000
"""At most this many sessions are listed. Ending the others ends unlisted ones too."""


class SessionList:
    """Handles the requests to the routes of sessions. Methods raise HttpError to refuse a request."""

    def __init__(self, pool: Pool, store: AuthStore, ended: EndedSessions, activity: ActivityLog) -> None:
        self._pool = pool
        self._store = store
        self._ended = ended
        self._activity = activity

    async def all_of(self, identity: Identity) -> list[UserSessionResponse]:
        """The sessions of the caller that can still be refreshed, the most recently used first."""
        rows = await self._pool.fetch(
            """
            SELECT session_id, address, user_agent, user_sessions.created_at, token.created_at AS last_used_at,
                   token.expires_at
            FROM user_sessions JOIN refresh_tokens AS token ON token.family_id = session_id
            WHERE user_sessions.user_id = $1 AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $2
            ORDER BY token.created_at DESC, session_id LIMIT $3
            """,
            identity.user_id,
            utc_now(),
            SESSIONS_MAX,
        )
        return [
            UserSessionResponse(
                session_id=row["session_id"],
                current=row["session_id"] == identity.session_id,
                address=row["address"],
                user_agent=row["user_agent"],
                created_at=iso_of(row["created_at"]),
                last_used_at=iso_of(row["last_used_at"]),
                expires_at=iso_of(row["expires_at"]),
            )
            for row in rows
        ]

    async def end(self, user_id: str, session_id: str, origin: Origin) -> None:
        """End one session of the user. 404 if the user has no such session, even if another user has it."""
        if not await self._store.revoke_family(session_id, user_id, utc_now()):
            raise HttpError(404, "you have no such session", "SESSION_NOT_FOUND")
        await self._ended.end_as_far_as_possible([session_id])
        await self._activity.record(user_id, ActivityKind.SESSION_ENDED, origin)

    async def end_others(self, identity: Identity, origin: Origin) -> int:
        """End every session but the caller's, and return their number."""
        ended = await self._store.revoke_all(identity.user_id, identity.session_id, utc_now())
        await self._ended.end_as_far_as_possible(ended)
        if ended:
            await self._activity.record(identity.user_id, ActivityKind.OTHER_SESSIONS_ENDED, origin)
        return len(ended)
