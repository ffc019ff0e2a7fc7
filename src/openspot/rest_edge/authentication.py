"""Who sends a request: HS256 access tokens, and the guard that stands before every route (Document A 5).

A token's signature is checked once: what it said is kept by its raw text, up to a bound, so that the thousands
of requests of one session cost a dictionary look-up each. Expiry and revocation are checked at every request.

The guard is the rule; what needs no token is listed here, and nowhere else.
"""

import time
from collections.abc import Callable

from openspot.kit.tokens import InvalidTokenError, verify_access_token
from openspot.rest_edge.context import Identity, RequestContext
from openspot.rest_edge.errors import EdgeError

PREFIX = "/api/v1"
TOKENS_KEPT_MAX = 50_000
PUBLIC_ROUTES = frozenset(
    (method, f"{PREFIX}{path}")
    for method, path in (
        ("POST", "/auth/login"),
        ("POST", "/auth/register"),
        ("POST", "/auth/refresh"),
        ("GET", "/health"),
        ("GET", "/health/live"),
        ("GET", "/health/ready"),
        ("GET", "/metrics"),
    )
)
"""What needs no token below the prefix, beside market data."""
_MARKETS = f"{PREFIX}/markets"

_CHALLENGE = {"WWW-Authenticate": "Bearer"}


class RevokedSessions:
    """Sessions that were ended while access tokens of theirs are still within their life."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._until

    def __len__(self) -> int:
        return len(self._until)

    def add(self, session_id: str, until: float) -> None:
        """Refuse the session's tokens until `until` (seconds since 1970), when the last of them has expired."""
        self._until[session_id] = max(until, self._until.get(session_id, 0))

    def forget_expired(self, now: float) -> None:
        """Drop the sessions whose tokens have all expired."""
        for session_id in [session for session, until in self._until.items() if until <= now]:
            del self._until[session_id]


class Authentication:
    """Reads the identity out of a request's `Authorization` header."""

    def __init__(self, secret: str, revoked: RevokedSessions, now: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._revoked = revoked
        self._now = now
        self._known: dict[str, Identity] = {}

    def identify(self, context: RequestContext, authorization: bytes | None) -> None:
        """Put the identity, or the reason why there is none, into `context`."""
        if authorization is None:
            context.refusal = "a bearer token is required"
            return
        scheme, _, raw = authorization.decode("latin-1").partition(" ")
        token = raw.strip()
        if scheme.lower() != "bearer" or not token:
            context.refusal = "the Authorization header must be: Bearer <token>"
            return
        try:
            context.identity = self._verified(token)
        except InvalidTokenError as error:
            context.refusal = str(error)

    def _verified(self, token: str) -> Identity:
        now = self._now()
        identity = self._known.get(token)
        if identity is None:
            claims = verify_access_token(token, self._secret, now)
            identity = Identity(claims.user_id, claims.role, claims.session_id, claims.expires_at)
            self._keep(token, identity, now)
        elif now >= identity.expires_at:
            del self._known[token]
            raise InvalidTokenError("the token has expired")
        if identity.session_id in self._revoked:
            raise InvalidTokenError("the session has ended")
        return identity

    def _keep(self, token: str, identity: Identity, now: float) -> None:
        if len(self._known) >= TOKENS_KEPT_MAX:
            self._known = {text: kept for text, kept in self._known.items() if kept.expires_at > now}
            while len(self._known) >= TOKENS_KEPT_MAX:
                del self._known[next(iter(self._known))]
        self._known[token] = identity


def required_identity(context: RequestContext) -> Identity:
    """The identity of a request that needs one. Raises EdgeError (401) with the reason."""
    if context.identity is None:
        raise EdgeError(401, context.refusal, "UNAUTHENTICATED", headers=_CHALLENGE)
    return context.identity


def is_public(method: str, path: str) -> bool:
    """Whether a route may be asked for without a token. `path` may hold `{parameters}`."""
    if not path.startswith(f"{PREFIX}/"):
        return True
    return (method, path) in PUBLIC_ROUTES or (
        method == "GET" and (path == _MARKETS or path.startswith(f"{_MARKETS}/"))
    )
