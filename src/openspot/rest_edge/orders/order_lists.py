"""Placing, looking up and cancelling order lists.

The ids of a list and of its orders follow from the request, so a repetition is recognised by whoever has the list: the
rows, the router, or the engine. A 504 with `ORDER_STATUS_UNKNOWN` names the list.
"""

import asyncio
import time
from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelOrderList,
    CancelOrderListReply,
    OrderRecord,
    SubmitOrderList,
    SubmitOrderListReply,
)
from openspot.contracts.refusals import UNCERTAIN, RefusalCode
from openspot.domain.order import OrderStatus
from openspot.domain.result_code import ResultCode
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit import tracing
from openspot.kit.bus import Bus, MalformedRequestError, RequestFailedError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.rest_edge.orders.list_schemas import OrderList, OrderListBody, list_of
from openspot.rest_edge.orders.list_store import OrderListStore
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.recent import newer_record
from openspot.rest_edge.orders.service import OrderService

log = get_logger("order_lists")

BEFORE_ALL_MS = 0
"""No order of a list has expired at this time, in milliseconds since 1970."""
_INVALID = frozenset({RefusalCode.VALIDATION, RefusalCode.MALFORMED})


class OrderListService:
    """Handles the requests to the routes of order lists. Methods raise HttpError to refuse a request."""

    def __init__(self, bus: Bus, store: OrderListStore, orders: OrderService, clock: Clock, timeout_s: float) -> None:
        self._bus = bus
        self._store = store
        self._orders = orders
        self._recent = orders.recent
        self._clock = clock
        self._timeout_s = timeout_s

    async def place(self, user_id: str, body: OrderListBody, operation: IdempotentOperation) -> OrderList:
        """Send a list to the router, and return it with its orders.

        400 with the reason if a check or the engine refused it, 409 if an id of the client is taken, 503 if nothing was
        done, 504 if the outcome is unknown.
        """
        now_ms, began = self._clock() // NANOSECONDS_PER_MS, tracing.begin()
        body.check_rules(BEFORE_ALL_MS)
        list_id = body.list_id(user_id, operation.operation_id)
        orders = body.to_requests(list_id)
        order_ids = [order.order_id for order in orders]
        if operation.is_resumed or body.client_list_id is not None:
            earlier = await self._earlier(user_id, list_id, order_ids)
            if earlier is not None:
                return _outcome_of(earlier)
        # Only now: the orders of an earlier run may have expired since.
        body.check_rules(now_ms)
        deadline = now_ms + int(self._timeout_s * 1000)
        request = SubmitOrderList(user_id, list_id, body.type.value, orders, body.client_list_id, deadline)
        sent = tracing.begin()
        try:
            reply = await self._bus.request(subjects.ORDERS_SUBMIT_LIST, request, SubmitOrderListReply, self._timeout_s)
        except MalformedRequestError as error:
            raise validation_error([str(error)]) from error
        except RequestFailedError as error:
            if error.may_have_happened:
                raise _status_unknown(list_id) from error
            raise service_unavailable("orders cannot be taken at this moment: no order router") from error
        finally:
            for order in orders:
                tracing.end(order.order_id, tracing.Step.ORDER, began, symbol=order.symbol, orders=len(orders))
                tracing.end(order.order_id, tracing.Step.REQUEST, sent)
        if reply.success and reply.orders:
            return list_of(self._noted(reply.orders))
        if reply.code is RefusalCode.DUPLICATE_ORDER_ID:
            # Only this request has these ids. So it was delivered twice, or repeated while it still ran.
            earlier = await self._earlier(user_id, list_id, order_ids)
            if earlier is not None:
                return _outcome_of(earlier)
        self._noted(reply.orders)
        raise _submit_refusal(list_id, reply)

    async def get(self, user_id: str, list_id: str) -> OrderList:
        """The caller's list. 404 if there is none."""
        found = await self._orders_of(user_id, list_id)
        if not found:
            raise _not_found(list_id)
        return list_of(found)

    async def page_of(
        self, user_id: str, symbol: str | None, limit: int, after: OrderPosition | None, *, is_active: bool
    ) -> tuple[list[OrderList], OrderPosition | None]:
        """A page of the caller's lists, newest first, and the position of the next page, None if there is none."""
        list_ids, following = await self._store.page_of(user_id, symbol, limit, after, is_active=is_active)
        orders = await self._store.orders_of(user_id, list_ids)
        self._recent.forget_old(time.monotonic())
        page = [
            list_of([newer_record(row, self._recent.get(user_id, row.order_id)) or row for row in orders[list_id]])
            for list_id in list_ids
            if list_id in orders
        ]
        return page, following

    async def cancel(self, user_id: str, list_id: str) -> OrderList:
        """Cancel what is open or planned of the caller's list, and return the list.

        404 if it is unknown or another user's, 409 if nothing of it is open.
        """
        request = CancelOrderList(user_id, list_id)
        try:
            reply = await self._bus.request(subjects.ORDERS_CANCEL_LIST, request, CancelOrderListReply)
        except RequestFailedError as error:
            if error.may_have_happened:
                raise _status_unknown(list_id) from error
            raise service_unavailable("orders cannot be cancelled at this moment: no order router") from error
        if reply.success:
            if reply.orders:
                return list_of(self._noted(reply.orders))
            return await self.get(user_id, list_id)
        raise _cancel_refusal(list_id, reply)

    def _noted(self, orders: Sequence[OrderRecord]) -> Sequence[OrderRecord]:
        for order in orders:
            self._recent.note(order, time.monotonic())
        return orders

    async def _orders_of(self, user_id: str, list_id: str) -> list[OrderRecord]:
        """The orders of a list as their rows or newer replies have them."""
        rows = {row.order_id: row for row in (await self._store.orders_of(user_id, [list_id])).get(list_id, [])}
        self._recent.forget_old(time.monotonic())
        sent = {record.order_id: record for record in self._recent.of_list(user_id, list_id)}
        newest = [newer_record(rows.get(order_id), sent.get(order_id)) for order_id in {**rows, **sent}]
        return [record for record in newest if record is not None]

    async def _earlier(self, user_id: str, list_id: str, order_ids: Sequence[str]) -> list[OrderRecord] | None:
        """The orders of this list if it was placed before, None if nobody knows it.

        Raises HttpError (409) if another request has placed a list under the same id, (503) if nobody can say.
        """
        found = await self._orders_of(user_id, list_id)
        if found and not {record.order_id for record in found} & set(order_ids):
            raise _id_taken(list_id)
        if len(found) == len(order_ids):
            return found
        # The rows may not be written yet. The router asks the engine of orders that got no answer, or forgets them.
        known = await asyncio.gather(*(self._orders.known_or_none(user_id, order_id) for order_id in order_ids))
        if not any(known):
            return None
        found = await self._orders_of(user_id, list_id)
        if len(found) == len(order_ids):
            return found
        records = [record for record in known if record is not None and record.list_id == list_id]
        if len(records) < len(order_ids):
            # The engine has the orders, and it takes a moment until their rows say what they are.
            raise _status_unknown(list_id)
        return records


def _outcome_of(records: Sequence[OrderRecord]) -> OrderList:
    """The list that an earlier run of the same request placed. Raises the HttpError of that run."""
    earlier = list_of(records)
    if any(record.status == OrderStatus.PENDING for record in records):
        raise _status_unknown(earlier.list_id)
    if all(record.status == OrderStatus.REJECTED for record in records):
        raise _rejected(earlier.list_id, earlier.orders, 0)
    return earlier


def _rejected(list_id: str, orders: Sequence[OrderRecord], failed_order: int, reason: str | None = None) -> HttpError:
    """The error for a rejected list. The order that is the reason has a shorter one than those that only name it."""
    reasons = [order.reject_reason or "rejected" for order in orders]
    reason = reason or min(reasons, key=len)
    code = reason if reason in ResultCode.__members__ else "ORDER_LIST_REJECTED"
    details: dict[str, str | int] = {"listId": list_id}
    if failed_order:
        details |= {"failedOrder": failed_order}
    return HttpError(400, reason, code, details=details)


def _submit_refusal(list_id: str, reply: SubmitOrderListReply) -> HttpError:
    """The error for a list that the router did not take."""
    code, reason = reply.code, reply.error or "rejected"
    if reply.success or code is None or code in UNCERTAIN or code is RefusalCode.DUPLICATE_ORDER_ID:
        return _status_unknown(list_id)
    if code in _INVALID:
        return validation_error([reason])
    if code is RefusalCode.DUPLICATE_LIST_ID:
        return _id_taken(list_id)
    if code is RefusalCode.DUPLICATE_CLIENT_ORDER_ID:
        return HttpError(409, reason, code.value, details={"listId": list_id, "failedOrder": reply.failed_order})
    if reply.orders:
        return _rejected(list_id, reply.orders, reply.failed_order, reason)
    log.warning("list not taken", list_id=list_id, code=code, reason=reason)
    return service_unavailable("orders cannot be taken at this moment")


def _cancel_refusal(list_id: str, reply: CancelOrderListReply) -> HttpError:
    """The error for a cancel that did not succeed."""
    code, reason = reply.code, reply.error or "not cancelled"
    if code is RefusalCode.NOT_FOUND:
        return _not_found(list_id)
    if code is RefusalCode.ALREADY_ENDED:
        return HttpError(409, "nothing of the list is open", "ORDER_LIST_NOT_OPEN", details={"listId": list_id})
    if code is RefusalCode.ENGINE:
        return HttpError(409, reason, reason, details={"listId": list_id})
    if code in _INVALID:
        return validation_error([reason])
    log.warning("list not cancelled", list_id=list_id, code=code, reason=reason)
    if code is None or code in UNCERTAIN:
        return _status_unknown(list_id)
    return service_unavailable("orders cannot be cancelled at this moment")


def _status_unknown(list_id: str) -> HttpError:
    message = f"no answer in time: ask GET /orders/lists/{list_id} what became of the list"
    return HttpError(504, message, "ORDER_STATUS_UNKNOWN", details={"listId": list_id})


def _id_taken(list_id: str) -> HttpError:
    message = "clientListId belongs to another list of yours: give each list an id of its own"
    return HttpError(409, message, "DUPLICATE_CLIENT_LIST_ID", details={"listId": list_id})


def _not_found(list_id: str) -> HttpError:
    return HttpError(404, "order list not found", "ORDER_LIST_NOT_FOUND", details={"listId": list_id})
