"""Login by access token or by API key: at the handshake, or with the action `authenticate`.

A client with a key puts its signature into the headers of the handshake, or into the fields of the action. The signed
text is the same: timestamp, `GET`, and the path with the query, which is `/` for the action. A key needs the scope
`read`, because a connection only gives the user's events.
"""

from collections.abc import Awaitable, Callable

import asyncpg

from openspot.http.api_keys.checker import ApiKey, ApiKeyChecker, SignedRequest
from openspot.http.authentication import CredentialsError
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.policy import Scope
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.tokens import TIME_MAX, Claims, InvalidTokenError, verify_access_token

METHOD, PATH = "GET", "/"
FAILED_LOGINS_MAX = 5
"""A connection is closed after this many wrong `authenticate` messages."""


SESSION_ENDED = "the session has ended"


class TokenChecker:
    """Checks access tokens. `has_ended` looks a session up; `wall_clock` returns seconds since 1970."""

    def __init__(
        self, secret: str, has_ended: Callable[[str], Awaitable[bool]], wall_clock: Callable[[], float]
    ) -> None:
        self._secret = secret
        self._has_ended = has_ended
        self._wall_clock = wall_clock

    async def check(self, token: str) -> Claims:
        """The claims of a token. Raises InvalidTokenError, and BusUnavailableError if no session can be looked up."""
        claims = verify_access_token(token, self._secret, self._wall_clock())
        if claims.session_id and await self._has_ended(claims.session_id):
            raise InvalidTokenError(SESSION_ENDED)
        return claims


async def login(checker: ApiKeyChecker | None, request: SignedRequest) -> ApiKey:
    """The key that signed `request`. `checker` is None for an edge without a database.

    Raises HttpError: 401 for a wrong signature, 403 without the scope `read`, 503 if keys cannot be looked up now.
    """
    if checker is None:
        raise service_unavailable("this edge has no database to look API keys up in")
    try:
        key = await checker.check(request)
    except CredentialsError as error:
        raise HttpError(401, str(error), "INVALID_CREDENTIAL") from error
    except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
        raise service_unavailable("API keys cannot be looked up now") from error
    if Scope.READ not in (key.identity.scopes or ()):
        raise HttpError(403, "the credential lacks the scope read", "INSUFFICIENT_SCOPE")
    return key


def claims_of(key: ApiKey) -> Claims:
    """The claims of a connection with this key: those of a session of the key's user that does not expire by itself."""
    return Claims(key.identity.user_id, "user", TIME_MAX)
