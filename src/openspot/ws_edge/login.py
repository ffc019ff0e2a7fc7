"""Login by API key: with the headers of a signed request at the handshake, or with the action `authenticate`.

Both sign the same text: timestamp, `GET`, and the path with the query, which is `/` for the action. A connection needs
the scope `read`, since all that it gives is the user's events.
"""

import asyncpg

from openspot.http.api_keys.checker import ApiKey, ApiKeyChecker, SignedRequest
from openspot.http.authentication import CredentialsError
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.policy import Scope
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.tokens import TIME_MAX, Claims

METHOD, PATH = "GET", "/"
FAILED_LOGINS_MAX = 5
"""Wrong `authenticate` messages of one connection; after them it is closed."""


async def login(checker: ApiKeyChecker, request: SignedRequest) -> ApiKey:
    """The key that signed `request`.

    Raises HttpError: 401 for a wrong signature, 403 without the scope `read`, 503 if keys cannot be looked up now.
    """
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
    """What a connection of this key is treated as: a session of its user that does not expire by itself."""
    return Claims(key.identity.user_id, "user", TIME_MAX)
