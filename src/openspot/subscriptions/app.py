"""The subscription service as one application: its routes on the HTTP layer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from openspot.http.app import CORS_EXPOSED, CORS_HEADERS, make_http_app, with_cors
from openspot.http.audit import AuditRecord, AuditSink, DatabaseAudit
from openspot.http.authentication import UserTokens
from openspot.http.documentation import openapi_document
from openspot.http.errors import ErrorTranslation, HttpError, validation_error
from openspot.http.idempotency import IdempotencyStore
from openspot.http.policy import ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import TIERS, Throttle
from openspot.kit.health import Health
from openspot.subscriptions.billing import Billing
from openspot.subscriptions.charges import ChargeError
from openspot.subscriptions.lifecycle import SubscriptionError
from openspot.subscriptions.routes import plan_routes, subscription_routes
from openspot.subscriptions.settings import SubscriptionSettings

TITLE = "OpenSpot subscription service"
DESCRIPTION = """Plans, billing and entitlements.

Decimals are texts, dates are UTC. Bodies are JSON in UTF-8. Every refusal has the body `{"statusCode", "message",
"error", "code", "requestId", "details"?}`. Lists take `limit` and `cursor`; the next cursor is in `X-Next-Cursor`.
Callers use the access token of the REST edge.
"""
TRANSLATIONS: dict[type[Exception], ErrorTranslation] = {
    SubscriptionError: lambda error: HttpError(409, str(error), "SUBSCRIPTION_STATE"),
    ChargeError: lambda error: validation_error([str(error)]),
}


@dataclass(frozen=True, slots=True)
class SubscriptionServices:
    """What routes and pipeline need. `throttles` is empty if throttling is off."""

    billing: Billing
    health: Health
    tokens: UserTokens
    throttles: dict[ThrottleClass, Throttle]
    audit: AuditSink
    idempotency: IdempotencyStore


class AuditWithoutAddresses:
    """Audit records in the service's own database.

    They contain no addresses: the REST edge erases the addresses of a deleted account, but cannot reach this database.
    """

    def __init__(self, records: DatabaseAudit) -> None:
        self._records = records

    async def reserve(self) -> bool:
        """Reserve a place for one record. Returns False if none became free in time."""
        return await self._records.reserve()

    def record(self, record: AuditRecord) -> None:
        """Queue `record` in the place that was reserved for it."""
        self._records.record(record._replace(address=""))


def make_app(settings: SubscriptionSettings, services: SubscriptionServices) -> ASGIApp:
    """The application."""
    application = make_http_app(
        service_routers(services.billing),
        title=TITLE,
        description=DESCRIPTION,
        health=services.health,
        authenticators=[services.tokens],
        throttles=services.throttles,
        audit=services.audit,
        idempotency=services.idempotency,
        translations=TRANSLATIONS,
    )
    headers, exposed = (*CORS_HEADERS, "Idempotency-Key"), (*CORS_EXPOSED, "Idempotency-Hit")
    return with_cors(application, settings.cors_origins, headers=headers, exposed=exposed)


def service_routers(billing: Billing) -> list[Router]:
    """The routes of the service."""
    return [plan_routes(billing), subscription_routes(billing)]


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """Routers, and the function that makes the OpenAPI document with throttling on.

    `stand_in` takes the place of the service.
    """
    routers = service_routers(stand_in)
    throttles = {ThrottleClass.STANDARD: TIERS}
    return routers, partial(
        openapi_document, TITLE, DESCRIPTION, routers, [UserTokens("unused")], throttles, idempotency=True
    )
