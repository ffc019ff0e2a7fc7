"""The request `orders.cancel` (facts A1.4-01 to A1.4-06)."""

from collections.abc import Mapping

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrder, CancelOrderReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit import tracing
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.router.metrics import CANCELS
from openspot.router.orders.draft import check_ids, check_symbol
from openspot.router.orders.engine_orders import cancelled_order, quantity_of
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("cancellation")


class Cancellation:
    """Cancels orders in the engine."""

    def __init__(
        self,
        *,
        specs: Mapping[str, SymbolSpec],
        lookup: OrderLookup,
        recent_orders: RecentOrders,
        engine: EngineCommands,
        clock: Clock,
    ) -> None:
        self._specs = specs
        self._lookup = lookup
        self._recent_orders = recent_orders
        self._engine = engine
        self._clock = clock

    async def cancel(self, request: CancelOrder) -> CancelOrderReply:
        """Reply to `orders.cancel`. The code is NOT_FOUND only if nobody knows the order or another user owns it."""
        try:
            check_ids(request.user_id, request.order_id)
            if request.symbol:
                check_symbol(request.symbol)
            reply = await self._cancel(request, tracing.begin())
        except EngineAmbiguousError as error:
            reason = f"the matching engine did not answer, the order may or may not be cancelled: {error}"
            reply = _refused(RefusalCode.STATUS_UNKNOWN, reason)
        except InvalidRequestError as error:
            reply = _refused(RefusalCode.VALIDATION, str(error))
        except EngineError as error:
            reply = _refused(RefusalCode.UNAVAILABLE, str(error))
        CANCELS.labels(_outcome_of(reply)).inc()
        return reply

    async def _cancel(self, request: CancelOrder, began: int) -> CancelOrderReply:
        order = await self._lookup.nearest(request.order_id)
        if order is None or order.user_id != request.user_id:
            return _not_found(request.order_id)
        if request.symbol and request.symbol != order.symbol:
            reason = f"symbol: order {order.order_id} is on {order.symbol}, not on {request.symbol}"
            return _refused(RefusalCode.VALIDATION, reason)
        if order.has_ended or order.engine_order_id is None:
            return _already_ended(order)
        try:
            called = tracing.begin()
            try:
                response = await self._engine.cancel_order(order.engine_order_id, order.user_id, order.symbol)
            finally:
                tracing.end(order.order_id, tracing.Step.CANCEL_CALL, called)
            return await self.outcome(order, response)
        finally:
            tracing.end(order.order_id, tracing.Step.CANCEL_WORK, began)

    async def outcome(self, order: TrackedOrder, response: orders_pb2.CancelOrderResponse) -> CancelOrderReply:
        """The reply after the engine's response to the cancel of an order. Raises EngineError."""
        if response.status == orders_pb2.REJECTED:
            return await self._not_cancelled(order, response.result_code)
        cancelled = await self._after_cancel(order, response)
        recent = self._recent_orders.get(order.order_id)
        if recent is not None:
            recent.order = cancelled
        return CancelOrderReply(True, order=record_of(cancelled))

    async def _after_cancel(self, order: TrackedOrder, response: orders_pb2.CancelOrderResponse) -> TrackedOrder:
        """The order after the cancel.

        Before it, and after the state that this router remembers, the order may have been filled, amended by another
        router, or activated. The row has what was written of that.
        """
        row = await self._lookup.row_at_once(order.order_id)
        if row is not None and row.last_sequence > order.last_sequence:
            order = row
        if order.has_ended:
            return order
        spec = self._specs.get(order.symbol)
        removed = None if spec is None else quantity_of(response.cancelled_quantity, spec)
        if removed == order.remaining_quantity and not _changes_unseen(order):
            return cancelled_order(order, response.sequence, self._now_ms())
        row = await self._lookup.awaited_row(order.order_id, lambda row: row.has_ended)
        if row is not None:
            return row
        log.warning("cancelled order shown without its last changes", order_id=order.order_id)
        return cancelled_order(order, response.sequence, self._now_ms())

    async def _not_cancelled(self, order: TrackedOrder, reason: str) -> CancelOrderReply:
        """The reply if the engine did not cancel. Most often the order ended while the cancel was on its way."""
        if reason == ResultCode.AUTH_INVALID_USER.name:
            return _not_found(order.order_id)
        if reason != ResultCode.MATCHING_UNKNOWN_ORDER_ID.name:
            return _refused(RefusalCode.ENGINE, reason, order)
        ended = await self._lookup.ended(order)
        if ended is not None:
            return _already_ended(ended)
        return _refused(RefusalCode.NOT_OPEN, f"order {order.order_id} is not open in the matching engine", order)

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def refused_order(order: TrackedOrder | None, order_id: str, user_id: str) -> CancelOrderReply | None:
    """Why an order cannot be cancelled, as far as the router knows; None if the engine decides."""
    if order is None or order.user_id != user_id:
        return _not_found(order_id)
    return _already_ended(order) if order.has_ended or order.engine_order_id is None else None


def _changes_unseen(order: TrackedOrder) -> bool:
    """Whether the order may have changed although as much was open as before: its trigger fires, or its list ends."""
    return order.is_waiting or order.list_id is not None


def _refused(code: RefusalCode, message: str, order: TrackedOrder | None = None) -> CancelOrderReply:
    return CancelOrderReply.refused(Refusal(code, message), None if order is None else record_of(order))


def _not_found(order_id: str) -> CancelOrderReply:
    return _refused(RefusalCode.NOT_FOUND, f"order {order_id} not found")


def _already_ended(order: TrackedOrder) -> CancelOrderReply:
    return _refused(RefusalCode.ALREADY_ENDED, f"order is already {order.status}", order)


def _outcome_of(reply: CancelOrderReply) -> str:
    """The outcome as the metric names it."""
    if reply.success:
        return "cancelled"
    return "not_found" if reply.code is RefusalCode.NOT_FOUND else "failed"
