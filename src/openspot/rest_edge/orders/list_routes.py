"""The routes of order lists, which only the complete rules have."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.rest_edge.orders.list_schemas import OrderList, OrderListBody
from openspot.rest_edge.orders.order_lists import OrderListService
from openspot.rest_edge.orders.positions import cursor_of, position_of
from openspot.rest_edge.orders.routes import CANCEL, PLACE, READ, SymbolQuery
from openspot.rest_edge.orders.schemas import ORDER_ID_PATTERN

ListIdPath = Annotated[str, Path(alias="listId", pattern=ORDER_ID_PATTERN, description="Id of the list")]


def order_list_routes(prefix: str, lists: OrderListService) -> Router:
    """The routes below `prefix`/orders/lists."""
    router = Router(f"{prefix}/orders/lists", tag="orders")

    @router.post(
        "", PLACE, status=201, response=OrderList,
        refusals={
            400: "the body is not valid, or the list was rejected: `message` is the reason, and `failedOrder` in "
            "`details` the order that it is about, from 1",
            409: "another list of yours has the `clientListId`: DUPLICATE_CLIENT_LIST_ID; or an open order of yours a "
            "`clientOrderId` of the list: DUPLICATE_CLIENT_ORDER_ID",
            503: "the list was not sent",
            504: "nobody knows yet what became of the list: ORDER_STATUS_UNKNOWN, with its id in `details`",
        },
        summary="Place orders that depend on each other: all, or none",
    )  # fmt: skip
    async def place_order_list(request: Request, body: OrderListBody) -> Response:
        placed = await lists.place(caller(request).user_id, body, operation_of(context_of(request)))
        return json_response(placed, 201)

    @router.get(
        "", READ, response=list[OrderList], headers=NEXT_CURSOR_HEADER,
        summary="Your order lists with their orders, newest first",
    )  # fmt: skip
    async def list_order_lists(
        request: Request,
        symbol: SymbolQuery = None,
        is_active: Annotated[
            bool, Query(alias="active", description="Only those whose orders depend on each other now")
        ] = False,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        page, following = await lists.page_of(
            caller(request).user_id, symbol, limit, position_of(cursor), is_active=is_active
        )
        return page_response(page, cursor_of(following))

    @router.get(
        "/{listId}", READ, response=OrderList, refusals={404: "you have no such list"}, summary="One order list"
    )
    async def get_order_list(request: Request, list_id: ListIdPath) -> Response:
        return json_response(await lists.get(caller(request).user_id, list_id))

    @router.delete(
        "/{listId}", CANCEL, response=OrderList,
        refusals={
            404: "you have no such list", 409: "nothing of the list is open: ORDER_LIST_NOT_OPEN",
            503: "the cancel was not sent", 504: "nobody knows yet whether the list is cancelled",
        },
        summary="Cancel all that is open of an order list",
    )  # fmt: skip
    async def cancel_order_list(request: Request, list_id: ListIdPath) -> Response:
        return json_response(await lists.cancel(caller(request).user_id, list_id))

    return router
