"""The routes of price alerts."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.alerts.schemas import (
    ALERT_ID_PATTERN,
    DeletedPriceAlert,
    PriceAlert,
    PriceAlertBody,
    PriceAlertChangeBody,
)
from openspot.rest_edge.alerts.service import AlertService

AlertIdPath = Annotated[str, Path(alias="alertId", pattern=ALERT_ID_PATTERN, description="Id of the price alert")]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, Scope.TRADE, audit=True)
_ADD = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)
_DELETE = Policy(Access.USER, Scope.CANCEL, audit=True)


def alert_routes(prefix: str, alerts: AlertService) -> Router:
    """The routes of `/alerts`, below `prefix`."""
    router = Router(f"{prefix}/alerts", tag="alerts")

    @router.get("", _READ, response=list[PriceAlert], summary="Your price alerts, newest first")
    async def list_price_alerts(request: Request) -> Response:
        return json_response(await alerts.all_of(caller(request).user_id))

    @router.post(
        "", _ADD, status=201, response=PriceAlert,
        refusals={
            400: "the body is not valid",
            404: "there is no such market",
            409: "you have as many price alerts as you may have: TOO_MANY_ALERTS",
            503: "the platform takes no more price alerts: ALERTS_FULL; or the engine does not respond",
        },
        summary="Be told when a price is at or above, or at or below, a given one",
    )  # fmt: skip
    async def add_price_alert(request: Request, body: PriceAlertBody) -> Response:
        return json_response(await alerts.add(caller(request).user_id, body), 201)

    @router.patch(
        "/{alertId}", _CHANGE, response=PriceAlert,
        refusals={400: "the body is not valid, or the alert would not be", 404: "you have no such price alert"},
        summary="Change a price alert, which arms it again unless only its note changes",
    )  # fmt: skip
    async def change_price_alert(request: Request, alert_id: AlertIdPath, body: PriceAlertChangeBody) -> Response:
        return json_response(await alerts.change(caller(request).user_id, alert_id, body))

    @router.delete(
        "/{alertId}", _DELETE, response=DeletedPriceAlert, refusals={404: "you have no such price alert"},
        summary="Delete a price alert",
    )  # fmt: skip
    async def delete_price_alert(request: Request, alert_id: AlertIdPath) -> Response:
        await alerts.delete(caller(request).user_id, alert_id)
        return json_response(DeletedPriceAlert(True))

    return router
