"""The request `orders.cancel_open` (fact B4.1-11): cancel a user's open orders, a bounded number at a time.

One request is one call of the engine, and the reply waits until the translator has written what the call changed. So
a caller that repeats the request while orders remain never gets further ahead of the rows than one call, and everybody
else's orders come between two calls.
"""

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.order import Side
from openspot.domain.order_list import LIST_ORDERS_MAX
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.router.metrics import CANCELS
from openspot.router.orders.draft import check_ids, check_symbol, check_user_id
from openspot.router.orders.engine_orders import cancelled_order
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.recent_orders import RecentOrders

ORDER_IDS_MAX = 500
"""Orders that one request names at most: as many as the engine takes in one call."""
_SIDES = frozenset({"", *(side.name.lower() for side in Side)})
_NOTHING_OPEN = frozenset({ResultCode.AUTH_INVALID_USER.name, ResultCode.INVALID_SYMBOL.name})
"""The engine does not know the user or the symbol, so the user has no open order there."""


class BulkCancellation:
    """Cancels the open orders of a user in the engine."""

    def __init__(
        self,
        *,
        lookup: OrderLookup,
        recent_orders: RecentOrders,
        engine: EngineCommands,
        clock: Clock,
        has_lists: bool = False,
    ) -> None:
        self._lookup = lookup
        self._recent_orders = recent_orders
        self._engine = engine
        self._clock = clock
        self._has_lists = has_lists

    async def cancel_open(self, request: CancelOpenOrders) -> CancelOpenOrdersReply:
        """Reply to `orders.cancel_open`. The reply says whether more orders remain than one call takes."""
        try:
            check_user_id(request.user_id)
            if request.symbol:
                check_symbol(request.symbol)
            if request.side not in _SIDES:
                raise InvalidRequestError("side must be buy, sell or empty")
            if len(request.order_ids) > ORDER_IDS_MAX:
                raise InvalidRequestError(f"orderIds must have at most {ORDER_IDS_MAX} entries")
            for order_id in request.order_ids:
                check_ids(request.user_id, order_id)
            reply = await self._cancel_open(request)
        except EngineAmbiguousError as error:
            reason = f"the matching engine did not answer, the orders may or may not be cancelled: {error}"
            reply = CancelOpenOrdersReply.refused(Refusal(RefusalCode.STATUS_UNKNOWN, reason))
        except InvalidRequestError as error:
            reply = CancelOpenOrdersReply.refused(error.refusal)
        except EngineError as error:
            reply = CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNAVAILABLE, str(error)))
        if reply.success:
            CANCELS.labels("cancelled").inc(len(reply.cancelled))
        else:
            CANCELS.labels("failed").inc()
        return reply

    async def _cancel_open(self, request: CancelOpenOrders) -> CancelOpenOrdersReply:
        response = await self._engine.cancel_orders(request.user_id, request.symbol, request.side, request.order_ids)
        if response.result_code in _NOTHING_OPEN:
            return CancelOpenOrdersReply(True)
        if response.status == orders_pb2.REJECTED:
            busy = response.result_code == ResultCode.ENGINE_BUSY.name
            code = RefusalCode.BUSY if busy else RefusalCode.ENGINE
            return CancelOpenOrdersReply.refused(Refusal(code, response.result_code))
        now_ms = self._clock() // NANOSECONDS_PER_MS
        cancelled: list[str] = []
        for order in response.orders:
            # An order that no router placed may have only the engine's id.
            order_id = order.external_id or str(order.order_id)
            cancelled.append(order_id)
            recent = self._recent_orders.get(order_id)
            if recent is not None:
                recent.order = cancelled_order(recent.order, order.sequence, now_ms)
        if cancelled:
            last = response.orders[-1].sequence
            row = await self._lookup.awaited_row(cancelled[-1], lambda row: row.has_ended)
            if row is not None and self._has_lists:
                await self._lookup.awaited_events(row.symbol, last)
                # The engine lists what it was told to cancel. The cancel of an order of a list has ended the others.
                first = response.orders[0].sequence - LIST_ORDERS_MAX
                cancelled += await self._lookup.ended_with_lists(cancelled, first, last)
        return CancelOpenOrdersReply(True, tuple(cancelled), response.more_remain)
