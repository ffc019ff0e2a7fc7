"""A service's HTTP application, made from its routers."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from openspot.domain.ids import short_id
from openspot.http.audit import AuditSink
from openspot.http.authentication import Authenticator
from openspot.http.context import BodyLimits, request_ids
from openspot.http.documentation import documentation_routes, openapi_document
from openspot.http.errors import ErrorTranslation
from openspot.http.health import health_routes
from openspot.http.idempotency import IdempotencyStore
from openspot.http.lists import NEXT_CURSOR
from openspot.http.pipeline import Pipeline, PipelineLimits
from openspot.http.policy import ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import RATE_LIMIT_HEADERS, Throttle
from openspot.kit.health import Health

BODY_BYTES_MAX = 65_536
BODY_S_MAX = 10.0
REQUESTS_MAX = 4096
CORS_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CORS_HEADERS = ("Authorization", "Content-Type")
CORS_EXPOSED = ("X-Request-Id", NEXT_CURSOR, "Retry-After", *RATE_LIMIT_HEADERS)
_REQUEST_ID_PREFIX_LENGTH = 8


def make_http_app(
    routers: Sequence[Router],
    *,
    title: str,
    health: Health,
    description: str = "",
    authenticators: Sequence[Authenticator] = (),
    throttles: Mapping[ThrottleClass, Throttle] | None = None,
    audit: AuditSink | None = None,
    idempotency: IdempotencyStore | None = None,
    translations: Mapping[type[Exception], ErrorTranslation] | None = None,
    body_bytes_max: int = BODY_BYTES_MAX,
    requests_max: int = REQUESTS_MAX,
    health_aliases: tuple[str, ...] = (),
    unthrottled: Collection[str] = (),
) -> ASGIApp:
    """The application of `routers`, with health and metrics at the root, and their documentation at `/docs`.

    No throttle counts the users in `unthrottled`.

    Raises ValueError if a route cannot be served as its policy says: no authenticator grants its access, it is
    audited without a sink, or it is declared twice.
    """

    def document() -> dict[str, Any]:
        return openapi_document(title, description, routers, authenticators, throttles or {}, idempotency is not None)

    all_routers = [*routers, health_routes(health, aliases=health_aliases)]
    if routers:  # else there is nothing to document
        all_routers.append(documentation_routes(title, document))
    return Pipeline(
        [route for router in all_routers for route in router.routes],
        [route for router in all_routers for route in router.websockets],
        authenticators=authenticators,
        throttles=throttles or {},
        audit=audit,
        idempotency=idempotency,
        translations=translations or {},
        limits=PipelineLimits(BodyLimits(body_bytes_max, BODY_S_MAX), requests_max),
        next_request_id=request_ids(short_id(os.urandom(_REQUEST_ID_PREFIX_LENGTH), _REQUEST_ID_PREFIX_LENGTH)),
        unthrottled=unthrottled,
    )


def with_cors(
    application: ASGIApp,
    origins: str,
    *,
    headers: Sequence[str] = CORS_HEADERS,
    exposed: Sequence[str] = CORS_EXPOSED,
) -> ASGIApp:
    """Let pages of `origins` (separated by commas) call `application`. Without origins it stays unchanged."""
    allowed = [origin.strip() for origin in origins.split(",") if origin.strip()]
    if not allowed:
        return application
    return CORSMiddleware(
        application,
        allow_origins=allowed,
        allow_methods=CORS_METHODS,
        allow_headers=headers,
        expose_headers=exposed,
    )
