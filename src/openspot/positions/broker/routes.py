"""Paths of the broker of record (facts B4.5-26 to B4.5-28)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import page_of, respond_with_page, serial_of
from openspot.http.policy import Access, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.positions.access import visible
from openspot.positions.broker.schemas import CompletedOrderBody, ExceptionResponse, IntakeResponse
from openspot.positions.broker.service import EXCEPTION_ID_LENGTH, BrokerService, exception_response
from openspot.positions.holdings.routes import NOT_FOUND, READ, ParticipantQuery

ExceptionPath = Annotated[
    str, Path(description="Id of the exception", alias="id", pattern=rf"^[0-9a-f]{{{EXCEPTION_ID_LENGTH}}}$")
]

_REPORT = Policy(Access.ADMIN | Access.SERVICE, audit=True)
_STATUSES = {"accepted": 201, "repeated": 200, "exception": 202}


def broker_routes(prefix: str, broker: BrokerService) -> Router:
    """The routes of `/bvi`, below `prefix`."""
    router = Router(f"{prefix}/bvi", tag="broker of record")

    @router.post(
        "/order-completed", _REPORT, status=201, response=IntakeResponse,
        responses={
            200: {"model": IntakeResponse, "description": "the report was accepted before"},
            202: {"model": IntakeResponse, "description": "the report does not fit, and is kept as an exception"},
        },
        summary="Report a completed order",
    )  # fmt: skip
    async def report_completed_order(body: CompletedOrderBody) -> Response:
        outcome = await broker.take(body)
        return respond(outcome, _STATUSES[outcome.status])

    @router.get(
        "/exceptions", READ, response=list[ExceptionResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Reports that did not fit, newest first",
    )  # fmt: skip
    async def list_exceptions(
        request: Request,
        participant_id: ParticipantQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        rows = await broker.page(visible(caller(request), participant_id), serial_of(cursor), limit + 1)
        return respond_with_page(page_of(rows, limit, lambda row: [row["serial"]], exception_response))

    @router.get(
        "/exceptions/{id}", READ, response=ExceptionResponse,
        refusals={404: "there is no such exception, or it is not yours to see"}, summary="One exception",
    )  # fmt: skip
    async def get_exception(request: Request, exception_id: ExceptionPath) -> Response:
        return respond(await broker.exception(caller(request), exception_id))

    return router
