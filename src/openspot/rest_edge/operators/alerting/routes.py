"""The routes of operators' alerts: `/operator/alerts`."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.operator_alerts import AlertsResponse, TryResponse
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.alerting.schemas import AlertTryBody
from openspot.rest_edge.operators.alerting.service import OperatorAlerts

_READ = Policy(Access.OPERATOR, permission=Permission.ALERTS_READ)
_TRY = Policy(Access.OPERATOR, permission=Permission.ALERTS_TRY, audit=True)
_SILENT = {503: "the service of alerts does not respond, or nobody is told: ALERTS_SILENT"}


def operator_alert_routes(prefix: str, alerts: OperatorAlerts) -> Router:
    """The routes of operators' alerts, below `prefix`."""
    router = Router(f"{prefix}/operator/alerts", tag="operators")

    @router.get(
        "", _READ, response=AlertsResponse, refusals=_SILENT, summary="Every alert of operators, and where they go"
    )
    async def list_operator_alerts() -> Response:
        return respond(await alerts.all())

    @router.post(
        "/tries", _TRY, response=TryResponse, refusals={400: "the body is not valid", **_SILENT},
        summary="Send a test of an alert through the real way, and say what became of it",
    )  # fmt: skip
    async def try_operator_alert(request: Request, body: AlertTryBody) -> Response:
        return respond(await alerts.try_out(body.kind, acting(request, body.reason)))

    return router
