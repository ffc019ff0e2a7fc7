"""Beginning a session: its id, its first tokens, and the row that lists it."""

import os
import secrets
import time
from datetime import datetime, timedelta

import msgspec

from openspot.domain.ids import short_id
from openspot.http.throttle import network_of
from openspot.kit.token_hash import new_token, token_hash
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.auth.store import AuthStore, NewSession, User
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.users.activity import ActivityKind, ActivityLog, Origin

_RANDOM_BYTES = 16


class Tokens(msgspec.Struct, rename="camel", frozen=True):
    """The tokens of a session. `expires_in` is the access token's life in seconds."""

    access_token: str
    refresh_token: str
    token_type: str
    expires_in: int
    user_id: str


class SessionStart:
    """Begins sessions and makes tokens."""

    def __init__(self, settings: RestEdgeSettings, store: AuthStore, activity: ActivityLog) -> None:
        self._secret = settings.jwt_secret
        self._access_s = settings.access_token_s
        self.refresh_life = timedelta(seconds=settings.refresh_token_s)
        self._store = store
        self._activity = activity

    async def begin(self, user: User, origin: Origin, now: datetime) -> Tokens | None:
        """Begin a session of a user whose credentials were all right.

        None if the user was deleted or got another password since the password was checked.
        """
        token = new_token()
        session_id = short_id(os.urandom(_RANDOM_BYTES))
        session = NewSession(session_id, token_hash(token), now + self.refresh_life, origin.address, origin.user_agent)
        if not await self._store.start_session(session, user, now):
            return None
        await self._store.note_network(user.user_id, network_of(origin.address), now)
        await self._activity.record(user.user_id, ActivityKind.LOGGED_IN, origin)
        return self.tokens(user.user_id, user.role, session_id, token)

    def tokens(self, user_id: str, role: str, session_id: str, refresh_token: str) -> Tokens:
        """Sign an access token for the session, beside its refresh token."""
        now = int(time.time())
        token_id = secrets.token_hex(8)
        claims = Claims(user_id, role, now + self._access_s, session_id=session_id, token_id=token_id)
        return Tokens(sign(claims, self._secret, now), refresh_token, "Bearer", self._access_s, user_id)
