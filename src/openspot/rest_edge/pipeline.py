"""What every request passes through, as one plain ASGI application.

In this order: request id; identity from the access token; throttle; a place in the audit queue, for what may
change something; the guard; the body, whole, within its bound and its time; then the handler; and at the end the audit
record. Routes that are asked for most are looked up directly by method and path, all others are FastAPI's. Any
exception becomes an answer in the edge's error shape; a fault of our own is logged with the request id, and the
client sees nothing of it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from prometheus_client import Counter, Gauge
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openspot.kit.log import get_logger
from openspot.rest_edge.audit import PATH_LENGTH_MAX, AuditRecord, AuditTrail
from openspot.rest_edge.authentication import PREFIX, Authentication, is_public, required_identity
from openspot.rest_edge.context import SCOPE_KEY, RequestContext
from openspot.rest_edge.errors import EdgeError, as_edge_error, error_body, service_unavailable
from openspot.rest_edge.throttle import Throttle, caller_key

log = get_logger("rest-edge")

CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
DISCARDED_BYTES_MAX = 1_048_576
UNTHROTTLED_PATHS = frozenset(
    base + path for base in ("", PREFIX) for path in ("/health", "/health/live", "/health/ready", "/ready", "/metrics")
)

ANSWERS = Counter("openspot_rest_answers_total", "Answers of the REST edge", ["status"])
THROTTLED = Counter("openspot_rest_throttled_total", "Requests refused by the throttle")
FAULTS = Counter("openspot_rest_faults_total", "Requests that ended in a fault of the edge itself")
IN_FLIGHT = Gauge("openspot_rest_in_flight", "Requests that are being worked on")

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
JSON_TYPE = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """What a directly looked-up handler answers."""

    status: int
    body: bytes


DirectHandler = Callable[[RequestContext], Awaitable[DirectAnswer]]


@dataclass(frozen=True, slots=True)
class PipelineLimits:
    """Bounds of one process: bytes and seconds of a body, requests at a time."""

    body_bytes_max: int
    body_s_max: float
    requests_max: int


class Pipeline:
    """The edge as an ASGI application, around FastAPI's `app`."""

    def __init__(
        self,
        app: ASGIApp,
        direct: Mapping[tuple[str, str], DirectHandler],
        authentication: Authentication,
        throttle: Throttle | None,
        audit: AuditTrail,
        limits: PipelineLimits,
        next_request_id: Callable[[], str],
    ) -> None:
        self._app = app
        self._direct = direct
        self._authentication = authentication
        self._throttle = throttle
        self._audit = audit
        self._limits = limits
        self._next_request_id = next_request_id
        self._in_flight = 0
        self._counters: dict[int, Counter] = {}
        IN_FLIGHT.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the REST edge does not take {scope['type']} connections")
        began = time.perf_counter()
        method, path = scope["method"], scope["path"]
        client = scope.get("client")
        context = RequestContext(self._next_request_id(), method, path, client[0] if client else "")
        context.headers.append((b"x-request-id", context.request_id.encode()))
        scope[SCOPE_KEY] = context
        reserved = False
        self._in_flight += 1
        try:
            authorization, length, content_type = _headers_of(scope)
            self._authentication.identify(context, authorization)
            if self._in_flight > self._limits.requests_max:
                raise service_unavailable("too many requests at a time", "OVERLOADED")
            if self._throttle is not None and path not in UNTHROTTLED_PATHS:
                await self._pass_throttle(context)
            if method in CHANGING_METHODS:
                reserved = await self._audit.reserve()
                if not reserved:
                    raise service_unavailable("the audit trail is not available", "AUDIT_UNAVAILABLE")
            if context.identity is None and not is_public(method, path):
                required_identity(context)
            if length != 0:
                context.body = await self._read_body(receive, length, content_type)
            direct = self._direct.get((method, path))
            if direct is not None:
                outcome = await direct(context)
                await _send_json(send, context, outcome.status, outcome.body)
            else:
                await self._run_app(scope, send, context)
        except Exception as error:
            await self._answer_error(error, send, context)
        finally:
            self._in_flight -= 1
            self._count(context.status)
            if reserved:
                self._audit.record(_audit_record(scope, context, time.perf_counter() - began))

    async def _pass_throttle(self, context: RequestContext) -> None:
        assert self._throttle is not None
        identity = context.identity
        outcome = await self._throttle.hit(caller_key(identity.user_id if identity else None, context.address))
        context.headers.extend(outcome.headers())
        if not outcome.allowed:
            THROTTLED.inc()
            raise EdgeError(429, f"too many requests: try again in {outcome.retry_after_s} s")

    async def _read_body(self, receive: Receive, length: int | None, content_type: bytes) -> bytes:
        if length is not None and length > self._limits.body_bytes_max:
            await self._discard_body(receive)
            raise self._too_large()
        media_type = content_type.partition(b";")[0].strip().lower()
        if media_type != b"application/json":
            raise EdgeError(415, "the body must be JSON: Content-Type: application/json")
        try:
            async with asyncio.timeout(self._limits.body_s_max):
                message = await receive()
                body: bytes = message.get("body", b"")
                while message.get("more_body", False) and message["type"] == "http.request":
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > self._limits.body_bytes_max:
                        raise self._too_large()
        except TimeoutError as error:
            raise EdgeError(408, "the body did not arrive in time", "BODY_TIMEOUT") from error
        if message["type"] != "http.request":
            raise EdgeError(400, "the connection was closed before the body was complete")
        if len(body) > self._limits.body_bytes_max:
            raise self._too_large()
        return body

    async def _discard_body(self, receive: Receive) -> None:
        """Read past a body that is too large, up to a bound: closed before that, a client may not see the answer."""
        rest = DISCARDED_BYTES_MAX
        try:
            async with asyncio.timeout(self._limits.body_s_max):
                message = await receive()
                while message.get("more_body", False) and rest > 0:
                    rest -= len(message.get("body", b""))
                    message = await receive()
        except TimeoutError:
            return

    def _too_large(self) -> EdgeError:
        # What is left of the body is not read: the connection cannot serve another request.
        return EdgeError(
            413,
            f"the body must be at most {self._limits.body_bytes_max} bytes long",
            headers={"Connection": "close"},
        )

    async def _run_app(self, scope: Scope, send: Send, context: RequestContext) -> None:
        body: Message | None = {"type": "http.request", "body": context.body, "more_body": False}

        async def receive_read_body() -> Message:
            nonlocal body
            message = body or {"type": "http.disconnect"}
            body = None
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                given = message.get("headers", [])
                names = {name.lower() for name, _ in given}
                message["headers"] = [
                    *given,
                    *context.headers,
                    *(header for header in SECURITY_HEADERS if header[0] not in names),
                ]
            await send(message)

        await self._app(scope, receive_read_body, send_with_headers)

    async def _answer_error(self, error: Exception, send: Send, context: RequestContext) -> None:
        known = as_edge_error(error)
        if known is not error and known.status_code >= 500:
            FAULTS.inc()
            about = {"request_id": context.request_id, "method": context.method, "path": context.path}
            if known.status_code == 500:
                log.error("request failed", exc_info=error, **about)
            else:
                log.warning("request failed", error=repr(error), **about)
        if context.status:
            return
        headers = [(name.lower().encode(), value.encode()) for name, value in (known.headers or {}).items()]
        context.headers.extend(headers)
        await _send_json(send, context, known.status_code, error_body(known, context.request_id))

    def _count(self, status: int) -> None:
        counter = self._counters.get(status)
        if counter is None:
            counter = self._counters[status] = ANSWERS.labels(status)
        counter.inc()


def _headers_of(scope: Scope) -> tuple[bytes | None, int | None, bytes]:
    """(authorization, body length or None if it is not said beforehand, content type)."""
    authorization: bytes | None = None
    length: int | None = 0
    content_type = b""
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
        elif name == b"content-length":
            length = int(value) if value.isdigit() else None
        elif name == b"transfer-encoding":
            length = None
        elif name == b"content-type":
            content_type = value
    return authorization, length, content_type


async def _send_json(send: Send, context: RequestContext, status: int, body: bytes) -> None:
    context.status = status
    headers = [JSON_TYPE, (b"content-length", b"%d" % len(body)), *context.headers, *SECURITY_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _audit_record(scope: Scope, context: RequestContext, seconds: float) -> AuditRecord:
    # The path as it came, percent-encoded: it holds no character that the database would not take.
    raw: Any = scope.get("raw_path") or context.path.encode()
    path = raw[:PATH_LENGTH_MAX].decode("ascii", "backslashreplace").replace("\x00", "")
    return AuditRecord(
        context.request_id,
        context.identity.user_id if context.identity else None,
        context.method,
        path,
        context.status,
        context.address,
        seconds * 1000,
        datetime.now(UTC),
    )
