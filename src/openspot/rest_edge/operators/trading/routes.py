"""The routes of the orders and trades of all users: `/operator/orders`, `/operator/trades`."""

from functools import partial
from typing import Annotated

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import OrderRecord
from openspot.http.context import context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.http.validation import LowerCase
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.schemas import ReasonBody
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.trading.schemas import OperatedTrade
from openspot.rest_edge.operators.trading.service import OperatedTrading
from openspot.rest_edge.operators.trading.store import TradingFilter
from openspot.rest_edge.operators.user_parameters import UserQuery
from openspot.rest_edge.orders.routes import OrderIdPath, SideQuery, StatusQuery, SymbolQuery, wanted_statuses
from openspot.rest_edge.orders.schemas import OrderSide

TakerSideQuery = Annotated[
    OrderSide | None, LowerCase, Query(alias="side", description="Only those whose taker bought, or sold")
]

_READ_ORDERS = Policy(Access.OPERATOR, permission=Permission.ORDERS_READ_ALL)
_READ_TRADES = Policy(Access.OPERATOR, permission=Permission.TRADES_READ_ALL)
_EXPORT = Policy(Access.OPERATOR, permission=Permission.TRADES_EXPORT)
_CANCEL = Policy(Access.OPERATOR, permission=Permission.ORDERS_CANCEL_ANY, audit=True, idempotency=True)
_BAD = {400: "a parameter is not valid"}
_PAGES = "a page may be short or empty, and only one without a next cursor is the last"


async def _wanted_orders(
    span: SpanQuery,
    user_id: UserQuery = None,
    symbol: SymbolQuery = None,
    side: SideQuery = None,
    status: StatusQuery = None,
) -> TradingFilter:
    return TradingFilter(user_id, symbol, side, span, wanted_statuses(status))


async def _wanted_trades(
    span: SpanQuery, user_id: UserQuery = None, symbol: SymbolQuery = None, side: TakerSideQuery = None
) -> TradingFilter:
    return TradingFilter(user_id, symbol, side, span)


WantedOrders = Annotated[TradingFilter, Depends(_wanted_orders)]
WantedTrades = Annotated[TradingFilter, Depends(_wanted_trades)]


def trading_routes(prefix: str, trading: OperatedTrading, exports: Exports) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator", tag="operator")
    # What an order made at once is a list, and stands among the trades; no stored order has it.
    order_columns = columns_of(OrderRecord, without={"fills", "fills_truncated"})
    trade_columns = columns_of(OperatedTrade)

    @router.get(
        "/orders", _READ_ORDERS, response=list[OrderRecord], headers=NEXT_CURSOR_HEADER, refusals=_BAD,
        summary=f"The orders of all users, newest first; {_PAGES}",
    )  # fmt: skip
    async def list_all_orders(wanted: WantedOrders, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return page_response(*await trading.orders(wanted, limit, cursor))

    @router.get(
        "/orders/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="The orders of all users as a file, newest first",
    )  # fmt: skip
    async def export_all_orders(wanted: WantedOrders, file: WantedFileQuery) -> Response:
        read = partial(trading.orders, wanted)
        return await exports.file("orders", order_columns, file, wanted.texts(), read, needs=Permission.ORDERS_READ_ALL)

    @router.get(
        "/trades", _READ_TRADES, response=list[OperatedTrade], headers=NEXT_CURSOR_HEADER, refusals=_BAD,
        summary=f"The trades of all users, newest first; {_PAGES}",
    )  # fmt: skip
    async def list_all_trades(wanted: WantedTrades, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return page_response(*await trading.trades(wanted, limit, cursor))

    @router.get(
        "/trades/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="The trades of all users as a file, newest first",
    )  # fmt: skip
    async def export_all_trades(wanted: WantedTrades, file: WantedFileQuery) -> Response:
        read = partial(trading.trades, wanted)
        return await exports.file("trades", trade_columns, file, wanted.texts(), read, needs=Permission.TRADES_READ_ALL)

    @router.post(
        "/orders/{orderId}/cancellation", _CANCEL, response=OrderRecord,
        refusals={
            400: "the body is not valid",
            404: "there is no such order: ORDER_NOT_FOUND",
            409: "it has ended: ORDER_NOT_OPEN, with its status; or it is no user's own: ORDER_OF_THE_HOUSE, "
            "ORDER_OF_MARGIN",
            503: "nothing was done",
            504: "nobody knows whether it was cancelled: ORDER_STATUS_UNKNOWN",
        },
        summary="Cancel an open order of a user",
    )  # fmt: skip
    async def cancel_order_of_user(request: Request, order_id: OrderIdPath, body: ReasonBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await trading.cancel(order_id, acting(request, body.reason), operation))

    return router
