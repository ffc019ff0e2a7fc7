"""Routes: each is declared with its policy, and looked up once for each request.

FastAPI handles parameters, bodies and OpenAPI, but not the routing: a table finds the route before the guard, with
a dictionary for literal paths and compiled patterns for the others. FastAPI takes almost a millisecond to read the
signature of a handler, so it reads each at the first request of the route, or for the OpenAPI document.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property, partial
from re import Pattern
from typing import Any, TypeVar

from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from openspot.http.context import RequestContext, context_of
from openspot.http.errors import ERROR_REFERENCE, HttpError
from openspot.http.json_body import MalformedJsonError, decode_json
from openspot.http.policy import Policy
from openspot.http.record_schemas import is_made_of_records
from openspot.http.responses import FastPathResponse

FastPathHandler = Callable[[RequestContext], Awaitable[FastPathResponse | None]]
"""Handles a request without FastAPI, which saves time; the declared handler still documents the route.

It returns None for a request that it leaves to the declared handler, for example one whose parameters need a check.
"""
WebSocketHandler = Callable[[WebSocket], Awaitable[None]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class BodyKind(Enum):
    """What the pipeline does with a request's body."""

    IGNORED = auto()
    """The route takes no body."""
    JSON = auto()
    RAW = auto()
    """The application behind the route reads its content itself, whatever its type."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Route:
    """One method of one path. Its requests go to `fast_path` if there is one, otherwise to `application`.

    It has a `declaration`, or hands the path to an application of another protocol: `delegated`.
    """

    method: str
    path: str
    policy: Policy
    declaration: Callable[[], APIRoute] | None = None
    """Declares the route to FastAPI. Raises what FastAPI raises if it does not understand the handler's signature."""
    delegated: ASGIApp | None = None
    fast_path: FastPathHandler | None = None
    response: Any = None
    """The type of the response's body if it is made of records (msgspec); FastAPI documents other types."""

    @cached_property
    def documented(self) -> APIRoute | None:
        """The route as FastAPI knows it; None if it is delegated."""
        return self.declaration() if self.declaration is not None else None

    @cached_property
    def body(self) -> BodyKind:
        """What the pipeline does with the body of a request."""
        if self.documented is None:
            return BodyKind.RAW
        return BodyKind.JSON if self.documented.body_field is not None else BodyKind.IGNORED

    @cached_property
    def application(self) -> ASGIApp:
        """Handles a request."""
        if self.documented is not None:
            return AsyncExitStackMiddleware(self.documented.app)
        assert self.delegated is not None, "a route without a declaration is delegated"
        return self.delegated


@dataclass(frozen=True, slots=True)
class WebSocketRoute:
    """A path that upgrades to WebSocket."""

    path: str
    policy: Policy
    handler: WebSocketHandler


def _refusal(reason: str) -> dict[str, Any]:
    """A refusal as OpenAPI writes it. With the model instead of its name, FastAPI would make a model for each."""
    return {"description": reason, "content": {"application/json": {"schema": {"$ref": ERROR_REFERENCE}}}}


class Router:
    """The routes of one noun."""

    def __init__(self, prefix: str = "", *, tag: str = "", documented: bool = True) -> None:
        """OpenAPI groups the routes by `tag`, and leaves them out if `documented` is False."""
        self.routes: list[Route] = []
        self.websockets: list[WebSocketRoute] = []
        self._prefix = prefix
        self._tag = tag
        self._documented = documented

    def route(
        self,
        method: str,
        path: str,
        policy: Policy,
        *,
        summary: str,
        response: Any = None,
        status: int = 200,
        refusals: Mapping[int, str] | None = None,
        headers: Mapping[str, Any] | None = None,
        name: str = "",
        fast_path: FastPathHandler | None = None,
        responses: Mapping[int | str, Any] | None = None,
        content: Mapping[str, Any] | None = None,
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a route; the decorated function is its handler.

        `response` is the type of the response's body: a record, a list of records, or a pydantic model. `refusals` are
        the route's own, by status; OpenAPI adds those that follow from its policy and its parameters.
        `headers` describes the response's headers and `responses` bodies of other shapes, both as OpenAPI writes them.
        `content` describes, in the same way, a body that the handler itself reads from its request as a stream. `name`
        is the operation's id, by default the function's name.
        """

        def declare(endpoint: Endpoint) -> Endpoint:
            described: dict[int | str, dict[str, Any]] = {
                number: _refusal(reason) for number, reason in (refusals or {}).items()
            }
            described |= dict(responses or {})
            if headers:
                described[status] = {"headers": dict(headers)}
            record = response if is_made_of_records(response) else None
            declaration = partial(
                _ExactRoute,
                self._prefix + path,
                endpoint,
                methods=[method],
                status_code=status,
                response_model=response if record is None else None,
                responses=described,
                summary=summary,
                tags=[self._tag] if self._tag else None,
                include_in_schema=self._documented,
                operation_id=name or endpoint.__name__,
                openapi_extra={"requestBody": {"required": True, "content": dict(content)}} if content else None,
            )
            self.routes.append(
                Route(
                    method=method,
                    path=self._prefix + path,
                    policy=policy,
                    declaration=declaration,
                    fast_path=fast_path,
                    response=record,
                )
            )
            return endpoint

        return declare

    def get(self, path: str, policy: Policy, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declare a GET route, which also takes HEAD; `route` lists the options."""
        return self.route("GET", path, policy, **options)

    def post(self, path: str, policy: Policy, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declare a POST route; `route` lists the options."""
        return self.route("POST", path, policy, **options)

    def put(self, path: str, policy: Policy, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declare a PUT route; `route` lists the options."""
        return self.route("PUT", path, policy, **options)

    def patch(self, path: str, policy: Policy, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declare a PATCH route; `route` lists the options."""
        return self.route("PATCH", path, policy, **options)

    def delete(self, path: str, policy: Policy, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declare a DELETE route; `route` lists the options."""
        return self.route("DELETE", path, policy, **options)

    def delegate(self, method: str, path: str, policy: Policy, application: ASGIApp) -> None:
        """Hand a path to an application of another protocol. It gets the whole body, of any content type."""
        self.routes.append(Route(method=method, path=self._prefix + path, policy=policy, delegated=application))

    def websocket(self, path: str, policy: Policy, handler: WebSocketHandler) -> None:
        """Serve WebSocket connections at a path."""
        self.websockets.append(WebSocketRoute(self._prefix + path, policy, handler))


class _ExactRequest(Request):
    """A request whose JSON keeps every digit of its numbers."""

    async def json(self) -> Any:
        return read_json(context_of(self).body)


class _ExactRoute(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, given a request that reads JSON exactly."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_ExactRequest(request.scope, request.receive))

        return handle


def read_json(body: bytes) -> Any:
    """The value of a request body. Raises HttpError (400) if it is not JSON."""
    try:
        return decode_json(body)
    except MalformedJsonError as error:
        raise HttpError(400, f"the body is not valid JSON: {error}", "MALFORMED_JSON") from error


@dataclass(slots=True)
class _Template:
    """The methods of one path, and its pattern if it has parameters."""

    pattern: Pattern[str] | None
    methods: dict[str, Route] = field(default_factory=dict)


class RouteTable:
    """Finds the route of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """Raises ValueError if two routes have the same method and path."""
        self._literal: dict[str, _Template] = {}
        self._patterned: dict[str, _Template] = {}
        for route in routes:
            known = self._patterned if "{" in route.path else self._literal
            template = known.setdefault(
                route.path, _Template(compile_path(route.path)[0] if "{" in route.path else None)
            )
            if route.method in template.methods:
                raise ValueError(f"{route.method} {route.path} is declared twice")
            template.methods[route.method] = route

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route and its path parameters; HEAD finds GET's route. Raises HttpError: 404, or 405 with `Allow`."""
        wanted = "GET" if method == "HEAD" else method
        literal = self._literal.get(path)
        if literal is not None and wanted in literal.methods:
            return literal.methods[wanted], {}
        allowed = set(literal.methods) if literal is not None else set()
        for template in self._patterned.values():
            assert template.pattern is not None
            match = template.pattern.match(path)
            if match is None:
                continue
            if wanted in template.methods:
                return template.methods[wanted], match.groupdict()
            allowed |= template.methods.keys()
        if not allowed:
            raise HttpError(404, "no such route", "ROUTE_NOT_FOUND")
        if "GET" in allowed:
            allowed.add("HEAD")
        raise HttpError(405, "the route does not take this method", headers={"Allow": ", ".join(sorted(allowed))})
