"""The edge as one application: the routes of all wings on the HTTP layer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from openspot.engine_client.operators import OperatorSessions
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.app import CORS_EXPOSED, CORS_HEADERS, make_http_app, with_cors
from openspot.http.audit import AuditSink
from openspot.http.authentication import Authenticator, UserTokens
from openspot.http.documentation import openapi_document
from openspot.http.health import health_routes
from openspot.http.idempotency import IdempotencyStore
from openspot.http.policy import ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import REGISTRATION_TIERS, TIERS, Throttle, Tier
from openspot.kit.health import Health
from openspot.rest_edge.alerts.routes import alert_routes
from openspot.rest_edge.alerts.service import AlertService
from openspot.rest_edge.drawings.routes import drawing_routes
from openspot.rest_edge.drawings.service import DrawingService
from openspot.rest_edge.funds.routes import fund_routes
from openspot.rest_edge.funds.service import FundServices
from openspot.rest_edge.identity.routes import identity_routes
from openspot.rest_edge.identity.service import KeyServices, UserServices
from openspot.rest_edge.layouts.routes import layout_routes
from openspot.rest_edge.layouts.service import LayoutService
from openspot.rest_edge.margin.routes import margin_routes
from openspot.rest_edge.margin.service import MarginClient
from openspot.rest_edge.markets.routes import market_routes
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.notifications.routes import notification_routes
from openspot.rest_edge.notifications.service import NotificationServices
from openspot.rest_edge.operators.people import PeopleServices, people_routes
from openspot.rest_edge.operators.routes import operator_routes
from openspot.rest_edge.operators.service import OperatorServices
from openspot.rest_edge.orders.amendment_routes import amendment_routes
from openspot.rest_edge.orders.cancel_timer_routes import cancel_timer_routes
from openspot.rest_edge.orders.cancel_timers import CancelTimers
from openspot.rest_edge.orders.connections import order_connection_routes
from openspot.rest_edge.orders.list_routes import order_list_routes
from openspot.rest_edge.orders.order_lists import OrderListService
from openspot.rest_edge.orders.routes import order_routes
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.trigger_routes import trigger_routes
from openspot.rest_edge.orders.triggers import OrderTriggers
from openspot.rest_edge.products.routes import product_routes
from openspot.rest_edge.products.service import ProductServices
from openspot.rest_edge.push.routes import push_routes
from openspot.rest_edge.push.service import DeviceService
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.site_settings.routes import settings_routes
from openspot.rest_edge.site_settings.schemas import TradingResponse
from openspot.rest_edge.site_settings.system import SystemSettings
from openspot.rest_edge.watchlists.routes import watchlist_routes
from openspot.rest_edge.watchlists.service import WatchlistService

PREFIX = "/api/v1"
TITLE = "OpenSpot REST edge"
DESCRIPTION = """The public interface of an OpenSpot exchange.

Decimals are texts in responses. In requests they may be plain texts (`"0.015"`) or JSON numbers, and every digit
counts; a JSON number may have an exponent, a text may not. Times are ISO 8601 in UTC, in market data milliseconds
since 1970. Bodies are JSON in UTF-8, without a byte order mark and without a property given twice. Every refusal has
the body `{"statusCode", "message", "error", "code", "requestId", "details"?}`; `message` is a list where a request
has several faults. Lists take `limit` and `cursor`; the next cursor is in `X-Next-Cursor`. Over the limits of
requests (10 a second, 50 in ten seconds, 200 a minute) the response is 429 with `Retry-After`.
"""
THROTTLE_TIERS: dict[ThrottleClass, tuple[Tier, ...]] = {
    ThrottleClass.STANDARD: TIERS,
    ThrottleClass.REGISTRATION: REGISTRATION_TIERS,
    ThrottleClass.UPLOAD: (Tier("uploads", 40, 3600),),
}


def throttle_tiers(settings: RestEdgeSettings) -> dict[ThrottleClass, tuple[Tier, ...]]:
    """The tiers by class, as settings change them."""
    [uploads] = THROTTLE_TIERS[ThrottleClass.UPLOAD]
    return THROTTLE_TIERS | {ThrottleClass.UPLOAD: (replace(uploads, requests_max=settings.kyc_uploads_hour_max),)}


@dataclass(frozen=True, slots=True)
class EdgeServices:
    """The services behind the routes and the pipeline. `throttles` is empty where throttling is turned off."""

    users: UserServices
    keys: KeyServices
    notifications: NotificationServices
    devices: DeviceService
    funds: FundServices
    products: ProductServices
    orders: OrderService
    order_lists: OrderListService
    order_triggers: OrderTriggers
    cancel_timers: CancelTimers
    markets: MarketService
    margin: MarginClient
    alerts: AlertService
    watchlists: WatchlistService
    drawings: DrawingService
    layouts: LayoutService
    people: PeopleServices
    operators: OperatorServices
    system: SystemSettings
    trading: TradingResponse
    health: Health
    tokens: UserTokens
    throttles: dict[ThrottleClass, Throttle]
    audit: AuditSink
    idempotency: IdempotencyStore


def make_app(settings: RestEdgeSettings, services: EdgeServices, *, fast_paths: bool = True) -> ASGIApp:
    """The application. Without `fast_paths` FastAPI handles every route: slower, with the same responses."""
    application = make_http_app(
        edge_routers(services, fast_paths=fast_paths, has_complete_rules=settings.has_complete_rules),
        title=TITLE,
        description=DESCRIPTION,
        health=services.health,
        authenticators=[services.tokens, services.keys.authenticator, services.operators.sessions],
        throttles=services.throttles,
        audit=services.audit,
        idempotency=services.idempotency,
        body_bytes_max=settings.body_bytes_max,
        requests_max=settings.rest_requests_max,
        unthrottled=settings.unthrottled_users,
    )
    headers, exposed = (*CORS_HEADERS, "Idempotency-Key"), (*CORS_EXPOSED, "Idempotency-Hit")
    return with_cors(application, settings.cors_origins, headers=headers, exposed=exposed)


def edge_routers(services: EdgeServices, *, fast_paths: bool = True, has_complete_rules: bool = True) -> list[Router]:
    """The routes of every wing. Some exist only with the complete rules of orders."""
    return [
        *identity_routes(PREFIX, services.users, services.keys),
        *notification_routes(PREFIX, services.notifications),
        push_routes(PREFIX, services.devices),
        market_routes(PREFIX, services.markets),
        # Before the orders: one of their paths takes any word as an id.
        *(_complete_order_routes(services) if has_complete_rules else []),
        order_routes(PREFIX, services.orders, fast_paths=fast_paths, has_complete_rules=has_complete_rules),
        *fund_routes(PREFIX, services.funds, fast_paths=fast_paths),
        *product_routes(PREFIX, services.products),
        settings_routes(PREFIX, services.system, services.trading),
        margin_routes(PREFIX, services.margin),
        alert_routes(PREFIX, services.alerts),
        watchlist_routes(PREFIX, services.watchlists),
        drawing_routes(PREFIX, services.drawings),
        layout_routes(PREFIX, services.layouts),
        *operator_routes(PREFIX, services.operators),
        *people_routes(PREFIX, services.people, services.operators.sessions),
        health_routes(services.health, PREFIX, ready_path="/health/ready", documented=True),
    ]


def _complete_order_routes(services: EdgeServices) -> list[Router]:
    orders, timers = services.orders, services.cancel_timers
    return [
        order_list_routes(PREFIX, services.order_lists),
        amendment_routes(PREFIX, orders),
        trigger_routes(PREFIX, services.order_triggers),
        cancel_timer_routes(PREFIX, timers),
        order_connection_routes(PREFIX, orders, timers),
    ]


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """The routers, and the function that makes the OpenAPI document with throttling on.

    `stand_in` takes the place of every service.
    """
    routers = edge_routers(stand_in)
    kinds: list[Authenticator] = [
        UserTokens("unused"),
        ApiKeys(stand_in),
        OperatorSessions(stand_in, stand_in, stand_in, stand_in),
    ]
    return routers, partial(openapi_document, TITLE, DESCRIPTION, routers, kinds, THROTTLE_TIERS, idempotency=True)
