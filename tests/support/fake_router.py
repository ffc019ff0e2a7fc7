"""A small order router in this process: provides orders.submit, orders.cancel and orders.get on the real bus.

It keeps orders in memory and answers what it is told to, so that the edge is tested against every answer that
a router can give. The real chain is tested end to end.
"""

import asyncio
from collections.abc import Awaitable, Callable

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelOrder,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    OrderRecord,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.kit.bus import Bus
from openspot.kit.clock import iso_from_ms

SubmitAnswer = Callable[[SubmitOrder], Awaitable[SubmitOrderReply]]


def record_of(request: SubmitOrder, status: str = "open", reject_reason: str | None = None) -> OrderRecord:
    """The record of an order that nothing has filled."""
    order = request.order
    quantity = order.quantity or "0"
    return OrderRecord(
        order_id=order.order_id,
        client_order_id=order.client_order_id,
        user_id=request.user_id,
        symbol=order.symbol,
        side=order.side,
        type=order.type,
        time_in_force=order.time_in_force,
        margin_mode=order.margin_mode,
        price=order.price,
        quantity=quantity,
        filled_quantity="0",
        remaining_quantity=quantity,
        average_price=None,
        fee="0",
        fee_currency=order.symbol.partition("-")[2],
        status=status,
        reject_reason=reject_reason,
        created_at=iso_from_ms(1_700_000_000_000),
        updated_at=iso_from_ms(1_700_000_000_000),
    )


class FakeRouter:
    """Accepts every order and cancel unless its attributes say otherwise.

    `reject_with` and `cancel_error` are reasons; `undecided` answers the reason without a record, as a router
    does that could not reach the engine; `unknown` and `silent` leave the order's fate open.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.submitted: list[SubmitOrder] = []
        self.cancelled: list[CancelOrder] = []
        self.orders: dict[str, OrderRecord] = {}
        self.reject_with: str | None = None
        self.cancel_error: str | None = None
        self.undecided = False
        self.unknown = False
        self.silent = False

    async def start(self) -> None:
        """Provide the subjects."""
        queue = subjects.ORDER_ROUTER_QUEUE
        await self._bus.serve(
            subjects.ORDERS_SUBMIT, queue, SubmitOrder, self._submit, lambda why: SubmitOrderReply(False, error=why)
        )
        await self._bus.serve(
            subjects.ORDERS_CANCEL, queue, CancelOrder, self._cancel, lambda why: CancelOrderReply(False, error=why)
        )
        await self._bus.serve(subjects.ORDERS_GET, queue, GetOrder, self._get, lambda why: GetOrderReply(error=why))
        await self._bus.check()

    async def _submit(self, request: SubmitOrder) -> SubmitOrderReply:
        self.submitted.append(request)
        if self.silent:
            await asyncio.Event().wait()
        if self.unknown:
            return SubmitOrderReply(False, error="the engine did not answer", status_unknown=True)
        if self.reject_with is not None:
            record = None if self.undecided else record_of(request, "rejected", self.reject_with)
            return SubmitOrderReply(False, record, self.reject_with)
        record = self.orders[request.order.order_id] = record_of(request)
        return SubmitOrderReply(True, record)

    async def _cancel(self, request: CancelOrder) -> CancelOrderReply:
        self.cancelled.append(request)
        if self.silent:
            await asyncio.Event().wait()
        if self.cancel_error is not None:
            record = None if self.undecided else self.orders.get(request.order_id)
            return CancelOrderReply(False, self.cancel_error, record)
        record = self.orders.get(request.order_id)
        if record is None or record.user_id != request.user_id:
            return CancelOrderReply(False, "order not found", not_found=True)
        return CancelOrderReply(True, order=record)

    async def _get(self, request: GetOrder) -> GetOrderReply:
        record = self.orders.get(request.order_id)
        return GetOrderReply(record if record is not None and record.user_id == request.user_id else None)
