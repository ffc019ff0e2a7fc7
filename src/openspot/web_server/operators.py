"""Who may use the web server's own routes: the engine's administrators."""

import time
from collections import OrderedDict

from openspot.engine_client.administrators import EngineSessions, EngineSilentError

TRUSTED_S = 900.0
"""While the engine is silent, a session that it confirmed this recently may still read the health page."""
TOKENS_MAX = 1000


class Operators:
    """Checks the tokens of administrators."""

    def __init__(self, sessions: EngineSessions) -> None:
        self._sessions = sessions
        self._known: OrderedDict[str, float] = OrderedDict()

    async def may_look(self, authorization: str) -> bool:
        """Whether the Authorization header carries the token of an administrator's session."""
        token = _token(authorization)
        now = time.monotonic()
        try:
            session = await self._sessions.find(token)
        except EngineSilentError:
            return now - self._known.get(token, -TRUSTED_S) < TRUSTED_S
        self._known.pop(token, None)
        if session is None or not session.is_administrator:
            return False
        self._known[token] = now
        if len(self._known) > TOKENS_MAX:
            self._known.popitem(last=False)
        return True

    async def acting(self, authorization: str) -> str | None:
        """The participant id of the administrator who calls; None for anybody else. Raises EngineSilentError."""
        session = await self._sessions.find(_token(authorization))
        return session.participant_id if session is not None and session.is_administrator else None


def _token(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token if scheme.lower() == "bearer" else ""
