"""The routes of requests that two persons decide: `/operator/requests`."""

from functools import partial
from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.pending.rules import RequestStatus
from openspot.rest_edge.operators.pending.schemas import OperatorRequestResponse
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.operators.pending.store import RequestFilter
from openspot.rest_edge.operators.schemas import ReasonBody
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.user_parameters import UserQuery

RequestPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9]{1,40}$", description="Id of the request")]
StatusQuery = Annotated[RequestStatus | None, Query(description="Only requests in this state")]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.USERS_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.USERS_READ)
_DECIDE = Policy(Access.OPERATOR, permission=Permission.USERS_READ, audit=True)
"""The service asks for the permission of the request's kind, too."""
_REFUSALS = {
    403: "the permission of the kind is missing, or you asked for it yourself, or it is your own account; or who "
    "asked gave you a role not long ago, or has one from you or the same giver: ROLES_TOO_NEW",
    404: "there is no such request",
    409: "it is decided or has expired, or what it asks for cannot be done now",
}


async def _filter(span: SpanQuery, status: StatusQuery = None, user_id: UserQuery = None) -> RequestFilter:
    return RequestFilter(status, user_id, span)


Wanted = Annotated[RequestFilter, Depends(_filter)]


def request_routes(prefix: str, pending: PendingActions, exports: Exports) -> Router:
    """The routes of `/operator/requests`, below `prefix`."""
    router = Router(f"{prefix}/operator/requests", tag="operator")
    columns = columns_of(OperatorRequestResponse)

    @router.get(
        "", _READ, response=list[OperatorRequestResponse], headers=NEXT_CURSOR_HEADER,
        summary="What operators asked for, newest first",
    )  # fmt: skip
    async def list_operator_requests(wanted: Wanted, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await pending.page(wanted, limit, cursor))

    @router.get(
        "/export", _EXPORT, responses=TABLE_FILE,
        refusals={400: "a parameter is not valid"}, summary="What operators asked for as a file, newest first",
    )  # fmt: skip
    async def export_operator_requests(wanted: Wanted, file: WantedFileQuery) -> Response:
        filters = {"user": wanted.user_id, "state": wanted.status and wanted.status.value} | wanted.span.texts()
        read = partial(pending.page, wanted)
        return await exports.file("requests", columns, file, filters, read, needs=Permission.USERS_READ)

    @router.get(
        "/{id}", _READ, response=OperatorRequestResponse, refusals={404: "there is no such request"},
        summary="One request",
    )  # fmt: skip
    async def get_operator_request(request_id: RequestPath) -> Response:
        return respond(await pending.get(request_id))

    @router.post(
        "/{id}/approval", _DECIDE, response=OperatorRequestResponse, refusals=_REFUSALS,
        summary="Approve what another person asked for, and do it",
    )  # fmt: skip
    async def approve_operator_request(request: Request, request_id: RequestPath, body: ReasonBody) -> Response:
        return respond(await pending.approve(request_id, acting(request, body.reason)))

    @router.post(
        "/{id}/rejection", _DECIDE, response=OperatorRequestResponse, refusals=_REFUSALS,
        summary="End a request without doing anything",
    )  # fmt: skip
    async def reject_operator_request(request: Request, request_id: RequestPath, body: ReasonBody) -> Response:
        return respond(await pending.reject(request_id, acting(request, body.reason)))

    return router
