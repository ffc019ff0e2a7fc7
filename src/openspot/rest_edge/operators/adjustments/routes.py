"""The routes of adjustments: `/operator/adjustments`."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.adjustments.rules import Category
from openspot.rest_edge.operators.adjustments.schemas import AdjustmentBody, AdjustmentResponse
from openspot.rest_edge.operators.adjustments.service import Adjustments
from openspot.rest_edge.operators.adjustments.store import AdjustmentFilter
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.user_parameters import UserPath, UserQuery

AdjustmentPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9]{1,40}$", description="Id of the adjustment")]
StatusQuery = Annotated[
    Literal["pending", "done", "refused"] | None, Query(description="Only adjustments in this state")
]
CategoryQuery = Annotated[Category | None, Query(description="Only adjustments of this category")]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.BALANCES_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL)
_ADJUST = Policy(Access.OPERATOR, permission=Permission.BALANCES_ADJUST_UP, audit=True, idempotency=True)
"""To take, the service asks for `balances.adjust_down`, too."""
_BAD = {400: "a parameter is not valid"}


async def _filter(
    span: SpanQuery, user_id: UserQuery = None, status: StatusQuery = None, category: CategoryQuery = None
) -> AdjustmentFilter:
    return AdjustmentFilter(user_id, status, None if category is None else category.value, span)


Wanted = Annotated[AdjustmentFilter, Depends(_filter)]


def adjustment_routes(prefix: str, adjustments: Adjustments, exports: Exports) -> Router:
    """The routes of adjustments, below `prefix`."""
    router = Router(f"{prefix}/operator", tag="operator")
    columns = columns_of(AdjustmentResponse)

    @router.post(
        "/users/{userId}/adjustments", _ADJUST, response=AdjustmentResponse, status=201,
        refusals={
            400: "the body is not valid",
            403: "the permission is missing, or it is your own account",
            404: "there is no such user",
        },
        summary="Give a user money or take it, in the engine and the ledger; beyond a bound another person approves",
    )  # fmt: skip
    async def adjust_user_balance(request: Request, user_id: UserPath, body: AdjustmentBody) -> Response:
        operation = operation_of(context_of(request))
        return respond(await adjustments.adjust(user_id, body, acting(request, body.reason), operation), 201)

    @router.get(
        "/adjustments", _READ, response=list[AdjustmentResponse], headers=NEXT_CURSOR_HEADER,
        summary="The adjustments that were made, newest first",
    )  # fmt: skip
    async def list_adjustments(wanted: Wanted, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await adjustments.moves.page(wanted, limit, cursor))

    @router.get(
        "/adjustments/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="The adjustments that were made as a file, newest first",
    )  # fmt: skip
    async def export_adjustments(wanted: Wanted, file: WantedFileQuery) -> Response:
        filters = {"user": wanted.user_id, "state": wanted.status, "category": wanted.category} | wanted.span.texts()
        read = partial(adjustments.moves.page, wanted)
        return await exports.file("adjustments", columns, file, filters, read, needs=Permission.BALANCES_READ_ALL)

    @router.get(
        "/adjustments/{id}", _READ, response=AdjustmentResponse, refusals={404: "there is no such adjustment"},
        summary="One adjustment, or the request for it",
    )  # fmt: skip
    async def get_adjustment(adjustment_id: AdjustmentPath) -> Response:
        return respond(await adjustments.moves.get(adjustment_id))

    return router
