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
from openspot.engine.core.records import EVENT_SIZE, RESULT_SIZE, EventType, Result, ResultStatus, decode_results
from openspot.engine.engine import Engine
from openspot.engine.intake.command_intake import PlacedOrders, Refusal
from openspot.engine.intake.sequencer import CommandOutcome, EngineStoppedError
from openspot.engine.state.order_memory import CANCELLED, FILLED, OPEN, REJECTED
from openspot.kit.clock import NANOSECONDS_PER_MS

Context = grpc.aio.ServicerContext[Any, Any]

CODE_NAMES: dict[int, str] = {int(code): code.name for code in ResultCode}
_SUCCESS = ResultCode.SUCCESS.name
_TRADE = int(EventType.TRADE)
_STATUS_NAMES = {FILLED: "FILLED", CANCELLED: "CANCELLED", REJECTED: "REJECTED"}
_TIME_AND_FEE = struct.Struct("<24xQ72xi")
"""Of the first event of a PLACE, ACCEPTED or REJECT: its time, and the taker fee that an order carries."""
_RESULT = struct.Struct("<HBxIqqQq")
"""A result without what is always zero."""
assert _RESULT.size == RESULT_SIZE


async def abort_stopped(context: Context, error: EngineStoppedError) -> NoReturn:
    """Answer that the engine takes no commands, and why."""
    await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))


class OrderService(orders_pb2_grpc.OrderServiceServicer):
    """Order entry. A refused order is an answer, never an error of the call."""

    def __init__(self, engine: Engine) -> None:
        self._intake = engine.intake
        self._machine = engine.machine
        self._sequencer = engine.sequencer
        self._orders_max = engine.settings.engine_batch_max

    async def PlaceOrder(  # noqa: N802 - the name of the protocol
        self, request: pb.PlaceOrderRequest, context: Context
    ) -> pb.PlaceOrderResponse:
        """Place one order."""
        try:
            placed, outcome = await self._place((request,))
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        answer = _usual_answer(outcome)
        self._fill((request,), (answer,), placed, outcome)
        return answer

    async def PlaceOrders(  # noqa: N802
        self, request: pb.PlaceOrdersRequest, context: Context
    ) -> pb.PlaceOrdersResponse:
        """Place many orders in one commit."""
        asked = request.orders
        if len(asked) > self._orders_max:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"orders: at most {self._orders_max} in one call")
        try:
            placed, outcome = await self._place(asked)
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        # The usual answer so many times, read at once: setting every field of every answer would cost twice that.
        usual = pb.PlaceOrdersResponse(orders=[_usual_answer(outcome)]).SerializeToString()
        response = pb.PlaceOrdersResponse.FromString(usual * len(asked))
        self._fill(asked, response.orders, placed, outcome)
        return response

    async def _place(self, asked: Sequence[pb.PlaceOrderRequest]) -> tuple[PlacedOrders, CommandOutcome | None]:
        """What the door made of orders, and the outcome of those it took. Raises EngineStoppedError."""
        placed = self._intake.place(asked)
        if placed.future is not None:
            return placed, await placed.future
        if ResultCode.DUPLICATE_ORDER_ID in placed.refusals.values():
            # What it is a duplicate of may not be durable yet: then neither is this answer.
            await self._sequencer.settle()
        return placed, None

    def _fill(
        self,
        asked: Sequence[pb.PlaceOrderRequest],
        answers: Sequence[pb.PlaceOrderResponse],
        placed: PlacedOrders,
        outcome: CommandOutcome | None,
    ) -> None:
        """Make usual answers those to the orders."""
        refusals = placed.refusals
        for index, code in refusals.items():
            self._refuse(asked[index], answers[index], code)
        if refusals:
            answers = [answer for index, answer in enumerate(answers) if index not in refusals]
        if outcome is not None:
            _answer_taken(placed.taken, answers, outcome)

    def _refuse(self, order: pb.PlaceOrderRequest, answer: pb.PlaceOrderResponse, code: ResultCode) -> None:
        answer.order_id = order.order_id
        answer.status = pb.REJECTED
        answer.result_code = code.name
        answer.remaining_quantity = order.quantity
        answer.timestamp = self._sequencer.now() // NANOSECONDS_PER_MS

    async def CancelOrder(  # noqa: N802
        self, request: pb.CancelOrderRequest, context: Context
    ) -> pb.CancelOrderResponse:
        """Cancel an order of the participant, by order id or external id."""
        order_id = request.order_id
        try:
            order_id, future = self._intake.cancel(
                order_id, request.external_id, request.participant_id, request.symbol
            )
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
            future = self._intake.move(request.order_id, request.participant_id, request.symbol, request.price)
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
            future = self._intake.reduce(request.order_id, request.participant_id, request.symbol, request.quantity)
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


def _usual_answer(outcome: CommandOutcome | None) -> pb.PlaceOrderResponse:
    """What the answers to most orders of an outcome have in common: taken, nothing filled, and their time."""
    timestamp = 0
    if outcome is not None:
        # The orders of one call came at one time.
        records = outcome.applied.events.records
        timestamp = _TIME_AND_FEE.unpack_from(records, outcome.event_index * EVENT_SIZE)[0] // NANOSECONDS_PER_MS
    return pb.PlaceOrderResponse(status=pb.ACCEPTED, result_code=_SUCCESS, timestamp=timestamp, notional="0", fee="0")


def _answer_taken(order_ids: Sequence[int], answers: Sequence[pb.PlaceOrderResponse], outcome: CommandOutcome) -> None:
    """Make usual answers those to orders that the core got."""
    sequence, event_index = outcome.events_before, outcome.event_index
    records = outcome.applied.events.records
    for order_id, answer, (code, status, events, filled, remaining, low, high) in zip(
        order_ids, answers, _RESULT.iter_unpack(outcome.results), strict=True
    ):
        sequence += events
        answer.order_id = order_id
        answer.sequence = sequence
        if remaining:
            answer.remaining_quantity = remaining
        if code or status != pb.ACCEPTED:
            answer.status = status
            answer.result_code = CODE_NAMES[code]
        if filled:
            notional = low | high << 64
            # What leaves it with nothing is its last event: a fill, or the end of what was not filled.
            if not remaining and records[(event_index + events - 1) * EVENT_SIZE] == _TRADE:
                answer.is_order_completed = True
            _, fee_bps = _TIME_AND_FEE.unpack_from(records, event_index * EVENT_SIZE)
            answer.filled_quantity = filled
            answer.notional = amount_to_text(notional)
            answer.fee = amount_to_text(fee_amount(notional, fee_bps))
        event_index += events


async def _one(future: asyncio.Future[CommandOutcome]) -> tuple[Result, int]:
    """(result, sequence of its last event) of a single command; 0 if it emitted none."""
    outcome = await future
    (result,) = decode_results(outcome.results)
    return result, outcome.events_before + result.events if result.events else 0


def _refusal_result(refusal: Refusal) -> Result:
    return Result(refusal.code, ResultStatus.REJECTED, 0, 0, 0, 0)


def _answer(result: Result) -> pb.OrderAnswer:
    return pb.REJECTED if result.status == ResultStatus.REJECTED else pb.ACCEPTED
