"""The routes of house money from and to outside: `/operator/treasury/flows`."""

from functools import partial
from typing import Annotated

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
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.treasury.flow_store import FlowFilter
from openspot.rest_edge.operators.treasury.flows import HouseFlows
from openspot.rest_edge.operators.treasury.rules import FlowCategory
from openspot.rest_edge.operators.treasury.schemas import HouseFlowBody, HouseFlowResponse

AccountQuery = Annotated[
    str | None, Query(pattern="^house:[a-z]{1,40}$", description="Only flows of this account of the house")
]
CategoryQuery = Annotated[FlowCategory | None, Query(description="Only flows of this category")]
FlowPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9]{1,40}$", description="Id of the flow")]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.BALANCES_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL)
_RECORD = Policy(Access.OPERATOR, permission=Permission.BALANCES_TRANSFER, audit=True, idempotency=True)


async def _filter(span: SpanQuery, account: AccountQuery = None, category: CategoryQuery = None) -> FlowFilter:
    return FlowFilter(account, None if category is None else category.value, span)


Wanted = Annotated[FlowFilter, Depends(_filter)]


def flow_routes(prefix: str, flows: HouseFlows, exports: Exports) -> Router:
    """The routes of house money from and to outside, below `prefix`."""
    router = Router(f"{prefix}/operator/treasury/flows", tag="operator")
    columns = columns_of(HouseFlowResponse)

    @router.post(
        "", _RECORD, response=HouseFlowResponse, status=201,
        refusals={
            400: "the body is not valid, or the account is not open",
            409: "the reference counts already: REFERENCE_COUNTS_ALREADY",
        },
        summary="Record money of the house from or to outside; beyond a bound another person approves",
    )  # fmt: skip
    async def record_house_flow(request: Request, body: HouseFlowBody) -> Response:
        operation = operation_of(context_of(request))
        return respond(await flows.record(body, acting(request, body.reason), operation), 201)

    @router.get(
        "", _READ, response=list[HouseFlowResponse], headers=NEXT_CURSOR_HEADER,
        summary="The house's money that came from outside or went there, newest first",
    )  # fmt: skip
    async def list_house_flows(wanted: Wanted, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await flows.moves.page(wanted, limit, cursor))

    @router.get(
        "/export", _EXPORT, responses=TABLE_FILE, refusals={400: "a parameter is not valid"},
        summary="The house's money that came from outside or went there as a file, newest first",
    )  # fmt: skip
    async def export_house_flows(wanted: Wanted, file: WantedFileQuery) -> Response:
        filters = {"account": wanted.account, "category": wanted.category} | wanted.span.texts()
        read = partial(flows.moves.page, wanted)
        return await exports.file("house_flows", columns, file, filters, read, needs=Permission.BALANCES_READ_ALL)

    @router.get(
        "/{id}", _READ, response=HouseFlowResponse,
        refusals={404: "there is no such flow: HOUSE_FLOW_NOT_FOUND"},
        summary="One flow of the house from or to outside, or the request for it",
    )  # fmt: skip
    async def get_house_flow(flow_id: FlowPath) -> Response:
        return respond(await flows.moves.get(flow_id))

    return router
