"""The request `orders.cancel_list`: cancel all that is open or planned of a list.

The engine ends a list once, whoever asks first. Of a list that has ended, orders may have gone on alone: they are
cancelled, too, because their owner wants nothing of the list to stay.
"""

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrderList, CancelOrderListReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.order_list import engine_list_id
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit.log import get_logger
from openspot.router.metrics import CANCELS
from openspot.router.orders.draft import check_list_ids
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("list_cancellation")


class ListCancellation:
    """Cancels order lists in the engine."""

    def __init__(self, *, lookup: OrderLookup, recent_orders: RecentOrders, engine: EngineCommands) -> None:
        self._lookup = lookup
        self._recent_orders = recent_orders
        self._engine = engine

    async def cancel(self, request: CancelOrderList) -> CancelOrderListReply:
        """Reply to `orders.cancel_list`. The code is NOT_FOUND if nobody knows the list or another user owns it."""
        try:
            check_list_ids(request.user_id, request.list_id)
            reply = await self._cancel(request)
        except EngineAmbiguousError as error:
            reason = f"the matching engine did not answer, the list may or may not be cancelled: {error}"
            reply = _refused(RefusalCode.STATUS_UNKNOWN, reason)
        except InvalidRequestError as error:
            reply = CancelOrderListReply.refused(error.refusal)
        except EngineError as error:
            reply = _refused(RefusalCode.UNAVAILABLE, str(error))
        CANCELS.labels("cancelled" if reply.success else "failed").inc()
        return reply

    async def _cancel(self, request: CancelOrderList) -> CancelOrderListReply:
        user_id, list_id = request.user_id, request.list_id
        response = await self._engine.cancel_order_list(engine_list_id(list_id), user_id)
        if response.status != orders_pb2.REJECTED:
            return await self._after(user_id, list_id)
        if response.result_code == ResultCode.AUTH_INVALID_USER.name:
            return _not_found(list_id)
        if response.result_code != ResultCode.UNKNOWN_LIST_ID.name:
            code = RefusalCode.BUSY if response.result_code == ResultCode.ENGINE_BUSY.name else RefusalCode.ENGINE
            return _refused(code, response.result_code)
        orders = await self._lookup.rows_of_list(user_id, list_id)
        if not orders:
            return _not_found(list_id)
        still_open = [order.order_id for order in orders if not order.has_ended]
        if still_open:
            bulk = await self._engine.cancel_orders(user_id, "", "", still_open)
            if bulk.status == orders_pb2.REJECTED:
                return _refused(RefusalCode.ENGINE, bulk.result_code)
            if bulk.orders:
                return await self._after(user_id, list_id)
        orders = await self._lookup.rows_of_list(user_id, list_id)
        return _refused(RefusalCode.ALREADY_ENDED, f"list {list_id} has ended already", orders)

    async def _after(self, user_id: str, list_id: str) -> CancelOrderListReply:
        """The orders of a list that the engine has cancelled, once their rows say so."""
        orders = await self._lookup.ended_list(user_id, list_id)
        if not orders:
            log.warning("cancelled list shown as its rows were", list_id=list_id)
            orders = await self._lookup.rows_of_list(user_id, list_id)
        for order in orders:
            recent = self._recent_orders.get(order.order_id)
            if recent is not None and recent.order.last_sequence <= order.last_sequence:
                recent.order = order
        return CancelOrderListReply(True, tuple(record_of(order) for order in orders))


def _refused(code: RefusalCode, message: str, orders: list[TrackedOrder] | None = None) -> CancelOrderListReply:
    return CancelOrderListReply.refused(Refusal(code, message), tuple(record_of(order) for order in orders or ()))


def _not_found(list_id: str) -> CancelOrderListReply:
    return _refused(RefusalCode.NOT_FOUND, f"list {list_id} not found")
