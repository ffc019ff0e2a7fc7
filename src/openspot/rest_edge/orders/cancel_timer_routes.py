"""The routes of the dead man's switch, which only the complete rules have."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.orders.cancel_schemas import CancelTimer, CancelTimerBody
from openspot.rest_edge.orders.cancel_timers import CancelTimers

_READ = Policy(Access.USER, Scope.READ)
_SET = Policy(Access.USER, Scope.CANCEL, audit=True)


def cancel_timer_routes(prefix: str, timers: CancelTimers) -> Router:
    """The routes below `prefix`/orders."""
    router = Router(f"{prefix}/orders", tag="orders")

    @router.post(
        "/cancel-all-after", _SET, response=CancelTimer,
        refusals={
            400: "timeoutSeconds is neither 0 nor from 5 to 86400",
            409: "your timer has run out, and your orders are being cancelled: CANCEL_TIMER_DUE",
            503: "your timer has run out, and your orders cannot be cancelled at this moment: they will be",
        },
        summary="Cancel all your open orders after so many seconds, unless you renew it; 0 ends it",
    )  # fmt: skip
    async def set_cancel_timer(request: Request, body: CancelTimerBody) -> Response:
        return json_response(await timers.set(caller(request).user_id, body.timeout_seconds))

    @router.get("/cancel-all-after", _READ, response=CancelTimer, summary="Your dead man's switch")
    async def get_cancel_timer(request: Request) -> Response:
        return json_response(await timers.get(caller(request).user_id))

    return router
