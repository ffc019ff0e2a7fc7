"""The application of the position service: its routes and their documentation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from openspot.http.app import CORS_EXPOSED, CORS_HEADERS, make_http_app, with_cors
from openspot.http.audit import AuditSink
from openspot.http.authentication import SERVICE_SUBJECT, Authenticator, ServiceKeys, UserTokens
from openspot.http.documentation import openapi_document
from openspot.http.idempotency import IdempotencyStore
from openspot.http.policy import ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import TIERS, Throttle
from openspot.kit.health import Health
from openspot.positions.broker.routes import broker_routes
from openspot.positions.broker.service import BrokerService
from openspot.positions.cost_basis.routes import cost_basis_routes
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.holdings.routes import holding_routes
from openspot.positions.holdings.service import HoldingService
from openspot.positions.settings import PositionSettings
from openspot.positions.spot.routes import spot_routes
from openspot.positions.spot.service import SpotService
from openspot.positions.transfers.routes import transfer_routes
from openspot.positions.transfers.service import TransferService

PREFIX = "/api/pms"
TITLE = "OpenSpot position service"
DESCRIPTION = (
    "Positions, transfers, balances, profit and loss, risk, FIFO cost basis, spot results and broker-of-record "
    "intake. Participants see their own data, administrators all. Over the limits of requests (10 a second, 50 in ten "
    "seconds, 200 a minute) the response is 429 with `Retry-After`."
)


@dataclass(frozen=True, slots=True)
class Services:
    """The services of the routes, and the parts of the pipeline. `throttles` is empty where it is turned off."""

    holdings: HoldingService
    transfers: TransferService
    cost_basis: CostBasisService
    spot: SpotService
    broker: BrokerService
    health: Health
    tokens: UserTokens
    throttles: dict[ThrottleClass, Throttle]
    audit: AuditSink
    idempotency: IdempotencyStore


def make_app(settings: PositionSettings, services: Services) -> ASGIApp:
    """The application."""
    application = make_http_app(
        position_routers(services, settings.position_import_bytes_max),
        title=TITLE,
        description=DESCRIPTION,
        health=services.health,
        authenticators=[services.tokens, ServiceKeys(settings.engine_api_key, settings.engine_api_secret)],
        throttles=services.throttles,
        audit=services.audit,
        idempotency=services.idempotency,
        # A service reports as many orders as the exchange completes.
        unthrottled=(SERVICE_SUBJECT,),
    )
    headers, exposed = (*CORS_HEADERS, "Idempotency-Key"), (*CORS_EXPOSED, "Idempotency-Hit")
    return with_cors(application, settings.cors_origins, headers=headers, exposed=exposed)


def position_routers(services: Services, import_bytes_max: int) -> list[Router]:
    """The routers of all nouns."""
    return [
        holding_routes(PREFIX, services.holdings),
        transfer_routes(PREFIX, services.transfers),
        cost_basis_routes(PREFIX, services.cost_basis, import_bytes_max),
        spot_routes(PREFIX, services.spot),
        broker_routes(PREFIX, services.broker),
    ]


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """The routers, and the function that makes the OpenAPI document.

    `stand_in` takes the place of the services behind the routes.
    """
    routers = position_routers(stand_in, 0)
    kinds: list[Authenticator] = [UserTokens("unused"), ServiceKeys("unused", "unused")]
    throttles = {ThrottleClass.STANDARD: TIERS}
    return routers, partial(openapi_document, TITLE, DESCRIPTION, routers, kinds, throttles, idempotency=True)
