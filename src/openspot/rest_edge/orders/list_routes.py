"""The routes of order lists, which only the complete rules have."""

import re
from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import (
    LIMIT_DEFAULT,
    NEXT_CURSOR_HEADER,
    Cursor,
    Limit,
    decode_cursor,
    encode_cursor,
    unknown_cursor,
)
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.rest_edge.orders.list_schemas import OrderList, OrderListBody
from openspot.rest_edge.orders.list_store import ListPosition
from openspot.rest_edge.orders.order_lists import OrderListService
from openspot.rest_edge.orders.routes import SymbolQuery
from openspot.rest_edge.orders.schemas import ORDER_ID_PATTERN

ListIdPath = Annotated[str, Path(alias="listId", pattern=ORDER_ID_PATTERN, description="Id of the list")]

_READ = Policy(Access.USER, Scope.READ)
_PLACE = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)
_CANCEL = Policy(Access.USER, Scope.CANCEL, audit=True)


def _position(cursor: str | None) -> ListPosition | None:
    if cursor is None:
        return None
    created_at, list_id = decode_cursor(cursor, tuple[datetime, str])
    if created_at.tzinfo is None or not re.match(ORDER_ID_PATTERN, list_id):
        raise unknown_cursor()
    return ListPosition(created_at, list_id)


def order_list_routes(prefix: str, lists: OrderListService) -> Router:
    """The routes below `prefix`/orders/lists."""
    router = Router(f"{prefix}/orders/lists", tag="orders")

    @router.post(
        "", _PLACE, status=201, response=OrderList,
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
        "", _READ, response=list[OrderList], headers=NEXT_CURSOR_HEADER,
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
            caller(request).user_id, symbol, limit, _position(cursor), is_active=is_active
        )
        following_cursor = encode_cursor([following.created_at.isoformat(), following.list_id]) if following else None
        return page_response(page, following_cursor)

    @router.get(
        "/{listId}", _READ, response=OrderList, refusals={404: "you have no such list"}, summary="One order list"
    )
    async def get_order_list(request: Request, list_id: ListIdPath) -> Response:
        return json_response(await lists.get(caller(request).user_id, list_id))

    @router.delete(
        "/{listId}", _CANCEL, response=OrderList,
        refusals={
            404: "you have no such list", 409: "nothing of the list is open: ORDER_LIST_NOT_OPEN",
            503: "the cancel was not sent", 504: "nobody knows yet whether the list is cancelled",
        },
        summary="Cancel all that is open of an order list",
    )  # fmt: skip
    async def cancel_order_list(request: Request, list_id: ListIdPath) -> Response:
        return json_response(await lists.cancel(caller(request).user_id, list_id))

    return router
