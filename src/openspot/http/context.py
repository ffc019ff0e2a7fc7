"""One request as the pipeline sees it, from its head to its audit record."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from starlette.requests import HTTPConnection
from starlette.types import Receive
from starlette.types import Scope as AsgiScope

from openspot.domain.ids import ORDER_ID_LENGTH, short_id
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.http.policy import Access, Scope

SCOPE_KEY = "openspot.context"
DISCARDED_BYTES_MAX = 1_048_576
"""How many bytes of a too large body are read and dropped, so that its sender sees the refusal."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of a valid credential, and what it gives access to.

    `subject` is the user's or participant's id, or the service's name. `scopes` is None for an unlimited credential.
    `expires_at` is in seconds since 1970, 0 for a credential that does not expire. `staking_balance` is the user's
    stake as the access token states it, None if it states none. `operator` is who calls a route of operators.
    """

    subject: str
    access: Access
    scopes: frozenset[Scope] | None = None
    session_id: str = ""
    expires_at: float = 0
    staking_balance: Decimal | None = None
    operator: Operator | None = None

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self.subject


@dataclass(frozen=True, slots=True)
class IdempotentOperation:
    """The work of a request. It is done once for its `operation_id`, however often the request is repeated.

    `is_resumed` says that an earlier run under this id may have done it already. The handler must look before it acts.
    """

    operation_id: str
    is_resumed: bool = False


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Bounds of a body: its bytes, and the seconds within which it must arrive completely."""

    bytes_max: int
    seconds_max: float


class RequestContext:
    """One request. `identity` is None if no credential was valid; `refusal` then says why."""

    __slots__ = (
        "_length", "_limits", "address", "authorization", "body", "body_was_read", "content_type", "headers",
        "identity", "is_download", "method", "operation", "parameters", "path", "receive", "refusal", "request_id",
        "scope", "status", "takes_body",
    )  # fmt: skip

    def __init__(self, request_id: str, scope: AsgiScope, receive: Receive, limits: BodyLimits) -> None:
        client = scope.get("client")
        self.request_id = request_id
        self.scope = scope
        self.method: str = scope.get("method", "GET")
        self.path: str = scope["path"]
        self.address: str = client[0] if client else ""
        self.identity: Identity | None = None
        self.refusal = ""
        self.body = b""
        self.body_was_read = False
        self.status = 0
        """Status code of the response, 0 as long as none has begun."""
        self.headers: list[tuple[bytes, bytes]] = [(b"x-request-id", request_id.encode())]
        """Headers that every response to this request gets."""
        self.authorization: bytes | None = None
        self.content_type = b""
        self.parameters: dict[str, str] = {}
        """What stands in the path for the parameters of the route."""
        self.takes_body = False
        """Whether the route reads a JSON body."""
        self.is_download = False
        """Whether a browser saves the response as a file."""
        self.operation: IdempotentOperation | None = None
        """The operation of a request that came with an `Idempotency-Key`."""
        self.receive = receive
        self._limits = limits
        self._length: int | None = 0
        """The body's length in bytes, None if the client did not announce it."""

    @property
    def has_body(self) -> bool:
        """Whether the client sends a body that has not been read yet."""
        return self._length != 0

    @property
    def target(self) -> bytes:
        """The path with the query, as they were sent."""
        path: bytes = self.scope.get("raw_path") or self.path.encode()
        query: bytes = self.scope["query_string"]
        return path + b"?" + query if query else path

    def read_head(self) -> None:
        """Read the parts of the head that the pipeline needs.

        Raises HttpError (400) for two Authorization headers: it would be unclear which one counts.
        """
        for name, value in self.scope["headers"]:
            if name == b"authorization":
                if self.authorization is not None:
                    raise HttpError(400, "the header Authorization must be given once", "REPEATED_HEADER")
                self.authorization = value
            elif name == b"content-length":
                self._length = int(value) if value.isdigit() else None
            elif name == b"transfer-encoding":
                self._length = None
            elif name == b"content-type":
                self.content_type = value

    def header(self, name: bytes) -> str | None:
        """The value of the header `name`, which is in lower case. Raises HttpError (400) if it is given twice."""
        values = [value for given, value in self.scope["headers"] if given == name]
        if len(values) > 1:
            raise HttpError(400, f"the header {name.decode()} must be given once", "REPEATED_HEADER")
        return values[0].decode("latin-1") if values else None

    async def read_body(self) -> None:
        """Read the whole JSON body into `body`, once.

        Raises HttpError: 415 for another content type, and what `read_raw_body` raises.
        """
        if self._length == 0:
            return
        bytes_max = self._limits.bytes_max
        if self._length is None or self._length <= bytes_max:
            media_type = self.content_type.partition(b";")[0].strip().lower()
            if media_type != b"application/json":
                raise HttpError(415, "the body must be JSON: Content-Type: application/json")
        await self._read(bytes_max)

    async def read_raw_body(self) -> None:
        """Read the whole body of any content type into `body`, once.

        It may be twice as long as a JSON body, so that the application behind the route can refuse it in its own words.
        Raises HttpError: 413 for too many bytes, 408 if it does not come in time, 400 if the connection ends before
        it is complete.
        """
        await self._read(2 * self._limits.bytes_max)

    async def _read(self, bytes_max: int) -> None:
        if self._length == 0:
            return
        if self._length is not None and self._length > bytes_max:
            await self.discard_body()
            raise _too_large(bytes_max)
        try:
            async with asyncio.timeout(self._limits.seconds_max):
                message = await self.receive()
                body: bytes = message.get("body", b"")
                while message.get("more_body", False) and message["type"] == "http.request" and len(body) <= bytes_max:
                    message = await self.receive()
                    body += message.get("body", b"")
        except TimeoutError as error:
            raise _too_late() from error
        if len(body) > bytes_max:
            if message.get("more_body", False):
                await self.discard_body()
            raise _too_large(bytes_max)
        if message["type"] != "http.request":
            raise HttpError(400, "the connection was closed before the body was complete")
        self._length = 0
        self.body, self.body_was_read = body, True

    async def read_file(self, limits: BodyLimits, pause_s_max: float, keep: Callable[[bytes], None]) -> None:
        """Read a body of any content type with bounds of its own, and give `keep` each piece as it comes.

        `keep` may raise HttpError to refuse the rest. Raises HttpError: 413 for too many bytes, 408 if no byte comes
        for `pause_s_max` or the body is not complete in time, 400 if the connection ends before it is complete.
        """
        if self._length is not None and self._length > limits.bytes_max:
            await self.discard_body()
            raise _too_large(limits.bytes_max)
        loop = asyncio.get_running_loop()
        end, size = loop.time() + limits.seconds_max, 0
        while self._length != 0:
            try:
                async with asyncio.timeout_at(min(end, loop.time() + pause_s_max)):
                    message = await self.receive()
            except TimeoutError as error:
                raise _too_late() from error
            if message["type"] != "http.request":
                raise HttpError(400, "the connection was closed before the body was complete")
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if not message.get("more_body", False):
                self._length = 0
            if size > limits.bytes_max:
                await self.discard_body()
                raise _too_large(limits.bytes_max)
            keep(piece)

    async def discard_body(self, bytes_max: int = DISCARDED_BYTES_MAX) -> None:
        """Read and drop what has not been read of a refused body, up to a bound, or its sender may not see why."""
        if self._length == 0:
            return
        rest = bytes_max
        try:
            async with asyncio.timeout(self._limits.seconds_max):
                while rest > 0:
                    message = await self.receive()
                    if not message.get("more_body", False):
                        self._length = 0
                        return
                    rest -= len(message.get("body", b""))
        except TimeoutError:
            return


def _too_late() -> HttpError:
    return HttpError(408, "the body did not arrive in time", "BODY_TIMEOUT", headers={"Connection": "close"})


def _too_large(bytes_max: int) -> HttpError:
    # The rest of the body is not read, so the connection cannot serve another request.
    return HttpError(413, f"the body must be at most {bytes_max} bytes long", headers={"Connection": "close"})


def context_of(request: HTTPConnection) -> RequestContext:
    """The context that the pipeline made for `request`, or for the handshake of a WebSocket connection."""
    context: RequestContext = request.scope[SCOPE_KEY]
    return context


def identity_of(context: RequestContext) -> Identity:
    """The caller of a route that is not open. The guard has made sure that there is one."""
    assert context.identity is not None, "an open route has no caller"
    return context.identity


def caller(request: HTTPConnection) -> Identity:
    """The caller, on a route that is not open."""
    return identity_of(context_of(request))


def operator(request: HTTPConnection) -> Operator:
    """The operator, on a route of operators."""
    found = caller(request).operator
    assert found is not None, "the guard has made sure that an operator calls"
    return found


def operation_of(context: RequestContext) -> IdempotentOperation:
    """The operation of a request, with a new id if it came without an `Idempotency-Key`."""
    return context.operation or new_operation()


def new_operation() -> IdempotentOperation:
    """An operation that nobody has begun. Its id has the form of an order id."""
    return IdempotentOperation(short_id(os.urandom(ORDER_ID_LENGTH)))


def request_ids(prefix: str) -> Callable[[], str]:
    """Return a function that makes ids: `prefix` and a count in base 16. They are as unique as `prefix` is."""
    serial = 0

    def next_id() -> str:
        nonlocal serial
        serial += 1
        return f"{prefix}-{serial:x}"

    return next_id
