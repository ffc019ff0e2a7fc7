"""Placing, looking up and cancelling orders.

The edge allocates the order id. A 504 with `ORDER_STATUS_UNKNOWN` names it, so that the client can look up the order. A
503 says that nothing was done. Rows of the database are written shortly after the reply, so an order without a row is
looked up at the router, too.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AmendmentOutcome,
    AmendOrders,
    AmendOrdersReply,
    CancelOrder,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    OrderAmendment,
    OrderRecord,
    ReplaceOrder,
    ReplaceOrderReply,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.contracts.refusals import RefusalCode
from openspot.domain.ids import short_id
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.domain.result_code import ResultCode
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit import tracing
from openspot.kit.bus import Bus, MalformedRequestError, RequestFailedError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.rest_edge.orders.bulk_cancel import BulkCancelTurns, OpenOrderCancels
from openspot.rest_edge.orders.cancel_schemas import ORDER_IDS_MAX, BulkCancel, CancelFailure
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.recent import OrderFilter, RecentOrderRecords, Window, newer_record
from openspot.rest_edge.orders.refusals import (
    INVALID,
    already_ended,
    amendment_refusal,
    amendment_unknown,
    cancel_refusal,
    not_found,
    rejected,
    status_unknown,
    submit_refusal,
)
from openspot.rest_edge.orders.schemas import (
    BatchEntry,
    BatchRefusal,
    OrderBody,
    OwnTrade,
    checked_order,
)
from openspot.rest_edge.orders.store import OrderStore

log = get_logger("orders")

OPEN_STATUSES = tuple(status.value for status in OrderStatus if status not in TERMINAL)
CANCELS_AT_A_TIME = 32
CANCEL_PAGE = 500
NOT_TRIED = f"one request cancels at most {ORDER_IDS_MAX} orders by clientOrderId: repeat it"


class OrderService:
    """Handles the requests to the order routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self, bus: Bus, store: OrderStore, clock: Clock, timeout_s: float, *, has_complete_rules: bool = False
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._timeout_s = timeout_s
        self._has_complete_rules = has_complete_rules
        self._store = store
        self._recent = RecentOrderRecords()
        self._bulk_turns = BulkCancelTurns()
        self._open_cancels = OpenOrderCancels(bus)

    @property
    def recent(self) -> RecentOrderRecords:
        """The records that this process has sent to clients lately."""
        return self._recent

    # Place

    async def place(self, user_id: str, body: OrderBody, operation: IdempotentOperation) -> OrderRecord:
        """Send an order to the router and return its record. The order's id is the operation's id.

        400 with the reason if the pre-trade check or the engine rejected it, 409 if an open order has its client order
        id, 503 if nothing was done, 504 if its outcome is unknown.
        """
        began, order_id = tracing.begin(), operation.operation_id
        try:
            return await self._place(user_id, body, operation)
        finally:
            tracing.end(order_id, tracing.Step.ORDER, began, symbol=body.symbol)

    async def _place(self, user_id: str, body: OrderBody, operation: IdempotentOperation) -> OrderRecord:
        order_id = operation.operation_id
        if operation.is_resumed:
            earlier = await self.known_or_none(user_id, order_id)
            if earlier is not None:
                return outcome_of(earlier)
        # Only now: the order of an earlier run may have expired since.
        self.check(body)
        request, began = SubmitOrder(user_id, body.to_request(order_id), self._deadline()), tracing.begin()
        try:
            reply = await self._bus.request(subjects.ORDERS_SUBMIT, request, SubmitOrderReply, self._timeout_s)
        except MalformedRequestError as error:
            raise validation_error([str(error)]) from error
        except RequestFailedError as error:
            if error.may_have_happened:
                raise status_unknown(order_id) from error
            raise service_unavailable("orders cannot be taken at this moment: no order router") from error
        finally:
            tracing.end(order_id, tracing.Step.REQUEST, began)
        return await self.placed(user_id, order_id, reply)

    def check(self, body: OrderBody) -> None:
        """Raise HttpError (400) for what does not belong to the rules of this platform."""
        body.check_rules(are_complete=self._has_complete_rules, now_ms=self._now_ms())

    async def placed(self, user_id: str, order_id: str, reply: SubmitOrderReply) -> OrderRecord:
        """The record of an order that the router placed. Raises HttpError as `place` does."""
        if reply.success and reply.order is not None:
            self._recent.note(_without_fills(reply.order), time.monotonic())
            return reply.order
        if reply.code is RefusalCode.DUPLICATE_ORDER_ID:
            # Only this operation has the id. So the request was delivered twice, or resumed while it still ran.
            earlier = await self.known_or_none(user_id, order_id)
            if earlier is not None:
                return outcome_of(earlier)
        raise submit_refusal(order_id, reply)

    async def place_batch(
        self, user_id: str, orders: Sequence[object], operation: IdempotentOperation
    ) -> list[BatchEntry]:
        """Place orders side by side. Each has an outcome of its own, in the order of `orders`."""

        async def place(number: int, given: object) -> BatchEntry:
            # Each order is an operation of its own. Its id follows from the id of the batch.
            own = IdempotentOperation(_id_in_batch(operation.operation_id, number), operation.is_resumed)
            try:
                return BatchEntry(
                    201,
                    await self.place(user_id, checked_order(given, are_complete=self._has_complete_rules), own),
                    None,
                )
            except HttpError as error:
                return BatchEntry(error.status_code, None, BatchRefusal(error.message, error.code, error.details))

        return await asyncio.gather(*(place(number, given) for number, given in enumerate(orders)))

    # Look up

    async def get(self, user_id: str, order_id: str) -> OrderRecord:
        """The caller's order, from its row or else from the router. 404 if neither knows it."""
        row, answered = await self._store.get(order_id), self._recent.get(user_id, order_id)
        if row is None:
            row = await self._known_to_the_router(user_id, order_id, answered)
        if row is None or row.user_id != user_id:
            raise not_found(order_id)
        return newer_record(row, answered) or row

    async def get_by_client_order_id(self, user_id: str, client_order_id: str) -> OrderRecord:
        """The caller's newest order with this client order id. 404 if there is none."""
        page, _ = await self.list_of(user_id, OrderFilter(client_order_id=client_order_id), 1, None)
        if not page:
            raise HttpError(404, "order not found", "ORDER_NOT_FOUND", details={"clientOrderId": client_order_id})
        return page[0]

    async def known_or_none(self, user_id: str, order_id: str) -> OrderRecord | None:
        """The caller's order, None if there is none. Raises HttpError (503) if it cannot be looked up."""
        try:
            return await self.get(user_id, order_id)
        except HttpError as error:
            if error.status_code == 404:
                return None
            raise

    async def _known_to_the_router(
        self, user_id: str, order_id: str, answered: OrderRecord | None
    ) -> OrderRecord | None:
        try:
            reply = await self._bus.request(subjects.ORDERS_GET, GetOrder(user_id, order_id), GetOrderReply)
        except RequestFailedError as error:
            reply = GetOrderReply(error=str(error))
        if reply.error is None or answered is not None:
            return reply.order or answered
        # Without the router, it is unknown whether the order exists.
        log.warning("order not looked up", order_id=order_id, reason=reply.error)
        raise service_unavailable("the order is not recorded yet, and the order router cannot say")

    async def list_of(
        self, user_id: str, wanted: OrderFilter, limit: int, after: OrderPosition | None
    ) -> tuple[list[OrderRecord], OrderPosition | None]:
        """A page of the caller's orders, newest first, and the position of the next page, None if there is none."""
        rows, following = await self._store.list_of(user_id, wanted, limit, after)
        self._recent.forget_old(time.monotonic())
        window = Window(after.place if after else None, following.place if following else None)
        sent = self._recent.beside_the_page(user_id, rows, wanted, window)
        beside = await self._store.records_of(sent) if sent else {}
        page = self._recent.merged_with_recent(user_id, rows, wanted, window, beside)
        if len(page) <= limit:
            return page, following
        last = page[limit - 1]
        return page[:limit], OrderPosition(datetime.fromisoformat(last.created_at), last.order_id)

    async def trades_of(
        self, user_id: str, wanted: OwnTradeFilter, limit: int, after: OwnTradePosition | None
    ) -> tuple[list[OwnTrade], OwnTradePosition | None]:
        """A page of the caller's trades, newest first, and the position of the next page, None if there is none.

        The router writes a trade's row shortly after the events of its orders.
        """
        return await self._store.trades_of(user_id, wanted, limit, after)

    async def _record(self, user_id: str, order_id: str) -> OrderRecord | None:
        """The row of an order of any user, or a newer record that was sent to this user."""
        return newer_record(await self._store.get(order_id), self._recent.get(user_id, order_id))

    # Amend

    async def amend(self, user_id: str, amendment: OrderAmendment) -> OrderRecord:
        """Amend the caller's open order and return its record.

        404 if it is unknown or another user's, 409 if it has ended, 400 if the amended order breaks a rule.
        """
        (outcome,) = await self._amend(user_id, (amendment,))
        return self._amended(outcome)

    async def amend_batch(self, user_id: str, amendments: Sequence[OrderAmendment]) -> list[BatchEntry]:
        """Amend orders in one call of the engine. Each has an outcome of its own, in the order of `amendments`."""
        entries = []
        for outcome in await self._amend(user_id, amendments):
            try:
                entries.append(BatchEntry(200, self._amended(outcome), None))
            except HttpError as error:
                refusal = BatchRefusal(error.message, error.code, error.details)
                entries.append(BatchEntry(error.status_code, None, refusal))
        return entries

    async def open_order_id(self, user_id: str, client_order_id: str) -> str:
        """The id of the caller's newest open order with this client order id, or else of the newest that has ended.

        404 if there is none.
        """
        page, _ = await self.list_of(user_id, OrderFilter(OPEN_STATUSES, client_order_id=client_order_id), 1, None)
        return (page[0] if page else await self.get_by_client_order_id(user_id, client_order_id)).order_id

    async def _amend(self, user_id: str, amendments: Sequence[OrderAmendment]) -> tuple[AmendmentOutcome, ...]:
        """The outcomes of the router. Raises HttpError if there are none."""
        order_ids = [amendment.order_id for amendment in amendments]
        request, began = AmendOrders(user_id, tuple(amendments), self._deadline()), tracing.begin()
        try:
            reply = await self._bus.request(subjects.ORDERS_AMEND, request, AmendOrdersReply, self._timeout_s)
        except MalformedRequestError as error:
            raise validation_error([str(error)]) from error
        except RequestFailedError as error:
            if error.may_have_happened:
                raise amendment_unknown(order_ids) from error
            raise service_unavailable("orders cannot be amended at this moment: no order router") from error
        if reply.success and len(reply.outcomes) == len(order_ids):
            for outcome in reply.outcomes:
                # Only then the order is the caller's, and its id was made by an edge.
                if outcome.order is not None:
                    key = str(request.deadline)
                    tracing.end(outcome.order_id, tracing.Step.AMEND, began, key=key, symbol=outcome.order.symbol)
            return reply.outcomes
        if reply.code in INVALID:
            raise validation_error([reply.error or "not valid"])
        if reply.code is RefusalCode.BUSY:
            raise service_unavailable("orders cannot be amended at this moment")
        raise amendment_unknown(order_ids)

    def _amended(self, outcome: AmendmentOutcome) -> OrderRecord:
        """The record of an amended order. Raises HttpError if it was not amended."""
        if not outcome.success or outcome.order is None:
            raise amendment_refusal(outcome)
        self._recent.note(outcome.order, time.monotonic())
        return outcome.order

    def _deadline(self) -> int:
        """When nobody waits for a reply to a request of now any more, in milliseconds since 1970."""
        return self._now_ms() + int(self._timeout_s * 1000)

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS

    # Cancel

    async def cancel(self, user_id: str, order_id: str) -> OrderRecord:
        """Cancel the caller's order and return its cancelled record (facts A1.4-01 to A1.4-06).

        404 if it is unknown or another user's, 409 if it has already ended.
        """
        return await self._cancel(user_id, order_id, await self._record(user_id, order_id))

    async def _cancel(self, user_id: str, order_id: str, row: OrderRecord | None) -> OrderRecord:
        if row is not None:
            if row.user_id != user_id:
                raise not_found(order_id)
            if row.status in TERMINAL:
                raise already_ended(order_id, row.status)
        request, began = CancelOrder(user_id, order_id, row.symbol if row is not None else ""), tracing.begin()
        try:
            reply = await self._bus.request(subjects.ORDERS_CANCEL, request, CancelOrderReply)
        except RequestFailedError as error:
            if error.may_have_happened:
                raise status_unknown(order_id) from error
            raise service_unavailable(
                "orders cannot be cancelled at this moment: no order router takes the request"
            ) from error
        if reply.order is not None:
            # Only then the order is the caller's, and its id was made by an edge.
            tracing.end(order_id, tracing.Step.CANCEL, began, symbol=reply.order.symbol)
        return await self.cancelled(order_id, reply)

    async def cancelled(self, order_id: str, reply: CancelOrderReply) -> OrderRecord:
        """The record of an order that the router cancelled. Raises HttpError as `cancel` does."""
        if reply.success:
            return await self._after_cancel(order_id, reply.order)
        raise cancel_refusal(order_id, reply)

    async def ask_to_replace(
        self, user_id: str, order_id: str, body: OrderBody, new_id: str, *, allow_failure: bool
    ) -> ReplaceOrderReply:
        """Ask the router to replace an order by the one of `body`, whose id is `new_id`.

        Raises HttpError: 400 for a request that is not valid, 503 if nothing was done, 504 if the outcome is unknown.
        """
        request = ReplaceOrder(user_id, order_id, body.to_request(new_id), allow_failure, self._deadline())
        began = tracing.begin()
        try:
            reply = await self._bus.request(subjects.ORDERS_REPLACE, request, ReplaceOrderReply, self._timeout_s)
        except MalformedRequestError as error:
            raise validation_error([str(error)]) from error
        except RequestFailedError as error:
            if error.may_have_happened:
                raise status_unknown(new_id) from error
            raise service_unavailable("orders cannot be replaced at this moment: no order router") from error
        finally:
            tracing.end(new_id, tracing.Step.ORDER, began, symbol=body.symbol)
            tracing.end(new_id, tracing.Step.REQUEST, began)
        if reply.cancelled is not None or reply.placed is not None:
            return reply
        if reply.code in INVALID:
            raise validation_error([reply.error or "not valid"])
        raise service_unavailable("orders cannot be replaced at this moment")

    async def _after_cancel(self, order_id: str, answered: OrderRecord | None) -> OrderRecord:
        """The record of an order that the engine has cancelled, even if its row is not written yet."""
        record = answered or await self._store.get(order_id)
        if record is None:
            raise status_unknown(order_id)
        if record.status not in TERMINAL:
            record = msgspec.structs.replace(record, status=OrderStatus.CANCELLED.value, remaining_quantity="0")
        self._recent.note(record, time.monotonic())
        return record

    async def cancel_all_open(self, user_id: str) -> list[str]:
        """Cancel whatever the engine holds open of a user, and return the ids.

        Raises HttpError (503) unless none remains, (409) if too many bulk cancels of the user wait.
        """
        cancelled: list[str] = []
        async with self._bulk_turns.of(user_id):
            failure = await self._open_cancels.cancel(user_id, None, None, cancelled)
            await self._note_cancelled(user_id, cancelled)
        if failure is not None:
            raise service_unavailable(failure)
        return cancelled

    async def cancel_many(
        self,
        user_id: str,
        symbol: str | None,
        side: str | None,
        order_ids: Sequence[str] | None,
        client_order_id: str | None = None,
    ) -> BulkCancel:
        """Cancel the caller's open orders that match every given property. Each order is tried once.

        A client order id may repeat (fact A2.1-04), so it may cancel several orders. It does not go with
        `order_ids`.

        Waits while another bulk cancel of the caller runs; 409 if too many wait.
        """
        async with self._bulk_turns.of(user_id):
            if order_ids is None and client_order_id is not None:
                return await self._cancel_named(user_id, OrderFilter(OPEN_STATUSES, symbol, side, client_order_id))
            if order_ids is None:
                return await self._cancel_open(user_id, symbol, side)
            outcome = BulkCancel([], [])
            wanted = list(dict.fromkeys(order_ids))
            rows = await self._store.records_of(wanted)
            chosen = [
                (order_id, row)
                for order_id in wanted
                if _fits(row := rows.get(order_id), symbol, side) or row is None or row.user_id != user_id
            ]
            if self._has_complete_rules and len(chosen) > 1:
                await self._cancel_together(user_id, [order_id for order_id, _ in chosen], outcome)
                cancelled = set(outcome.cancelled)
                chosen = [(order_id, row) for order_id, row in chosen if order_id not in cancelled]
            await self._cancel_each(user_id, chosen, outcome)
            return outcome

    async def _cancel_together(self, user_id: str, order_ids: Sequence[str], outcome: BulkCancel) -> None:
        """Cancel those of the orders that are open in the engine, in few calls."""
        await self._open_cancels.cancel_named(user_id, order_ids, outcome.cancelled)
        await self._note_cancelled(user_id, outcome.cancelled)

    async def _note_cancelled(self, user_id: str, order_ids: Sequence[str]) -> None:
        for order_id in order_ids:
            sent = self._recent.get(user_id, order_id)
            if sent is not None:
                await self._after_cancel(order_id, sent)

    async def _cancel_open(self, user_id: str, symbol: str | None, side: str | None) -> BulkCancel:
        """Cancel what is open in the engine, then try the rows that still look open one by one."""
        outcome = BulkCancel([], [])
        failure = await self._open_cancels.cancel(user_id, symbol, side, outcome.cancelled)
        cancelled = set(outcome.cancelled)
        await self._note_cancelled(user_id, outcome.cancelled)
        async for page in self._open_orders(user_id, OrderFilter(OPEN_STATUSES, symbol, side)):
            # The row of an order that was just cancelled may be older than the cancel.
            rest = [(row.order_id, row) for row in page if row.order_id not in cancelled]
            if failure is None:
                await self._cancel_each(user_id, rest, outcome)
            else:
                outcome.failed.extend(CancelFailure(order_id, failure) for order_id, _ in rest)
        return outcome

    async def _cancel_named(self, user_id: str, wanted: OrderFilter) -> BulkCancel:
        """Cancel the open orders that pass the filter one by one: the engine knows no client order ids."""
        outcome = BulkCancel([], [])
        tried = 0
        async for page in self._open_orders(user_id, wanted):
            if tried >= ORDER_IDS_MAX:
                outcome.failed.extend(CancelFailure(row.order_id, NOT_TRIED) for row in page)
                continue
            tried += len(page)
            await self._cancel_each(user_id, [(row.order_id, row) for row in page], outcome)
        return outcome

    async def _open_orders(self, user_id: str, wanted: OrderFilter) -> AsyncIterator[list[OrderRecord]]:
        after: OrderPosition | None = None
        while True:
            page, after = await self.list_of(user_id, wanted, CANCEL_PAGE, after)
            yield page
            if after is None:
                return

    async def _cancel_each(
        self, user_id: str, orders: Sequence[tuple[str, OrderRecord | None]], outcome: BulkCancel
    ) -> None:
        pending = iter(orders)

        async def work() -> None:
            for order_id, row in pending:
                try:
                    await self._cancel(user_id, order_id, row)
                except HttpError as error:
                    outcome.failed.append(CancelFailure(order_id, str(error.message)))
                else:
                    outcome.cancelled.append(order_id)

        await asyncio.gather(*(work() for _ in range(min(CANCELS_AT_A_TIME, len(orders)))))


def _without_fills(record: OrderRecord) -> OrderRecord:
    """The record as later lists show it."""
    if record.fills is msgspec.UNSET:
        return record
    return msgspec.structs.replace(record, fills=msgspec.UNSET, fills_truncated=msgspec.UNSET)


def _id_in_batch(batch_id: str, number: int) -> str:
    return short_id(hashlib.sha256(f"{batch_id}/{number}".encode()).digest())


def _fits(row: OrderRecord | None, symbol: str | None, side: str | None) -> bool:
    return row is not None and symbol in (None, row.symbol) and side in (None, row.side)


def outcome_of(record: OrderRecord) -> OrderRecord:
    """The record of an order that an earlier run of the same operation placed. Raises the HttpError of that run."""
    if record.status == OrderStatus.PENDING:
        raise status_unknown(record.order_id)
    if record.status == OrderStatus.REJECTED:
        reason = record.reject_reason or "rejected"
        raise rejected(record.order_id, reason, record.status, is_engines=reason in ResultCode.__members__)
    return record
