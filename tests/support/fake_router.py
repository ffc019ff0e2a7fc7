"""A small order router in this process: provides orders.submit, orders.cancel and orders.get on the real bus.

It keeps orders in memory and replies what it is told to, so that the edge is tested against every reply of a router.
The real chain is tested end to end.
"""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import UNSET, structs

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AmendmentOutcome,
    AmendOrders,
    AmendOrdersReply,
    CancelOpenOrders,
    CancelOpenOrdersReply,
    CancelOrder,
    CancelOrderList,
    CancelOrderListReply,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    GetTriggers,
    GetTriggersReply,
    OrderRecord,
    OrderTrigger,
    ReplaceOrder,
    ReplaceOrderReply,
    SubmitOrder,
    SubmitOrderList,
    SubmitOrderListReply,
    SubmitOrderReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.order import OrderType
from openspot.domain.order_list import ListType, role_of
from openspot.domain.result_code import ResultCode
from openspot.kit.bus import Bus
from openspot.kit.clock import iso_from_ms
from openspot.router.translation.order_lists import first_state
from tests.support.order_records import order_record

SubmitAnswer = Callable[[SubmitOrder], Awaitable[SubmitOrderReply]]


def record_of(request: SubmitOrder, status: str = "open", reject_reason: str | None = None) -> OrderRecord:
    """The record of an order that nothing has filled: it has what the request says."""
    order = request.order
    quantity, now = order.quantity or "0", iso_from_ms(1_700_000_000_000)
    given = {name: getattr(order, name) for name in OrderRecord.__struct_fields__ if hasattr(order, name)}
    # An order without terms shows none of them.
    terms = ("stop_price", "trigger_by", "trailing_amount", "trailing_bps", "expires_at", "self_trade_prevention")
    terms += ("display_quantity", "max_slippage_bps")
    given |= {name: UNSET for name in terms if given[name] is None}
    made = {
        "user_id": request.user_id, "quantity": quantity, "remaining_quantity": quantity, "status": status,
        "fee_currency": order.symbol.partition("-")[2], "reject_reason": reject_reason, "created_at": now,
        "updated_at": now, "post_only": True if order.post_only else UNSET,
    }  # fmt: skip
    return order_record(**given | made)


class FakeRouter:
    """Accepts every order and cancel unless its attributes say otherwise.

    `reject_with` is the reason of a rejected order, the name of an engine's result code or the words of the pre-trade
    check. `refusal` and `cancel_refusal` are returned as they are; with `shows_order` a refused cancel comes with the
    order. `amend_refusals` refuses the amendments of these orders. `silent` never replies. `bulk_replies` are the
    replies to the next bulk cancels, in turn; without one, a bulk cancel finds nothing open. It waits for `bulk_gate`,
    and the reply to an order or an amendment for `submit_gate`.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.submitted: list[SubmitOrder] = []
        self.cancelled: list[CancelOrder] = []
        self.bulk_cancels: list[CancelOpenOrders] = []
        self.bulk_replies: list[CancelOpenOrdersReply] = []
        self.bulk_gate = asyncio.Event()
        self.bulk_gate.set()
        self.orders: dict[str, OrderRecord] = {}
        self.amended: list[AmendOrders] = []
        self.lists: list[SubmitOrderList] = []
        self.replaced: list[ReplaceOrder] = []
        self.amend_refusals: dict[str, Refusal] = {}
        self.triggers_asked: list[GetTriggers] = []
        self.reject_with: str | None = None
        self.refusal: Refusal | None = None
        self.cancel_refusal: Refusal | None = None
        self.shows_order = True
        self.silent = False
        self.submit_gate = asyncio.Event()
        self.submit_gate.set()

    async def start(self) -> None:
        """Provide the subjects."""
        queue, serve = subjects.ORDER_ROUTER_QUEUE, self._bus.serve
        await serve(subjects.ORDERS_SUBMIT, queue, SubmitOrder, self._submit, SubmitOrderReply.refused)
        await serve(subjects.ORDERS_CANCEL, queue, CancelOrder, self._cancel, CancelOrderReply.refused)
        bulk = subjects.ORDERS_CANCEL_OPEN
        await serve(bulk, queue, CancelOpenOrders, self._cancel_open, CancelOpenOrdersReply.refused)
        await serve(subjects.ORDERS_AMEND, queue, AmendOrders, self._amend, AmendOrdersReply.refused)
        await serve(
            subjects.ORDERS_SUBMIT_LIST, queue, SubmitOrderList, self._submit_list, SubmitOrderListReply.refused
        )
        await serve(
            subjects.ORDERS_CANCEL_LIST, queue, CancelOrderList, self._cancel_list, CancelOrderListReply.refused
        )
        await serve(subjects.ORDERS_REPLACE, queue, ReplaceOrder, self._replace, ReplaceOrderReply.refused)
        await serve(subjects.ORDERS_GET, queue, GetOrder, self._get, GetOrderReply.refused)
        await serve(subjects.ORDERS_GET_TRIGGERS, queue, GetTriggers, self._get_triggers, GetTriggersReply.refused)
        await self._bus.check()

    async def _submit(self, request: SubmitOrder) -> SubmitOrderReply:
        self.submitted.append(request)
        if self.silent:
            await asyncio.Event().wait()
        await self.submit_gate.wait()
        if self.refusal is not None:
            return SubmitOrderReply.refused(self.refusal)
        if self.reject_with is not None:
            is_code = self.reject_with in ResultCode.__members__
            code = RefusalCode.ENGINE if is_code else RefusalCode.PRE_TRADE_CHECK
            record = record_of(request, "rejected", self.reject_with)
            return SubmitOrderReply.refused(Refusal(code, self.reject_with), record)
        record = self.orders[request.order.order_id] = record_of(request)
        return SubmitOrderReply(True, record)

    async def _cancel(self, request: CancelOrder) -> CancelOrderReply:
        self.cancelled.append(request)
        if self.silent:
            await asyncio.Event().wait()
        record = self.orders.get(request.order_id)
        if self.cancel_refusal is not None:
            return CancelOrderReply.refused(self.cancel_refusal, record if self.shows_order else None)
        if record is None or record.user_id != request.user_id:
            return CancelOrderReply.refused(Refusal(RefusalCode.NOT_FOUND, "order not found"))
        return CancelOrderReply(True, order=record)

    async def _replace(self, request: ReplaceOrder) -> ReplaceOrderReply:
        self.replaced.append(request)
        cancelled = await self._cancel(CancelOrder(request.user_id, request.order_id))
        if not cancelled.success and not request.allow_failure:
            return ReplaceOrderReply(cancelled, None)
        return ReplaceOrderReply(cancelled, await self._submit(SubmitOrder(request.user_id, request.order)))

    async def _cancel_open(self, request: CancelOpenOrders) -> CancelOpenOrdersReply:
        self.bulk_cancels.append(request)
        await self.bulk_gate.wait()
        return self.bulk_replies.pop(0) if self.bulk_replies else CancelOpenOrdersReply(True)

    async def _submit_list(self, request: SubmitOrderList) -> SubmitOrderListReply:
        self.lists.append(request)
        if self.silent:
            await asyncio.Event().wait()
        if self.refusal is not None:
            return SubmitOrderListReply.refused(self.refusal)
        list_type = ListType(request.type)
        records = []
        for place, order in enumerate(request.orders, 1):
            records.append(
                structs.replace(
                    record_of(SubmitOrder(request.user_id, order)),
                    list_id=request.list_id,
                    client_list_id=request.client_list_id,
                    list_type=request.type,
                    list_role=role_of(list_type, place, OrderType(order.type)).value,
                    list_state=first_state(list_type, place).value,
                )
            )
        self.orders |= {record.order_id: record for record in records}
        return SubmitOrderListReply(True, tuple(records))

    async def _cancel_list(self, request: CancelOrderList) -> CancelOrderListReply:
        if self.cancel_refusal is not None:
            return CancelOrderListReply.refused(self.cancel_refusal)
        ended = [
            structs.replace(record, status="cancelled", remaining_quantity="0")
            for record in self.orders.values()
            if record.list_id == request.list_id and record.user_id == request.user_id
        ]
        if not ended:
            return CancelOrderListReply.refused(Refusal(RefusalCode.NOT_FOUND, "list not found"))
        return CancelOrderListReply(True, tuple(ended))

    async def _get_triggers(self, request: GetTriggers) -> GetTriggersReply:
        self.triggers_asked.append(request)
        if self.refusal is not None:
            return GetTriggersReply.refused(self.refusal)
        return GetTriggersReply(tuple(OrderTrigger(order_id, "99.5", "99") for order_id in request.order_ids))

    async def _amend(self, request: AmendOrders) -> AmendOrdersReply:
        self.amended.append(request)
        await self.submit_gate.wait()
        if self.silent:
            await asyncio.Event().wait()
        if self.refusal is not None:
            return AmendOrdersReply.refused(self.refusal)
        outcomes = []
        for amendment in request.orders:
            record = self.orders.get(amendment.order_id)
            if amendment.order_id in self.amend_refusals:
                refusal = self.amend_refusals[amendment.order_id]
                outcomes.append(AmendmentOutcome.refused(amendment.order_id, refusal, record))
            elif record is None or record.user_id != request.user_id:
                refusal = Refusal(RefusalCode.NOT_FOUND, "order not found")
                outcomes.append(AmendmentOutcome.refused(amendment.order_id, refusal))
            else:
                quantity = amendment.quantity or record.quantity
                changed = structs.replace(
                    record, price=amendment.price or record.price, quantity=quantity, remaining_quantity=quantity
                )
                self.orders[amendment.order_id] = changed
                outcomes.append(AmendmentOutcome(amendment.order_id, True, changed))
        return AmendOrdersReply(True, tuple(outcomes))

    async def _get(self, request: GetOrder) -> GetOrderReply:
        record = self.orders.get(request.order_id)
        return GetOrderReply(record if record is not None and record.user_id == request.user_id else None)
