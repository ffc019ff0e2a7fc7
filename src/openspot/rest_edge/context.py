"""What the edge knows of one request, from its first byte to its audit record."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

SCOPE_KEY = "openspot.context"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a valid access token speaks for. `expires_at` in seconds since 1970."""

    user_id: str
    role: str
    session_id: str
    expires_at: int


class RequestContext:
    """One request. `identity` is None where there is no valid token; `refusal` then says why."""

    __slots__ = ("address", "body", "headers", "identity", "method", "path", "refusal", "request_id", "status")

    def __init__(self, request_id: str, method: str, path: str, address: str) -> None:
        self.request_id = request_id
        self.method = method
        self.path = path
        self.address = address
        self.identity: Identity | None = None
        self.refusal = ""
        self.body = b""
        self.status = 0
        """Status code of the answer, 0 as long as none has begun."""
        self.headers: list[tuple[bytes, bytes]] = []
        """Headers that the answer gets, whoever makes it."""


def context_of(request: Request) -> RequestContext:
    """The context that the pipeline made for `request`."""
    context: RequestContext = request.scope[SCOPE_KEY]
    return context


def request_ids(prefix: str) -> Callable[[], str]:
    """Ids that are unique as long as `prefix` is: a count behind it, in base 16."""
    serial = 0

    def next_id() -> str:
        nonlocal serial
        serial += 1
        return f"{prefix}-{serial:x}"

    return next_id
