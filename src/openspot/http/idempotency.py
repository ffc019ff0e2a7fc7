"""Requests that may be repeated safely: the interface between the pipeline and a store of responses.

A route declares `idempotency=True`. If the service has a store and the request names a key in `Idempotency-Key`, the
store decides whether the request runs or an earlier response is sent again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from openspot.http.context import RequestContext

HEADER = b"idempotency-key"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A whole response: status, the handler's own headers, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class IdempotencyStore(Protocol):
    """Responses by caller and key."""

    async def run(
        self, key: str, context: RequestContext, execute: Callable[[], Awaitable[StoredResponse]]
    ) -> StoredResponse:
        """Return the stored response for this caller and `key`, or else run `execute` and return its response.

        Raises HttpError (409) for a key that came with another request or whose first request still runs, and what
        `execute` raises.
        """
