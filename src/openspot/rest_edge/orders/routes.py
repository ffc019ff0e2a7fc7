"""The routes of the orders (facts B4.1-02 to B4.1-12)."""

import re
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Body, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import OrderRecord
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.http.context import RequestContext, caller, context_of, identity_of, operation_of
from openspot.http.errors import HttpError, validation_error
from openspot.http.lists import (
    LIMIT_DEFAULT,
    LIMIT_MAX,
    NEXT_CURSOR,
    NEXT_CURSOR_HEADER,
    Cursor,
    Limit,
    decode_cursor,
    encode_cursor,
)
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import FastPathResponse, encode_json, json_response, page_response
from openspot.http.routing import FastPathHandler, Router
from openspot.http.validation import LowerCase, PrintableText, Symbol, UtcDatetime
from openspot.rest_edge.orders.cancel_schemas import ORDER_IDS_MAX, BulkCancel, BulkCancelBody
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition
from openspot.rest_edge.orders.positions import cursor_of, position_of
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.schemas import (
    ORDER_ID_PATTERN,
    BatchEntry,
    OrderBatchBody,
    OrderSide,
    OwnTrade,
    order_body,
    read_order,
)
from openspot.rest_edge.orders.service import OrderService

HISTORY_STATUSES = tuple(status.value for status in OrderStatus if status in TERMINAL)

OrderIdPath = Annotated[str, Path(alias="orderId", pattern=ORDER_ID_PATTERN, description="Id of the order")]
StatusQuery = Annotated[
    str | None, Query(description="One status, or several with commas between them", examples=["open"])
]
SymbolQuery = Annotated[Symbol | None, Query(description="Only those of this market")]
SideQuery = Annotated[OrderSide | None, LowerCase, Query(description="Only those of this side")]
ClientOrderIdQuery = Annotated[
    str | None,
    Query(alias="clientOrderId", max_length=64, description="Only orders with this clientOrderId; several may have it"),
    PrintableText,
]
ListIdQuery = Annotated[
    str | None, Query(alias="listId", pattern=ORDER_ID_PATTERN, description="Only the orders of this list")
]

ClientOrderIdPath = Annotated[
    str, Path(alias="clientOrderId", max_length=64, description="Your own reference"), PrintableText
]
OrderIdQuery = Annotated[
    str | None, Query(alias="orderId", pattern=ORDER_ID_PATTERN, description="Only trades of this order")
]
SinceQuery = Annotated[UtcDatetime | None, Query(alias="from", description="Orders created then or later")]
UntilQuery = Annotated[UtcDatetime | None, Query(alias="to", description="Orders created before that")]

_LIMIT_ALONE = re.compile(rb"limit=([1-9][0-9]{0,3})")

EngineSequence = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

READ = Policy(Access.USER, Scope.READ)
PLACE = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)
CANCEL = Policy(Access.USER, Scope.CANCEL, audit=True)


def _trade_position(cursor: str | None) -> OwnTradePosition | None:
    if cursor is None:
        return None
    return OwnTradePosition(*decode_cursor(cursor, tuple[EngineSequence, Literal["maker", "taker"]]))


def wanted_statuses(text: str | None) -> tuple[str, ...]:
    """The statuses that a filter names. Raises HttpError (400) for one that no order has."""
    if text is None:
        return ()
    names = tuple(name.strip().lower() for name in text.split(","))
    known = [status.value for status in OrderStatus]
    if any(name not in known for name in names):
        raise validation_error([f"status must be one of {', '.join(known)}"])
    return names


def order_routes(
    prefix: str, orders: OrderService, *, fast_paths: bool = True, has_complete_rules: bool = True
) -> Router:
    """The routes of `/orders`, below `prefix`. Without `fast_paths` FastAPI handles every route."""
    body_type: Any = order_body(are_complete=has_complete_rules)
    router = Router(f"{prefix}/orders", tag="orders")

    @router.post(
        "", PLACE, status=201, response=OrderRecord,
        refusals={
            400: "the body is not valid, or the order was rejected: `message` is the reason, for example RISK_NSF",
            409: "an open order of yours has the `clientOrderId`: DUPLICATE_CLIENT_ORDER_ID, with that order's id in "
            "`details` (complete rules)",
            503: "the order was not sent",
            504: "nobody knows yet what became of the order: ORDER_STATUS_UNKNOWN, with its id in `details`",
        },
        fast_path=_place_by_fast_path(orders, has_complete_rules=has_complete_rules) if fast_paths else None,
        summary="Place an order",
    )  # fmt: skip
    async def place_order(request: Request, body: body_type) -> Response:
        return json_response(await orders.place(caller(request).user_id, body, operation_of(context_of(request))), 201)

    @router.post(
        "/batch", PLACE, response=list[BatchEntry],
        refusals={400: "the body is not a list of at most 20 orders", 503: "nothing was sent"},
        summary="Place up to 20 orders, each answered alone, in the order of the request",
    )  # fmt: skip
    async def place_orders(request: Request, body: OrderBatchBody) -> Response:
        operation = operation_of(context_of(request))
        outcomes = await orders.place_batch(caller(request).user_id, body.orders, operation)
        if context_of(request).operation is not None and any(outcome.status >= 500 for outcome in outcomes):
            # Under an Idempotency-Key only a known outcome is final. A repetition looks these orders up.
            raise HttpError(
                504,
                "nobody knows yet what became of every order: repeat the request with its Idempotency-Key",
                "ORDER_STATUS_UNKNOWN",
                details={"orders": msgspec.to_builtins(outcomes)},
            )
        return json_response(outcomes)

    async def listed(request: Request, wanted: OrderFilter, limit: int, cursor: str | None) -> Response:
        page, following = await orders.list_of(caller(request).user_id, wanted, limit, position_of(cursor))
        return page_response(page, cursor_of(following))

    @router.get(
        "", READ, response=list[OrderRecord], headers=NEXT_CURSOR_HEADER,
        fast_path=_list_by_fast_path(orders) if fast_paths else None, summary="Your orders, newest first",
    )  # fmt: skip
    async def list_orders(
        request: Request,
        status: StatusQuery = None,
        symbol: SymbolQuery = None,
        side: SideQuery = None,
        client_order_id: ClientOrderIdQuery = None,
        since: SinceQuery = None,
        until: UntilQuery = None,
        list_id: ListIdQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = OrderFilter(wanted_statuses(status), symbol, side, client_order_id, since, until, list_id)
        return await listed(request, wanted, limit, cursor)

    @router.get(
        "/history", READ, response=list[OrderRecord], headers=NEXT_CURSOR_HEADER,
        summary="Your orders that have ended: filled, cancelled or rejected",
    )  # fmt: skip
    async def list_ended_orders(
        request: Request,
        symbol: SymbolQuery = None,
        side: SideQuery = None,
        client_order_id: ClientOrderIdQuery = None,
        since: SinceQuery = None,
        until: UntilQuery = None,
        list_id: ListIdQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = OrderFilter(HISTORY_STATUSES, symbol, side, client_order_id, since, until, list_id)
        return await listed(request, wanted, limit, cursor)

    @router.get(
        "/trades", READ, response=list[OwnTrade], headers=NEXT_CURSOR_HEADER,
        summary="Your trades with their fees, newest first",
    )  # fmt: skip
    async def list_own_trades(
        request: Request,
        symbol: SymbolQuery = None,
        order_id: OrderIdQuery = None,
        since: Annotated[UtcDatetime | None, Query(alias="from", description="Trades executed then or later")] = None,
        until: Annotated[UtcDatetime | None, Query(alias="to", description="Trades executed before that")] = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = OwnTradeFilter(symbol, order_id, since, until)
        page, following = await orders.trades_of(caller(request).user_id, wanted, limit, _trade_position(cursor))
        return page_response(page, encode_cursor(list(following)) if following else None)

    @router.get(
        "/client/{clientOrderId}", READ, response=OrderRecord, refusals={404: "you have no such order"},
        summary="Your newest order with this clientOrderId",
    )  # fmt: skip
    async def get_order_by_client_id(request: Request, client_order_id: ClientOrderIdPath) -> Response:
        return json_response(await orders.get_by_client_order_id(caller(request).user_id, client_order_id))

    @router.get(
        "/{orderId}", READ, response=OrderRecord,
        refusals={404: "you have no such order", 503: "the order router does not respond"},
        fast_path=_get_by_fast_path(orders) if fast_paths else None, summary="One order",
    )  # fmt: skip
    async def get_order(request: Request, order_id: OrderIdPath) -> Response:
        return json_response(await orders.get(caller(request).user_id, order_id))

    @router.delete(
        "/{orderId}", CANCEL, response=OrderRecord,
        refusals={
            404: "you have no such order", 409: "the order has ended already: ORDER_NOT_OPEN, with its status",
            503: "the cancel was not sent", 504: "nobody knows yet whether the order is cancelled",
        },
        summary="Cancel an order",
    )  # fmt: skip
    async def cancel_order(request: Request, order_id: OrderIdPath) -> Response:
        return json_response(await orders.cancel(caller(request).user_id, order_id))

    @router.delete(
        "", CANCEL, response=BulkCancel,
        refusals={
            400: "a condition is not valid, or stands in the query and in the body",
            409: "too many bulk cancels of yours wait for their turn: BULK_CANCEL_IN_PROGRESS",
        },
        summary="Cancel your open orders that fit every condition; without any, all",
    )  # fmt: skip
    async def cancel_orders(
        request: Request,
        body: Annotated[BulkCancelBody | None, Body()] = None,
        symbol: SymbolQuery = None,
        side: SideQuery = None,
        order_ids: Annotated[
            str | None, Query(alias="orderIds", max_length=20_000, description="Ids with commas between them")
        ] = None,
        client_order_id: ClientOrderIdQuery = None,
    ) -> Response:
        in_query = (symbol, side, order_ids, client_order_id)
        if body is not None and any(condition is not None for condition in in_query):
            raise validation_error(["give the conditions in the query or in the body, not in both"])
        if body is not None:
            symbol, side, wanted = body.symbol, body.side, body.order_ids
            client_order_id = body.client_order_id
        else:
            wanted = order_ids.split(",") if order_ids is not None else None
            if wanted is not None and len(wanted) > ORDER_IDS_MAX:
                raise validation_error([f"orderIds must have at most {ORDER_IDS_MAX} entries"])
            if wanted is not None and not all(re.match(ORDER_ID_PATTERN, order_id) for order_id in wanted):
                raise validation_error(["orderIds must be order ids with commas between them"])
        if wanted is not None and client_order_id is not None:
            raise validation_error(["give orderIds or clientOrderId, not both"])
        outcome = await orders.cancel_many(caller(request).user_id, symbol, side, wanted, client_order_id)
        return json_response(outcome)

    return router


def _place_by_fast_path(orders: OrderService, *, has_complete_rules: bool) -> FastPathHandler:
    """Handle `POST /orders` without FastAPI. The declared route gives the same responses."""

    async def place(context: RequestContext) -> FastPathResponse:
        identity = identity_of(context)
        order = read_order(context.body, are_complete=has_complete_rules)
        return FastPathResponse(201, encode_json(await orders.place(identity.user_id, order, operation_of(context))))

    return place


def _get_by_fast_path(orders: OrderService) -> FastPathHandler:
    """Handle `GET /orders/{orderId}` without FastAPI, except for an id that cannot be one."""

    async def get(context: RequestContext) -> FastPathResponse | None:
        order_id = context.parameters["orderId"]
        if not re.fullmatch(ORDER_ID_PATTERN, order_id):
            return None
        return FastPathResponse(200, encode_json(await orders.get(identity_of(context).user_id, order_id)))

    return get


def _list_by_fast_path(orders: OrderService) -> FastPathHandler:
    """Handle `GET /orders` without FastAPI, if it has no parameters, or the limit alone."""

    async def list_all(context: RequestContext) -> FastPathResponse | None:
        query: bytes = context.scope["query_string"]
        limit = _LIMIT_ALONE.fullmatch(query)
        if query and (limit is None or int(limit[1]) > LIMIT_MAX):
            return None
        count = int(limit[1]) if limit is not None else LIMIT_DEFAULT
        page, following = await orders.list_of(identity_of(context).user_id, OrderFilter(), count, None)
        cursor = cursor_of(following)
        headers = () if cursor is None else ((NEXT_CURSOR.lower().encode(), cursor.encode()),)
        return FastPathResponse(200, encode_json(page), headers)

    return list_all
