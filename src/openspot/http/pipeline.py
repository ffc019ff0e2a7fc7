"""The request pipeline: one ASGI application around all routes of a service.

In this order: request id; the route and its policy; the bound on requests at a time; identity; throttle; the operator,
if the route is for operators; a place in the audit trail, if it is audited; the guard; the body, whole, within its
bounds; idempotency; the handler; and at the end the audit record. Any exception becomes a response in the shape of
`errors`; a fault of our own is logged with the request id, and the client sees nothing of it.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from prometheus_client import Counter, Gauge, Histogram
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from openspot.http.audit import PATH_LENGTH_MAX, AuditRecord, AuditSink
from openspot.http.authentication import Authenticator, CredentialsError, Guard
from openspot.http.context import SCOPE_KEY, BodyLimits, Identity, RequestContext
from openspot.http.errors import ErrorTranslation, HttpError, as_http_error, error_body, service_unavailable
from openspot.http.idempotency import HEADER as IDEMPOTENCY_KEY
from openspot.http.idempotency import IdempotencyStore, StoredResponse, is_outcome
from openspot.http.policy import PUBLIC, Access, ThrottleClass
from openspot.http.routing import BodyKind, Route, RouteTable, WebSocketRoute
from openspot.http.throttle import Throttle, caller_key
from openspot.kit.log import get_logger

log = get_logger("http")

RESPONSES = Counter("openspot_http_responses_total", "Responses by status", ["status"])
THROTTLED = Counter("openspot_http_throttled_total", "Requests refused by a throttle")
FAULTS = Counter("openspot_http_faults_total", "Requests that ended in a fault of the service itself")
IN_FLIGHT = Gauge("openspot_http_in_flight", "Requests that are being worked on")
SECONDS = Histogram(
    "openspot_http_seconds",
    "Time of a request until its response, health and metrics left out; a fault is a status from 500 on",
    ["outcome"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
ANSWERED, FAULT = SECONDS.labels("answered"), SECONDS.labels("fault")

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
JSON_TYPE = (b"content-type", b"application/json")
PIPELINE_KEY = "openspot.pipeline"
"""Where a scope holds its pipeline: for requests that come on a WebSocket connection (`inner_requests`), and for a
request that stands for another one."""


@dataclass(frozen=True, slots=True)
class PipelineLimits:
    """Bounds of one process: on the size of a body, and on the number of requests at a time."""

    body: BodyLimits
    requests_max: int


class Pipeline:
    """A service's routes as an ASGI application, for HTTP and WebSocket."""

    def __init__(
        self,
        routes: Sequence[Route],
        websockets: Sequence[WebSocketRoute],
        *,
        authenticators: Sequence[Authenticator],
        throttles: Mapping[ThrottleClass, Throttle],
        audit: AuditSink | None,
        idempotency: IdempotencyStore | None,
        translations: Mapping[type[Exception], ErrorTranslation],
        limits: PipelineLimits,
        next_request_id: Callable[[], str],
        unthrottled: Collection[str] = (),
    ) -> None:
        """No throttle counts the users in `unthrottled`.

        Raises ValueError if a route cannot be served as its policy says.
        """
        for route in routes:
            if route.policy.audit and audit is None:
                raise ValueError(f"{route.method} {route.path} is audited, and there is no audit sink")
        self._table = RouteTable(routes)
        self._websockets = {route.path: route for route in websockets}
        served: list[Route | WebSocketRoute] = [*routes, *websockets]
        self._guards = {id(route): Guard(route.policy, authenticators) for route in served}
        # Sessions of operators are looked up at every request, so only routes of operators ask for them.
        self._of_operators = tuple(kind for kind in authenticators if Access.OPERATOR in kind.grants)
        self._authenticators = tuple(kind for kind in authenticators if Access.OPERATOR not in kind.grants)
        self._throttles = dict(throttles)
        self._unthrottled = frozenset(unthrottled)
        self._audit = audit
        self._idempotency = idempotency
        self._translations = translations
        self._limits = limits
        self._next_request_id = next_request_id
        self._in_flight = 0
        self._counters: dict[int, Counter] = {}
        IN_FLIGHT.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or serve one WebSocket connection."""
        if scope["type"] == "websocket":
            await self._serve_websocket(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"this application does not take {scope['type']} connections")
        began = time.perf_counter()
        context = RequestContext(self._next_request_id(), scope, receive, self._limits.body)
        scope[SCOPE_KEY], scope[PIPELINE_KEY] = context, self
        reserved = False
        is_timed = True
        self._in_flight += 1
        try:
            context.read_head()
            try:
                route, parameters = self._table.find(context.method, context.path)
            except HttpError:
                # The throttle counts requests for unknown paths too, so the caller must be known.
                await self._identify(context, self._authenticators)
                await self._pass_throttle(context, PUBLIC.throttle)
                raise
            is_timed = route.policy.throttle is not ThrottleClass.EXEMPT
            context.takes_body = route.body is BodyKind.JSON
            context.is_download = route.policy.is_download
            context.parameters = parameters
            if self._in_flight > self._limits.requests_max:
                raise service_unavailable("too many requests at a time", "OVERLOADED")
            failure = await self._identify(context, self._authenticators)
            if self._throttles:
                await self._pass_throttle(context, route.policy.throttle)
            if failure is None and route.policy.permission is not None:
                # After the throttle: it asks the database or the engine.
                context.identity, context.refusal = None, ""
                failure = await self._identify(context, self._of_operators)
            if failure is not None:
                raise failure
            if route.policy.audit:
                reserved = await self._reserve()
            self._guards[id(route)].admit(context)
            if route.body is BodyKind.JSON:
                await context.read_body()
            elif route.body is BodyKind.RAW:
                await context.read_raw_body()
            await self._handle(route, parameters, context, send)
        except Exception as error:
            await self._respond_with_error(error, send, context)
        finally:
            # Scope and context hold each other. Left so, only a search for cyclic garbage would free the request.
            del scope[SCOPE_KEY]
            self._in_flight -= 1
            self._count(context.status)
            seconds = time.perf_counter() - began
            if is_timed:
                (FAULT if context.status >= 500 else ANSWERED).observe(seconds)
            if reserved and self._audit is not None:
                self._audit.record(_audit_record(context, seconds))

    async def caller_of(self, scope: Scope) -> Identity:
        """Whose credential a scope carries. Raises HttpError (401) if it carries no valid one."""
        context = RequestContext(self._next_request_id(), scope, _nothing, self._limits.body)
        context.read_head()
        failure = await self._identify(context, self._authenticators)
        if failure is not None:
            raise failure
        if context.identity is None:
            raise HttpError(401, context.refusal or "no credential", "UNAUTHENTICATED")
        return context.identity

    # Before the handler

    async def _identify(self, context: RequestContext, kinds: Sequence[Authenticator]) -> Exception | None:
        """Find the caller. Returns why that was not possible, for example a signed body that is too large.

        It is not raised, because such a request must pass the throttle too.
        """
        for kind in kinds:
            try:
                identity = await kind.identify(context)
            except CredentialsError as error:
                context.refusal = context.refusal or str(error)
                continue
            except Exception as error:
                return error
            if identity is not None:
                context.identity = identity
                return None
        return None

    async def _pass_throttle(self, context: RequestContext, throttle_class: ThrottleClass) -> None:
        throttle = self._throttles.get(throttle_class)
        if throttle is None:
            return
        identity = context.identity
        if identity is not None and identity.subject in self._unthrottled:
            return
        outcome = await throttle.hit(caller_key(identity.subject if identity else None, context.address))
        context.headers.extend(outcome.headers())
        if not outcome.allowed:
            THROTTLED.inc()
            raise HttpError(429, f"too many requests: try again in {outcome.retry_after_s} s")

    async def _reserve(self) -> bool:
        assert self._audit is not None, "an audited route needs a sink"
        if not await self._audit.reserve():
            raise service_unavailable("the audit trail is not available", "AUDIT_UNAVAILABLE")
        return True

    # The handler

    async def _handle(self, route: Route, parameters: dict[str, str], context: RequestContext, send: Send) -> None:
        if route.policy.idempotency and self._idempotency is not None:
            key = context.header(IDEMPOTENCY_KEY)
            if key is not None:

                async def execute() -> StoredResponse:
                    try:
                        return await _recorded(lambda send: self._run(route, parameters, context, send))
                    except Exception as error:
                        known = as_http_error(error, self._translations)
                        if known.status_code >= 500:
                            raise
                        if not is_outcome(known):
                            raise known from error
                        return StoredResponse(*_refusal_parts(known, context))

                response = await self._idempotency.run(key, context, execute)
                await _send(send, context, response.status, [*response.headers], response.body)
                return
        if route.fast_path is not None:
            answer = await route.fast_path(context)
            if answer is not None:
                await _send(send, context, answer.status, [*answer.headers, JSON_TYPE], answer.body)
                return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                message["headers"] = _all_headers(context, message.get("headers", []))
            await send(message)

        await self._run(route, parameters, context, send_with_headers)

    async def _run(self, route: Route, parameters: dict[str, str], context: RequestContext, send: Send) -> None:
        scope = context.scope
        # Change a copy: the server must still see HEAD, for which it drops the body of the response.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        inner = {**scope, "method": method, "path_params": parameters}
        receive = context.receive if route.body is BodyKind.IGNORED else _body_again(context)
        await route.application(inner, receive, send)

    # Responses

    async def _respond_with_error(self, error: Exception, send: Send, context: RequestContext) -> None:
        known = as_http_error(error, self._translations)
        if known is not error and known.status_code >= 500:
            FAULTS.inc()
            about = {"request_id": context.request_id, "method": context.method, "path": context.path}
            if known.status_code == 500:
                log.error("request failed", exc_info=error, **about)
            else:
                log.warning("request failed", error=repr(error), **about)
        if context.status:
            return
        status, headers, body = _refusal_parts(known, context)
        if context.is_download:
            headers = (*headers, *REFUSED_FILE)
        # A browser that navigates would leave its page for the refusal; at status 200 it saves the refusal as a file.
        is_saved = context.is_download and (b"sec-fetch-mode", b"navigate") in context.scope["headers"]
        await _send(send, context, 200 if is_saved else status, [*headers], body)
        context.status = status

    def _count(self, status: int) -> None:
        counter = self._counters.get(status)
        if counter is None:
            counter = self._counters[status] = RESPONSES.labels(status)
        counter.inc()

    # WebSocket

    async def _serve_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        context = RequestContext(self._next_request_id(), scope, receive, self._limits.body)
        scope[SCOPE_KEY], scope[PIPELINE_KEY] = context, self
        route = self._websockets.get(scope["path"])
        try:
            context.read_head()
            if route is None:
                raise HttpError(404, "no such route", "ROUTE_NOT_FOUND")
            failure = await self._identify(context, self._authenticators)
            await self._pass_throttle(context, route.policy.throttle)
            if failure is not None:
                raise failure
            self._guards[id(route)].admit(context)
            await route.handler(WebSocket(scope, receive, send))
        except HttpError as error:
            await _deny(receive, send, context, error)


REFUSED_FILE = (
    (b"content-disposition", b'attachment; filename="refused.json"'),
    (b"referrer-policy", b"no-referrer"),
)
"""Headers of a refusal where a file was expected."""


async def _nothing() -> Message:
    """What a scope without a request receives."""
    return {"type": "http.disconnect"}


def _refusal_parts(error: HttpError, context: RequestContext) -> tuple[int, tuple[tuple[bytes, bytes], ...], bytes]:
    """Status, headers and body of the response for `error`."""
    headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
    return error.status_code, (JSON_TYPE, *headers), error_body(error, context.request_id)


def _all_headers(context: RequestContext, given: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    names = {name.lower() for name, _ in given}
    return [*given, *context.headers, *(header for header in SECURITY_HEADERS if header[0] not in names)]


async def _send(
    send: Send, context: RequestContext, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    context.status = status
    length = (b"content-length", b"%d" % len(body))
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, length, *context.headers, *SECURITY_HEADERS],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def _deny(receive: Receive, send: Send, context: RequestContext, error: HttpError) -> None:
    """Refuse a WebSocket handshake with an HTTP response."""
    RESPONSES.labels(error.status_code).inc()
    body = error_body(error, context.request_id)
    headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
    message = await receive()
    assert message["type"] == "websocket.connect", "a handshake begins with it"
    length = (b"content-length", b"%d" % len(body))
    await send(
        {
            "type": "websocket.http.response.start",
            "status": error.status_code,
            "headers": [JSON_TYPE, length, *headers, *context.headers],
        }
    )
    await send({"type": "websocket.http.response.body", "body": body})


def _body_again(context: RequestContext) -> Receive:
    """Return a `receive` that gives the body again, then the server's further messages."""
    if not context.body_was_read:
        return context.receive
    messages: list[Message] = [{"type": "http.request", "body": context.body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await context.receive()

    return receive


async def _recorded(run: Callable[[Send], Awaitable[None]]) -> StoredResponse:
    """The whole response of an application."""
    status, headers, chunks = 500, (), list[bytes]()

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = tuple(header for header in message["headers"] if header[0].lower() != b"content-length")
        else:
            chunks.append(message.get("body", b""))

    await run(send)
    return StoredResponse(status, headers, b"".join(chunks))


def _audit_record(context: RequestContext, seconds: float) -> AuditRecord:
    # The path as it came, percent-encoded: every character of it fits into the database.
    raw: Any = context.scope.get("raw_path") or context.path.encode()
    path = raw[:PATH_LENGTH_MAX].decode("ascii", "backslashreplace").replace("\x00", "")
    return AuditRecord(
        request_id=context.request_id,
        user_id=context.identity.subject if context.identity else None,
        method=context.method,
        path=path,
        status=context.status,
        address=context.address,
        duration_ms=seconds * 1000,
        created_at=datetime.now(UTC),
    )
