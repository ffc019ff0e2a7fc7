"""The edge as one ASGI application: the nouns' routes, and the pipeline around them."""

import os
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from openspot import __version__
from openspot.domain.ids import short_id
from openspot.kit.health import Health
from openspot.kit.settings import Settings
from openspot.rest_edge.accounts.routes import account_routes
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.audit import AuditTrail
from openspot.rest_edge.auth.routes import auth_routes
from openspot.rest_edge.auth.service import AuthService
from openspot.rest_edge.authentication import PREFIX, Authentication
from openspot.rest_edge.context import request_ids
from openspot.rest_edge.documentation import add_documentation
from openspot.rest_edge.errors import answer_error
from openspot.rest_edge.fees.routes import fee_routes
from openspot.rest_edge.health.routes import health_routes
from openspot.rest_edge.lists import NEXT_CURSOR
from openspot.rest_edge.markets.routes import market_routes
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.orders.routes import order_routes, place_directly
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.pipeline import Pipeline, PipelineLimits
from openspot.rest_edge.throttle import RATE_LIMIT_HEADERS, Throttle

BODY_S_MAX = 10.0
_REQUEST_ID_PREFIX_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes and the pipeline are made of. `throttle` is None where throttling is turned off."""

    auth: AuthService
    orders: OrderService
    accounts: AccountService
    markets: MarketService
    health: Health
    authentication: Authentication
    throttle: Throttle | None
    audit: AuditTrail


def make_app(settings: Settings, services: Services, *, direct: bool = True) -> ASGIApp:
    """The application. Without `direct` every route is FastAPI's: slower, with the same answers."""
    routed = _routed_app(services)
    pipeline: ASGIApp = Pipeline(
        routed,
        {("POST", f"{PREFIX}/orders"): place_directly(services.orders)} if direct else {},
        services.authentication,
        services.throttle,
        services.audit,
        PipelineLimits(settings.body_bytes_max, BODY_S_MAX, settings.rest_requests_max),
        request_ids(short_id(os.urandom(_REQUEST_ID_PREFIX_LENGTH), _REQUEST_ID_PREFIX_LENGTH)),
    )
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if not origins:
        return pipeline
    return CORSMiddleware(
        pipeline,
        allow_origins=origins,
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["X-Request-Id", NEXT_CURSOR, "Retry-After", *RATE_LIMIT_HEADERS],
    )


def _routed_app(services: Services) -> FastAPI:
    app = FastAPI(
        title="OpenSpot REST edge",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for kind in (HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer_error)
    api = APIRouter(prefix=PREFIX)
    for router in (
        # Before `/orders/{orderId}`, which would take its path.
        fee_routes(),
        order_routes(services.orders),
        account_routes(services.accounts),
        market_routes(services.markets),
        auth_routes(services.auth),
        health_routes(services.health, below_prefix=True),
    ):
        api.include_router(router)
    app.include_router(api)
    app.include_router(health_routes(services.health, below_prefix=False))
    add_documentation(app)
    return app
