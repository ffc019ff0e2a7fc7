"""The routes that change open orders, which only the complete rules have.

An amendment says what the order shall have, not by how much it changes: repeated, it changes nothing.
"""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import OrderAmendment, OrderRecord
from openspot.http.context import caller, context_of, operation_of
from openspot.http.errors import HttpError
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.orders.amendment_schemas import AmendmentBatchBody, AmendmentBody
from openspot.rest_edge.orders.cancel_schemas import BulkCancel
from openspot.rest_edge.orders.replacements import Replacements
from openspot.rest_edge.orders.routes import CANCEL, PLACE, ClientOrderIdPath, OrderIdPath
from openspot.rest_edge.orders.schemas import BatchEntry, Replacement, ReplacementBody
from openspot.rest_edge.orders.service import OrderService

_REFUSALS = {
    400: "the body is not valid, or the amended order breaks a rule: `message` is the reason, for example RISK_NSF",
    404: "you have no such order",
    409: "the order has ended already: ORDER_NOT_OPEN, with its status; it is one of a list, whose quantity stays: "
    "ORDER_IN_LIST",
    503: "the amendment was not sent",
    504: "nobody knows yet whether the order is amended: ORDER_STATUS_UNKNOWN, with its id in `details`",
}


def amendment_routes(prefix: str, orders: OrderService) -> Router:
    """The routes below `prefix`/orders."""
    router = Router(f"{prefix}/orders", tag="orders")

    async def amended(request: Request, order_id: str, body: AmendmentBody) -> Response:
        amendment = OrderAmendment(order_id, body.price, body.quantity, body.stop_price)
        return json_response(await orders.amend(caller(request).user_id, amendment))

    @router.patch(
        "/batch", PLACE, response=list[BatchEntry],
        refusals={400: "the body is not a list of at most 20 amendments", 503: "nothing was sent"},
        summary="Amend up to 20 open limit orders in one step, each answered alone, in the order of the request",
    )  # fmt: skip
    async def amend_orders(request: Request, body: AmendmentBatchBody) -> Response:
        amendments = [order.to_request() for order in body.orders]
        outcomes = await orders.amend_batch(caller(request).user_id, amendments)
        if context_of(request).operation is not None and any(outcome.status >= 500 for outcome in outcomes):
            # Under an Idempotency-Key only a known outcome is final.
            raise HttpError(
                504,
                "nobody knows yet what became of every amendment: repeat the request with its Idempotency-Key",
                "ORDER_STATUS_UNKNOWN",
                details={"orders": msgspec.to_builtins(outcomes)},
            )
        return json_response(outcomes)

    @router.patch(
        "/client/{clientOrderId}", PLACE, response=OrderRecord, refusals=_REFUSALS,
        summary="Amend price, quantity or trigger of your open order with this clientOrderId",
    )  # fmt: skip
    async def amend_order_by_client_id(
        request: Request, client_order_id: ClientOrderIdPath, body: AmendmentBody
    ) -> Response:
        order_id = await orders.open_order_id(caller(request).user_id, client_order_id)
        return await amended(request, order_id, body)

    @router.patch(
        "/{orderId}", PLACE, response=OrderRecord, refusals=_REFUSALS,
        summary="Amend price, quantity or trigger of an open order",
    )  # fmt: skip
    async def amend_order(request: Request, order_id: OrderIdPath, body: AmendmentBody) -> Response:
        return await amended(request, order_id, body)

    replacements = Replacements(orders)

    @router.post(
        "/{orderId}/replace", PLACE, status=201, response=Replacement,
        refusals={
            400: "the body is not valid, or the new order was rejected and the old one still stands",
            404: "you have no such order, and nothing was placed",
            409: "the old order has ended already and nothing was placed: ORDER_NOT_OPEN; or it is cancelled and the "
            "new one was refused: REPLACEMENT_REJECTED, with `reason` and both ids in `details`",
            503: "nothing was sent",
            504: "nobody knows yet what became of both: ORDER_STATUS_UNKNOWN, with the new order's id in `details`",
        },
        summary="Cancel an open order and place another on its market, in one step",
    )  # fmt: skip
    async def replace_order(request: Request, order_id: OrderIdPath, body: ReplacementBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await replacements.replace(caller(request).user_id, order_id, body, operation), 201)

    @router.delete(
        "/client/{clientOrderId}", CANCEL, response=BulkCancel,
        refusals={
            404: "no order of yours ever had it",
            409: "too many bulk cancels of yours wait for their turn: BULK_CANCEL_IN_PROGRESS",
        },
        summary="Cancel your open orders with this clientOrderId",
    )  # fmt: skip
    async def cancel_orders_by_client_id(request: Request, client_order_id: ClientOrderIdPath) -> Response:
        user_id = caller(request).user_id
        outcome = await orders.cancel_many(user_id, None, None, None, client_order_id)
        if not outcome.cancelled and not outcome.failed:
            # Raises HttpError (404) if no order ever had it.
            await orders.get_by_client_order_id(user_id, client_order_id)
        return json_response(outcome)

    return router
