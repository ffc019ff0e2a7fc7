"""Requests that come as messages of a WebSocket connection, and are handled as if each had come over HTTP.

Every request passes the whole pipeline: identity, throttle, audit, guard, bounds of the body, idempotency. So it has
the reply of the same request over HTTP, and counts in the same limits. The credential of the handshake is checked
again at each request: an expired token, an ended session or a revoked API key is refused from then on.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.types import Message
from starlette.types import Scope as AsgiScope

from openspot.http.api_keys.authenticator import HELD_KEY
from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.http.idempotency import HEADER as IDEMPOTENCY_KEY
from openspot.http.pipeline import PIPELINE_KEY, Pipeline


@dataclass(frozen=True, slots=True)
class InnerReply:
    """What the same request would get over HTTP. Names of headers are in lower case."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class InnerRequests:
    """Handles the requests of one connection."""

    def __init__(self, handshake: AsgiScope) -> None:
        """`handshake` is the scope of a WebSocket connection that the pipeline has admitted."""
        self._pipeline: Pipeline = handshake[PIPELINE_KEY]
        kept = ("asgi", "http_version", "server", "client", "root_path", HELD_KEY)
        self._common = {name: handshake[name] for name in kept if name in handshake} | {"scheme": "http"}
        self._credential = [header for header in handshake["headers"] if header[0] == b"authorization"]

    async def renew(self, token: str, user_id: str) -> Identity:
        """Use another access token of the same user from now on. Raises HttpError (401) for one that is not valid.

        A connection with an API key stays with its key, so that it can do no more than the key may: 401.
        """
        if HELD_KEY in self._common:
            raise HttpError(401, "the connection has an API key: open another one for a token", "UNAUTHENTICATED")
        credential = [(b"authorization", b"Bearer " + token.encode())]
        identity = await self._pipeline.caller_of(self._scope("GET", "/", credential))
        if identity.user_id != user_id:
            raise HttpError(401, "the token is another user's", "UNAUTHENTICATED")
        self._credential = credential
        return identity

    async def ask(self, method: str, path: str, body: bytes, idempotency_key: str | None) -> InnerReply:
        """The reply to one request. An empty `body` is none."""
        headers = [*self._credential, (b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        if idempotency_key is not None:
            headers.append((IDEMPOTENCY_KEY, idempotency_key.encode()))
        is_read = False
        status, own, chunks = 500, list[tuple[bytes, bytes]](), list[bytes]()

        async def receive() -> Message:
            nonlocal is_read
            if is_read:
                return {"type": "http.disconnect"}
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, own
            if message["type"] == "http.response.start":
                status, own = message["status"], message["headers"]
            else:
                chunks.append(message.get("body", b""))

        await self._pipeline(self._scope(method, path, headers), receive, send)
        return InnerReply(status, own, b"".join(chunks))

    def _scope(self, method: str, path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
        return self._common | {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": quote(path, safe="/:").encode(),
            "query_string": b"",
            "headers": headers,
        }
