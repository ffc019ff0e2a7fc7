"""API keys as a kind of credential of HTTP services."""

from typing import Any

from openspot.http.api_keys.checker import ApiKey, ApiKeyChecker, SignedRequest
from openspot.http.authentication import CredentialsError
from openspot.http.context import Identity, RequestContext
from openspot.http.policy import Access

KEY, TIMESTAMP, SIGNATURE = b"x-api-key", b"x-api-timestamp", b"x-api-signature"
HELD_KEY = "openspot.api_key"
"""Where a scope holds the key that signed it. The requests on a WebSocket connection have that of its handshake."""


class ApiKeys:
    """Requests signed with an API key: `X-API-Key`, `X-API-Timestamp` and `X-API-Signature`."""

    name = "apiKey"
    scheme: dict[str, Any] = {  # noqa: RUF012
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "with X-API-Timestamp (milliseconds since 1970, within 5 s of the server's time) and "
        "X-API-Signature: of timestamp + METHOD + path with query + raw body, as hex HMAC-SHA256, or as base64 Ed25519",
    }
    grants: tuple[Access, ...] = (Access.USER,)
    limited = True
    missing = "an API key with a signature"

    def __init__(self, checker: ApiKeyChecker) -> None:
        self._checker = checker

    async def identify(self, context: RequestContext) -> Identity | None:
        """The owner of the key that signed the request, or the handshake of its connection. None without one.

        Raises CredentialsError, and HttpError if the body cannot be read or repetitions cannot be found.
        """
        held: ApiKey | None = context.scope.get(HELD_KEY)
        if held is not None:
            if not await self._checker.is_current(held):
                raise CredentialsError("the API key was rotated or revoked")
            return held.identity
        key_id = context.header(KEY)
        if key_id is None:
            return None
        timestamp, signature = context.header(TIMESTAMP), context.header(SIGNATURE)
        if timestamp is None or signature is None:
            raise CredentialsError("X-API-Key needs X-API-Timestamp and X-API-Signature")
        if context.takes_body:
            await context.read_body()
        elif context.has_body:
            raise CredentialsError("a signed request must not have a body that the route does not read")
        key = await self._checker.check(
            SignedRequest(key_id, timestamp, signature, context.method, context.target, context.body, context.address)
        )
        context.scope[HELD_KEY] = key
        return key.identity
