"""The web server's own routes: health, processes and their log, the buttons that reconcile, prove and book, and
withdrawals for the console; two for traders.

The console's require the token of an operator's session, and a permission. Anybody may read the status. Traders can
play a deposit, on platforms that have it.
"""

import os
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from openspot.domain.ids import short_id
from openspot.http.policy import Permission
from openspot.web_server.booking import BODY_BYTES_MAX, Booking, reason_in
from openspot.web_server.bounded_body import BodyTooLargeError, request_body
from openspot.web_server.custody_gateway import CustodyGateway, refusal
from openspot.web_server.health_report import HealthReporter
from openspot.web_server.operator_command import OperatorCommand, RunsError
from openspot.web_server.operators import Operators, Refused, SilentError, address_of
from openspot.web_server.public_status import PublicStatus
from openspot.web_server.reconciliation import Reconciliation
from openspot.web_server.reserves import Proving
from openspot.web_server.run_notes import RunNotes
from openspot.web_server.simulated_deposits import SimulatedDeposits
from openspot.web_server.supervised import Supervised

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
DECISIONS = ("approvals", "rejection", "signatures")
BULK_DECISIONS = ("bulk-approvals", "bulk-rejections")
REQUEST_ID_LENGTH = 16

Handler = Callable[[Request], Awaitable[Response]]


def console_routes(
    reporter: HealthReporter,
    operators: Operators,
    reconciliation: Reconciliation,
    proving: Proving,
    booking: Booking,
    notes: RunNotes,
    custody: CustodyGateway,
    status: PublicStatus,
    supervised: Supervised,
    otherwise: ASGIApp,
    deposits: SimulatedDeposits | None = None,
) -> ASGIApp:
    """The routes; `otherwise` serves all other paths. Without `deposits` nobody can play any."""

    async def health(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.HEALTH_READ)
        if refused is None:
            return Response(await reporter.report(), media_type="application/json")
        return refusal(*refused)

    async def processes(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.HEALTH_READ)
        return await supervised.processes() if refused is None else refusal(*refused)

    async def ends(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.LOGS_READ)
        return supervised.ends() if refused is None else refusal(*refused)

    async def logs(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.LOGS_READ)
        return await supervised.logs(request) if refused is None else refusal(*refused)

    async def public_status(request: Request) -> Response:
        return Response(await status.report(), media_type="application/json")

    async def reconcile(request: Request) -> Response:
        try:
            return await begin(request, Permission.RECONCILE_RUN, reconciliation, "comparison")
        except SilentError as error:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}, and without it nothing can be compared")
        except RunsError:
            return refusal(HTTPStatus.CONFLICT, "a comparison runs already")

    async def prove(request: Request) -> Response:
        try:
            return await begin(request, Permission.RESERVES_PROVE, proving, "proof")
        except SilentError as error:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}, and without it nothing can be proved")
        except RunsError:
            return refusal(HTTPStatus.CONFLICT, "a proof is being made already")

    async def begin(request: Request, permission: Permission, command: OperatorCommand, run: str) -> Response:
        operator = await operators.acting(request, permission)
        if isinstance(operator, Refused):
            return refusal(*operator)
        try:
            reason = reason_in(await request_body(request, BODY_BYTES_MAX))
        except BodyTooLargeError as error:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        except ValueError as error:
            return refusal(HTTPStatus.BAD_REQUEST, str(error))

        async def note() -> Refused | None:
            return await notes.note(request, run, reason)

        refused = await command.begin_noted(operator.name.removeprefix("engine:"), note)
        if refused is not None:
            return refusal(*refused)
        return Response(b"{}", HTTPStatus.ACCEPTED, media_type="application/json")

    async def proving_state(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.REPORTS_READ)
        if refused is None:
            return Response(proving.state(), media_type="application/json")
        return refusal(*refused)

    async def book(request: Request) -> Response:
        try:
            for permission in (Permission.BALANCES_ADJUST_UP, Permission.BALANCES_ADJUST_DOWN):
                operator = await operators.acting(request, permission)
                if isinstance(operator, Refused):
                    return refusal(*operator)
        except SilentError as error:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}, and without it nothing can be booked")
        assert not isinstance(operator, Refused), "a refusal was returned"
        try:
            reason = reason_in(await request_body(request, BODY_BYTES_MAX))
        except BodyTooLargeError as error:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        except ValueError as error:
            return refusal(HTTPStatus.BAD_REQUEST, str(error))
        request_id = short_id(os.urandom(REQUEST_ID_LENGTH), REQUEST_ID_LENGTH)
        if not booking.book(operator.name, reason, address=address_of(request), request_id=request_id):
            return refusal(HTTPStatus.CONFLICT, "adjustments are being booked already")
        headers = {"X-Request-Id": request_id}
        return Response(b"{}", HTTPStatus.ACCEPTED, headers, media_type="application/json")

    async def booking_state(request: Request) -> Response:
        refused = await operators.may_look(request, Permission.HEALTH_READ)
        if refused is None:
            return Response(booking.state(), media_type="application/json")
        return refusal(*refused)

    async def decide(request: Request) -> Response:
        return await custody.decide(request, request.path_params["id"], request.url.path.rpartition("/")[2])

    async def decide_all(request: Request) -> Response:
        return await custody.decide_all(request, request.url.path.rpartition("/")[2])

    withdrawals = "/console/custody/withdrawals"
    handlers: list[tuple[str, str, Handler]] = [
        ("GET", "/console/health.json", health),
        ("GET", "/console/processes.json", processes),
        ("GET", "/console/ends.json", ends),
        ("GET", "/console/logs.json", logs),
        ("GET", "/status.json", public_status),
        ("POST", "/console/reconcile", reconcile),
        ("POST", "/console/reserves", prove),
        ("GET", "/console/reserves.json", proving_state),
        ("POST", "/console/bookings", book),
        ("GET", "/console/bookings.json", booking_state),
        ("GET", withdrawals, custody.list_open),
        *(("POST", f"{withdrawals}/{{id}}/{decision}", decide) for decision in DECISIONS),
        *(("POST", f"{withdrawals}/{decision}", decide_all) for decision in BULK_DECISIONS),
    ]
    if deposits is not None:
        handlers.append(("POST", "/simulated-deposits", deposits.deposit))
    routes = [Route(path, _private(handler), methods=[method]) for method, path, handler in handlers]
    return Router(routes, redirect_slashes=False, default=otherwise)


def _private(handler: Handler) -> Handler:
    """Return `handler` with responses that nobody may cache."""

    async def handle(request: Request) -> Response:
        response = await handler(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response

    return handle
