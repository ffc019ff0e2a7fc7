"""The HTTP application of operators' alerts: health, metrics, and the calls of the REST edge."""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp

from openspot.http.app import make_http_app
from openspot.http.authentication import ServiceKeys
from openspot.http.documentation import openapi_document
from openspot.http.operator_alerts import (
    AlertKind,
    AlertResponse,
    AlertsResponse,
    DestinationResponse,
    TriedDestination,
    TryBody,
    TryResponse,
)
from openspot.http.policy import Access, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.kit.clock import iso_from_ms
from openspot.kit.health import Health
from openspot.operator_alerts.alerting import Alerting
from openspot.operator_alerts.book import AlertState
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.outbox import Outbox

TITLE = "OpenSpot operators' alerts"
DESCRIPTION = """What is wrong on the platform, and who is told. The REST edge alone calls these routes, for operators.
"""
REQUESTS_MAX = 16
BODY_BYTES_MAX = 1024
_EDGE = Policy(Access.SERVICE)


def alert_routes(alerting: Alerting) -> Router:
    """The routes."""
    router = Router("", tag="alerts")

    @router.get("/alerts", _EDGE, response=AlertsResponse, summary="Every alert, and where they go")
    async def list_alerts() -> Response:
        return respond(
            AlertsResponse(
                alerts=[_alert(kind, state) for kind, state in alerting.states.items()],
                destinations=[_destination(name, outbox) for name, outbox in alerting.outboxes.items()],
            )
        )

    @router.post("/tries", _EDGE, response=TryResponse, summary="Send a test of an alert to every destination")
    async def try_alert(body: TryBody) -> Response:
        faults = await alerting.try_out(body.kind)
        return respond(
            TryResponse(destinations=[TriedDestination(name=name, fault=fault) for name, fault in faults.items()])
        )

    return router


def make_app(alerting: Alerting, health: Health, key: str, secret: str) -> ASGIApp:
    """The application. Callers have `key` and `secret`."""
    return make_http_app(
        [alert_routes(alerting)],
        title=TITLE,
        description=DESCRIPTION,
        health=health,
        authenticators=[ServiceKeys(key, secret)],
        body_bytes_max=BODY_BYTES_MAX,
        requests_max=REQUESTS_MAX,
    )


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """Routers and the function that makes the OpenAPI document; `stand_in` stands for what is behind the routes."""
    routers = [alert_routes(stand_in)]
    return routers, partial(
        openapi_document, TITLE, DESCRIPTION, routers, [ServiceKeys("key", "secret")], {}, idempotency=False
    )


def _alert(kind: AlertKind, state: AlertState) -> AlertResponse:
    about = ABOUT[kind]
    if state.raised_at is not None:
        named = "raised"
    elif state.since is not None:
        named = "pending"
    else:
        named = "fine" if state.is_judged else "unknown"
    return AlertResponse(
        kind=kind,
        title=about.title,
        severity=about.severity,
        condition=about.condition,
        action=about.action,
        state=named,
        text=state.text if named in ("raised", "pending") else "",
        since=_time(state.since),
        last_told_at=_time(state.told_at or None),
        last_ended_at=_time(state.ended_at),
        count=state.count,
    )


def _destination(name: str, outbox: Outbox) -> DestinationResponse:
    on_the_way = 0 if outbox.batch is None else len(outbox.batch.messages)
    return DestinationResponse(
        name=name,
        waiting=len(outbox.waiting) + on_the_way,
        left_out=outbox.left_out,
        sent_this_hour=len(outbox.sent),
        last_at=None if outbox.last is None else _time(outbox.last.at),
        fault=None if outbox.last is None else outbox.last.fault,
    )


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else iso_from_ms(round(seconds * 1000))
