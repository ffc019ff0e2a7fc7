"""exchange.v1.OrderService (Document B 4.4)."""

import asyncio
import struct
from collections.abc import Sequence
from typing import Any, NoReturn

import grpc

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.contracts.gen.exchange.v1 import orders_pb2_grpc
from openspot.domain.fees import fee_amount
from openspot.domain.money import amount_to_text
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_SIZE, RESULT, Result, ResultStatus, decode_results
from openspot.engine.door import Refusal
from openspot.engine.engine import Engine
from openspot.engine.event_render import NANOSECONDS_PER_MS
from openspot.engine.order_memory import CANCELLED, FILLED, OPEN, REJECTED
from openspot.engine.sequencer import EngineStoppedError, Outcome

Context = grpc.aio.ServicerContext[Any, Any]

CODE_NAMES: dict[int, str] = {int(code): code.name for code in ResultCode}
_STATUS_NAMES = {FILLED: "FILLED", CANCELLED: "CANCELLED", REJECTED: "REJECTED"}
_TIME_AND_FEE = struct.Struct("<24xQ72xi")
"""Of the first event of a PLACE, ACCEPTED or REJECT: its time, and the taker fee that an order carries."""


async def abort_stopped(context: Context, error: EngineStoppedError) -> NoReturn:
    """Answer that the engine takes no commands, and why."""
    await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))


class OrderService(orders_pb2_grpc.OrderServiceServicer):
    """Order entry. A refused order is an answer, never an error of the call."""

    def __init__(self, engine: Engine) -> None:
        self._door = engine.door
        self._machine = engine.machine
        self._sequencer = engine.sequencer
        self._orders_max = engine.settings.engine_batch_max

    async def PlaceOrder(  # noqa: N802 - the name of the protocol
        self, request: pb.PlaceOrderRequest, context: Context
    ) -> pb.PlaceOrderResponse:
        """Place one order."""
        answer = pb.PlaceOrderResponse()
        try:
            await self._place((request,), (answer,))
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return answer

    async def PlaceOrders(  # noqa: N802
        self, request: pb.PlaceOrdersRequest, context: Context
    ) -> pb.PlaceOrdersResponse:
        """Place many orders in one commit."""
        if len(request.orders) > self._orders_max:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"orders: at most {self._orders_max} in one call")
        response = pb.PlaceOrdersResponse()
        try:
            await self._place(request.orders, [response.orders.add() for _ in request.orders])
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return response

    async def _place(self, asked: Sequence[pb.PlaceOrderRequest], answers: Sequence[pb.PlaceOrderResponse]) -> None:
        """Place orders and fill in their answers. Raises EngineStoppedError."""
        refusals, future = self._door.place(asked)
        if future is not None:
            outcome = await future
        elif ResultCode.DUPLICATE_ORDER_ID in refusals.values():
            # What it is a duplicate of may not be durable yet: then neither is this answer.
            await self._sequencer.settle()
        for index, code in refusals.items():
            self._refuse(asked[index], answers[index], code)
        if refusals:
            kept = [index for index in range(len(asked)) if index not in refusals]
            asked, answers = [asked[index] for index in kept], [answers[index] for index in kept]
        if future is not None:
            _answer_taken(asked, answers, outcome)

    def _refuse(self, order: pb.PlaceOrderRequest, answer: pb.PlaceOrderResponse, code: ResultCode) -> None:
        answer.order_id = order.order_id
        answer.status = pb.REJECTED
        answer.result_code = code.name
        answer.remaining_quantity = order.quantity
        answer.timestamp = self._sequencer.now() // NANOSECONDS_PER_MS
        answer.notional = answer.fee = "0"

    async def CancelOrder(  # noqa: N802
        self, request: pb.CancelOrderRequest, context: Context
    ) -> pb.CancelOrderResponse:
        """Cancel an order of the participant, by order id or external id."""
        order_id = request.order_id
        try:
            order_id, future = self._door.cancel(order_id, request.external_id, request.participant_id, request.symbol)
            result, sequence = await _one(future)
        except Refusal as refusal:
            result, sequence = _refusal_result(refusal), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.CancelOrderResponse(
            order_id=order_id,
            status=_answer(result),
            result_code=CODE_NAMES[result.code],
            cancelled_quantity=result.remaining,
            sequence=sequence,
        )

    async def MoveOrder(self, request: pb.MoveOrderRequest, context: Context) -> pb.MoveOrderResponse:  # noqa: N802
        """Give an order a new limit; it loses its priority."""
        try:
            future = self._door.move(request.order_id, request.participant_id, request.symbol, request.price)
            result, sequence = await _one(future)
        except Refusal as refusal:
            result, sequence = _refusal_result(refusal), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.MoveOrderResponse(
            order_id=request.order_id,
            status=_answer(result),
            result_code=CODE_NAMES[result.code],
            filled_quantity=result.filled,
            remaining_quantity=result.remaining,
            sequence=sequence,
        )

    async def ReduceOrder(  # noqa: N802
        self, request: pb.ReduceOrderRequest, context: Context
    ) -> pb.ReduceOrderResponse:
        """Take a quantity off an order; it keeps its priority."""
        try:
            future = self._door.reduce(request.order_id, request.participant_id, request.symbol, request.quantity)
            result, sequence = await _one(future)
        except Refusal as refusal:
            result, sequence = _refusal_result(refusal), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.ReduceOrderResponse(
            order_id=request.order_id,
            status=_answer(result),
            result_code=CODE_NAMES[result.code],
            remaining_quantity=result.remaining,
            sequence=sequence,
        )

    async def GetOrder(self, request: pb.GetOrderRequest, context: Context) -> pb.GetOrderResponse:  # noqa: N802
        """What the engine knows of an order."""
        order_id = request.order_id or self._machine.orders.ids.get(request.external_id, 0)
        known, resting = self._machine.orders.find(order_id), self._machine.core.order(order_id)
        if known is not None and known.status == OPEN and resting is None:
            try:
                await self._sequencer.settle()
            except EngineStoppedError as error:
                await abort_stopped(context, error)
            known, resting = self._machine.orders.find(order_id), self._machine.core.order(order_id)
        spec = self._machine.directory.symbol(known.symbol) if known else None
        if known is None:
            return pb.GetOrderResponse(found=False)
        remaining = resting.remaining if resting else known.remaining
        open_name = "OPEN" if remaining == known.quantity else "PARTIALLY_FILLED"
        return pb.GetOrderResponse(
            found=True,
            order_id=order_id,
            external_id=known.external_id,
            participant_id=self._machine.directory.participant(known.account),
            symbol=spec.symbol if spec else "",
            side=known.side,  # type: ignore[arg-type]
            status=_STATUS_NAMES.get(known.status, open_name),
            price=known.price,
            quantity=known.quantity,
            remaining_quantity=remaining,
        )


def _answer_taken(
    asked: Sequence[pb.PlaceOrderRequest], answers: Sequence[pb.PlaceOrderResponse], outcome: Outcome
) -> None:
    """Fill in the answers to orders that the core got. Field by field: that costs a third of a constructor."""
    sequence, event_index = outcome.events_before, outcome.event_index
    records, names = outcome.applied.events.records, CODE_NAMES
    # The orders of one call came at one time.
    timestamp = _TIME_AND_FEE.unpack_from(records, event_index * EVENT_SIZE)[0] // NANOSECONDS_PER_MS
    for order, answer, (code, status, _, events, filled, remaining, low, high) in zip(
        asked, answers, RESULT.iter_unpack(outcome.results), strict=True
    ):
        sequence += events
        answer.order_id = order.order_id
        answer.status = status
        answer.result_code = names[code]
        answer.remaining_quantity = remaining
        answer.sequence = sequence
        answer.timestamp = timestamp
        if filled:
            notional = low | high << 64
            _, fee_bps = _TIME_AND_FEE.unpack_from(records, event_index * EVENT_SIZE)
            answer.filled_quantity = filled
            answer.notional = amount_to_text(notional)
            answer.fee = amount_to_text(fee_amount(notional, fee_bps))
        else:
            answer.notional = answer.fee = "0"
        event_index += events


async def _one(future: asyncio.Future[Outcome]) -> tuple[Result, int]:
    """(result, sequence of its last event) of a single command; 0 if it emitted none."""
    outcome = await future
    (result,) = decode_results(outcome.results)
    return result, outcome.events_before + result.events if result.events else 0


def _refusal_result(refusal: Refusal) -> Result:
    return Result(refusal.code, ResultStatus.REJECTED, 0, 0, 0, 0)


def _answer(result: Result) -> pb.OrderAnswer:
    return pb.REJECTED if result.status == ResultStatus.REJECTED else pb.ACCEPTED
