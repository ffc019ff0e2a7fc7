"""The sessions of operators: lists them with their origin, and ends one."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from openspot.http.context import caller
from openspot.http.errors import HttpError
from openspot.kit.clock import iso_of, utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.identity.credentials.store import end_family
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.operators.schemas import OperatorSessionEntry
from openspot.rest_edge.operators.trail import action_of, record_action

SESSIONS_MAX = 1000
_LIST = """
    SELECT session_id, user_sessions.user_id, email, address, user_agent, user_sessions.created_at,
        token.created_at AS last_used_at, token.expires_at
    FROM user_sessions JOIN users USING (user_id) JOIN refresh_tokens AS token ON token.family_id = session_id
    WHERE EXISTS (SELECT FROM operator_roles WHERE operator_roles.user_id = user_sessions.user_id)
        AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $1
    ORDER BY token.created_at DESC, session_id LIMIT $2
"""
_OWNER = """
    SELECT user_sessions.user_id FROM user_sessions
    WHERE session_id = $1
        AND EXISTS (SELECT FROM operator_roles WHERE operator_roles.user_id = user_sessions.user_id)
"""


class SessionsOfOperators:
    """Handles the requests about sessions of users who are operators."""

    def __init__(self, pool: Pool, ended: EndedSessions) -> None:
        self._pool = pool
        self._ended = ended

    async def all(self, request: Request) -> list[OperatorSessionEntry]:
        """The sessions that can still be refreshed, the most recently used first; at most SESSIONS_MAX."""
        rows: Sequence[Any] = await self._pool.fetch(_LIST, utc_now(), SESSIONS_MAX)
        return [
            OperatorSessionEntry(
                session_id=row["session_id"],
                user_id=row["user_id"],
                email=row["email"],
                current=row["session_id"] == caller(request).session_id,
                address=row["address"],
                user_agent=row["user_agent"],
                created_at=iso_of(row["created_at"]),
                last_used_at=iso_of(row["last_used_at"]),
                expires_at=iso_of(row["expires_at"]),
            )
            for row in rows
        ]

    async def end(self, request: Request, session_id: str, reason: str) -> None:
        """End a session. Raises HttpError (404) if no operator has such a session that is not over."""
        async with self._pool.acquire() as connection, connection.transaction():
            user_id = await connection.fetchval(_OWNER, session_id)
            if user_id is None or not await end_family(connection, session_id, user_id, utc_now()):
                raise HttpError(404, f"no operator has the session {session_id}", "SESSION_NOT_FOUND")
            subject = ("user", user_id)
            change = ({"session": session_id}, {"session": None})
            await record_action(connection, action_of(request, "operators.end_session", subject, reason, *change))
        await self._ended.end_as_far_as_possible([session_id])
