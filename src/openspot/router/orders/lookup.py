"""The requests `orders.cancel` and `orders.get`: whose order is it, and how does it stand (Document A 1.4).

The router looks for an order in its own memory, then in the order's row, then in the engine. It treats another user's
order as unknown.
"""

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrder, CancelOrderReply, GetOrder, GetOrderReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.router.engine_client import EngineAmbiguousError, EngineClient, EngineError
from openspot.router.metrics import CANCELS
from openspot.router.orders.draft import RequestError, check_ids, check_symbol
from openspot.router.orders.engine_orders import cancelled_order, found_order, quantity_of
from openspot.router.orders.recent_orders import KnownOrder, KnownOrders
from openspot.router.store import Store
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("enquiry")

PLACEMENT_WAIT_S = 2.0
"""How long a cancel waits for the placement of its order, when both are under way."""
ROW_POLLS = 20
ROW_POLL_S = 0.02
UNKNOWN_FOR_MS_MAX = 10_000
"""An unanswered placement that the engine does not know after this time never reached it."""


class Enquiry:
    """Finds orders, and cancels them."""

    def __init__(
        self,
        *,
        specs: Mapping[str, SymbolSpec],
        known_orders: KnownOrders,
        store: Store,
        engine: EngineClient,
        clock: Clock,
    ) -> None:
        self._specs = specs
        self._known_orders = known_orders
        self._store = store
        self._engine = engine
        self._clock = clock

    async def get(self, request: GetOrder) -> GetOrderReply:
        """Reply to `orders.get`: no order if nobody knows it, or it is another user's."""
        try:
            check_ids(request.user_id, request.order_id)
            order = await self._freshest(request.order_id)
        except RequestError as error:
            return GetOrderReply.refused(Refusal(RefusalCode.VALIDATION, str(error)))
        except EngineError as error:
            reason = f"the order has no row and the matching engine does not answer: {error}"
            return GetOrderReply.refused(Refusal(RefusalCode.UNAVAILABLE, reason))
        if order is None or order.user_id != request.user_id:
            return GetOrderReply()
        return GetOrderReply(record_of(order))

    async def cancel(self, request: CancelOrder) -> CancelOrderReply:
        """Reply to `orders.cancel`. NOT_FOUND only if nobody knows the order, or it is another user's."""
        try:
            check_ids(request.user_id, request.order_id)
            if request.symbol:
                check_symbol(request.symbol)
            reply = await self._cancel(request)
        except EngineAmbiguousError as error:
            reason = f"the matching engine did not answer, the order may or may not be cancelled: {error}"
            reply = _refused(RefusalCode.STATUS_UNKNOWN, reason)
        except RequestError as error:
            reply = _refused(RefusalCode.VALIDATION, str(error))
        except EngineError as error:
            reply = _refused(RefusalCode.UNAVAILABLE, str(error))
        CANCELS.labels(_outcome_of(reply)).inc()
        return reply

    async def _cancel(self, request: CancelOrder) -> CancelOrderReply:
        order = await self._nearest(request.order_id)
        if order is None or order.user_id != request.user_id:
            return _not_found(request.order_id)
        if request.symbol and request.symbol != order.symbol:
            reason = f"symbol: order {order.order_id} is on {order.symbol}, not on {request.symbol}"
            return _refused(RefusalCode.VALIDATION, reason)
        if order.has_ended or order.engine_order_id is None:
            return _already_ended(order)
        answer = await self._engine.cancel_order(order.engine_order_id, order.user_id, order.symbol)
        if answer.status == orders_pb2.REJECTED:
            return await self._not_cancelled(order, answer.result_code)
        cancelled = await self._after_cancel(order, answer)
        known = self._known_orders.get(order.order_id)
        if known is not None:
            known.order = cancelled
        return CancelOrderReply(True, order=record_of(cancelled))

    async def _after_cancel(self, order: TrackedOrder, answer: orders_pb2.CancelOrderResponse) -> TrackedOrder:
        """The order as the cancel left it. It may have been filled in part since `order` was looked up."""
        spec = self._specs.get(order.symbol)
        taken_out = None if spec is None else quantity_of(answer.cancelled_quantity, spec)
        if taken_out == order.remaining_quantity:
            # Nothing happened to it in between, so what was looked up is exact.
            return cancelled_order(order, answer.sequence, self._now_ms())
        row = await self._row_at(order.order_id, answer.sequence)
        if row is not None:
            return row
        log.warning("cancelled order shown without its last fills", order_id=order.order_id)
        return cancelled_order(order, answer.sequence, self._now_ms())

    async def _not_cancelled(self, order: TrackedOrder, reason: str) -> CancelOrderReply:
        """Why the engine did not cancel. Most often the order has ended while the cancel was on its way."""
        if reason == ResultCode.AUTH_INVALID_USER.name:
            return _not_found(order.order_id)
        if reason != ResultCode.MATCHING_UNKNOWN_ORDER_ID.name:
            return _refused(RefusalCode.ENGINE, reason, order)
        row = await self._row(order.order_id)
        if row is not None and row.has_ended:
            return _already_ended(row)
        found = await self._ask_engine(order.order_id)
        if found is not None and found.has_ended:
            row = await self._awaited_row(order.order_id, lambda row: row.has_ended)
            return _already_ended(row or _in_the_state_of(order, found))
        return _refused(RefusalCode.NOT_OPEN, f"order {order.order_id} is not open in the matching engine", order)

    async def _nearest(self, order_id: str) -> TrackedOrder | None:
        """The order from where it is found first: its ids, owner and symbol never change."""
        known = self._known_orders.get(order_id)
        refused: TrackedOrder | None = None
        if known is not None:
            if known.placing is not None:
                await asyncio.wait({known.placing}, timeout=PLACEMENT_WAIT_S)
            if self._known_orders.get(order_id) is known:
                if known.order.engine_order_id is not None:
                    return known.order
                # Refused here before it reached the engine. Another order may stand under the same id elsewhere.
                refused = known.order
        row = await self._row(order_id)
        if row is not None and row.engine_order_id is not None:
            return row
        return await self._ask_engine(order_id) or row or refused

    async def _freshest(self, order_id: str) -> TrackedOrder | None:
        """The order as of the newest engine event that this process, the rows or the engine know."""
        known = self._known_orders.get(order_id)
        if known is not None and known.placing is not None:
            return known.order
        order = await self._row(order_id)
        if known is not None and (order is None or order.last_sequence < known.order.last_sequence):
            if known.unknown_since_ms is not None:
                return await self._resolved(known)
            order = known.order
        if order is not None and order.engine_order_id is not None:
            return order
        # Unknown so far, or refused before it reached the engine, under an id with which another order may stand.
        try:
            found = await self._ask_engine(order_id)
        except EngineError:
            if order is None:
                raise
            return order
        if found is None:
            return order
        # Another router has just placed it: its row is on its way and says more.
        return await self._awaited_row(order_id, lambda row: row.engine_order_id is not None) or found

    async def _resolved(self, known: KnownOrder) -> TrackedOrder | None:
        """An order whose placement was not answered, as the engine knows it now."""
        order = known.order
        found = await self._ask_engine(order.order_id)
        if found is not None:
            return _in_the_state_of(order, found)
        assert known.unknown_since_ms is not None, "only an unanswered placement is resolved"
        if self._now_ms() - known.unknown_since_ms <= UNKNOWN_FOR_MS_MAX:
            return order
        self._known_orders.forget(order.order_id)
        return None

    async def _ask_engine(self, order_id: str) -> TrackedOrder | None:
        found = await self._engine.get_order(order_id)
        spec = self._specs.get(found.symbol)
        return found_order(found, spec, self._now_ms()) if found.found and spec is not None else None

    async def _row(self, order_id: str) -> TrackedOrder | None:
        """The order's row. None also while the database is away: the engine may still know the order."""
        try:
            return await self._store.order(order_id)
        except TRANSIENT_ERRORS as error:
            log.warning("order looked up without the database", order_id=order_id, error=repr(error))
            return None

    async def _row_at(self, order_id: str, sequence: int) -> TrackedOrder | None:
        """The order's row once it contains the engine's event `sequence`; None if that takes too long."""
        return await self._awaited_row(order_id, lambda row: row.last_sequence >= sequence)

    async def _awaited_row(self, order_id: str, shows: Callable[[TrackedOrder], bool]) -> TrackedOrder | None:
        for _ in range(ROW_POLLS):
            row = await self._row(order_id)
            if row is not None and shows(row):
                return row
            await asyncio.sleep(ROW_POLL_S)
        return None

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def _refused(code: RefusalCode, message: str, order: TrackedOrder | None = None) -> CancelOrderReply:
    return CancelOrderReply.refused(Refusal(code, message), None if order is None else record_of(order))


def _not_found(order_id: str) -> CancelOrderReply:
    return _refused(RefusalCode.NOT_FOUND, f"order {order_id} not found")


def _outcome_of(reply: CancelOrderReply) -> str:
    """The outcome as the metric names it."""
    if reply.success:
        return "cancelled"
    return "not_found" if reply.code is RefusalCode.NOT_FOUND else "failed"


def _in_the_state_of(order: TrackedOrder, found: TrackedOrder) -> TrackedOrder:
    """`order`, in the state in which the engine has it."""
    return msgspec.structs.replace(
        order,
        filled_quantity=found.filled_quantity,
        filled_notional=found.filled_notional,
        remaining_quantity=found.remaining_quantity,
        status=found.status,
    )


def _already_ended(order: TrackedOrder) -> CancelOrderReply:
    return _refused(RefusalCode.ALREADY_ENDED, f"order is already {order.status}", order)
