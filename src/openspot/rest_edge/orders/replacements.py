"""Replacing an order: cancel it and place another in one step, with an answer that names both outcomes."""

from openspot.contracts.messages import OrderRecord
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.domain.result_code import ResultCode
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError
from openspot.rest_edge.orders.refusals import status_unknown
from openspot.rest_edge.orders.schemas import BatchRefusal, Replacement, ReplacementBody, ReplaceMode
from openspot.rest_edge.orders.service import OrderService, outcome_of


class Replacements:
    """Handles the requests to replace orders. Its methods raise HttpError to refuse a request."""

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def replace(
        self, user_id: str, order_id: str, body: ReplacementBody, operation: IdempotentOperation
    ) -> Replacement:
        """Replace the caller's order. The new order's id is the operation's id.

        If nothing was cancelled and nothing placed, the error is that of the cancel, or else that of the placement. If
        the old order is cancelled and the new one was refused: 409 REPLACEMENT_REJECTED, with both ids.
        """
        new_id = operation.operation_id
        if operation.is_resumed:
            earlier = await self._orders.known_or_none(user_id, new_id)
            if earlier is not None:
                return await self._resumed(user_id, order_id, earlier)
        # Only now: the new order of an earlier run may have expired since.
        self._orders.check(body)
        reply = await self._orders.ask_to_replace(
            user_id, order_id, body, new_id, allow_failure=body.mode is ReplaceMode.ALLOW_FAILURE
        )
        cancelled: OrderRecord | None = None
        refusal: HttpError | None = None
        try:
            cancelled = None if reply.cancelled is None else await self._orders.cancelled(order_id, reply.cancelled)
        except HttpError as error:
            refusal = error
            if reply.placed is None:
                raise
        try:
            if reply.placed is None:
                raise _not_attempted(new_id)
            order = await self._orders.placed(user_id, new_id, reply.placed)
        except HttpError as error:
            raise _refused(order_id, new_id, error, is_cancelled=cancelled is not None) from error
        return Replacement(order, cancelled, None if refusal is None else _as_entry(refusal))

    async def _resumed(self, user_id: str, order_id: str, earlier: OrderRecord) -> Replacement:
        """The outcome of an earlier run of the same operation, from the records of both orders."""
        cancelled: OrderRecord | None = None
        refusal: HttpError | None = None
        try:
            old = await self._orders.get(user_id, order_id)
            if old.status not in TERMINAL and earlier.status != OrderStatus.REJECTED:
                # The new order is there, so the old one has ended: its row is behind, and does not say yet how.
                raise status_unknown(earlier.order_id)
            if old.status == OrderStatus.CANCELLED:
                cancelled = old
            else:
                details = {"orderId": order_id, "status": old.status}
                refusal = HttpError(409, f"the order is {old.status}", "ORDER_NOT_OPEN", details=details)
        except HttpError as error:
            if error.status_code != 404:
                raise
            refusal = error
        if earlier.reject_reason == ResultCode.REPLACEMENT_NOT_ATTEMPTED.name and refusal is not None:
            raise refusal
        try:
            order = outcome_of(earlier)
        except HttpError as error:
            raise _refused(order_id, earlier.order_id, error, is_cancelled=cancelled is not None) from error
        return Replacement(order, cancelled, None if refusal is None else _as_entry(refusal))


def _not_attempted(new_id: str) -> HttpError:
    code = ResultCode.REPLACEMENT_NOT_ATTEMPTED.name
    return HttpError(409, "nothing was placed", code, details={"orderId": new_id})


def _refused(order_id: str, new_id: str, error: HttpError, *, is_cancelled: bool) -> HttpError:
    """The error of a replacement whose new order was not placed."""
    if not is_cancelled or error.status_code >= 500:
        return error
    details = {"cancelledOrderId": order_id, "orderId": new_id, "reason": error.code}
    message = f"order {order_id} is cancelled, and no other was placed: {error.detail}"
    return HttpError(409, message, "REPLACEMENT_REJECTED", details=details)


def _as_entry(error: HttpError) -> BatchRefusal:
    return BatchRefusal(error.message, error.code, error.details)
