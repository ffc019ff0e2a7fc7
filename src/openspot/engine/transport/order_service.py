"""exchange.v1.OrderService (facts B4.4-18 to B4.4-24)."""

import asyncio
from collections.abc import Sequence
from typing import Any, NoReturn

import grpc

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.contracts.gen.exchange.v1 import orders_pb2_grpc
from openspot.domain.money import amount_to_text
from openspot.domain.order import EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import WaitingOrder
from openspot.engine.core.records import (
    EVENT_SIZE,
    EVENT_WAITS,
    TERMS_AT_OR_BELOW,
    TERMS_BY_MARK,
    EventType,
    Result,
    ResultStatus,
    decode_events,
    decode_results,
)
from openspot.engine.engine import Engine
from openspot.engine.intake.order_lists import RefusedOrderError
from openspot.engine.intake.order_requests import PlacedOrders
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import CommandOutcome, EngineStoppedError, NotStoredError
from openspot.engine.state.order_memory import CANCELLED, FILLED, HAS_LIMIT, OPEN, ORDER_ID, REJECTED, engine_type
from openspot.engine.transport.placement_responses import (
    CODE_NAMES,
    SUCCESS,
    common_response,
    fill_submitted,
    timestamp_ms,
)
from openspot.kit import tracing
from openspot.kit.clock import NANOSECONDS_PER_MS

Context = grpc.aio.ServicerContext[Any, Any]

_NAMING_AN_ORDER = frozenset({ResultCode.DUPLICATE_ORDER_ID, ResultCode.DUPLICATE_CLIENT_ORDER_ID})
"""Refusals that reveal another order."""
_STATUS_NAMES = {FILLED: "FILLED", CANCELLED: "CANCELLED", REJECTED: "REJECTED"}


async def abort_stopped(context: Context, error: EngineStoppedError) -> NoReturn:
    """End the call, because the engine accepts no commands.

    The status is FAILED_PRECONDITION if the commands of the call are certainly not stored, else UNAVAILABLE.
    """
    is_known = isinstance(error, NotStoredError)
    await context.abort(grpc.StatusCode.FAILED_PRECONDITION if is_known else grpc.StatusCode.UNAVAILABLE, str(error))


class OrderService(orders_pb2_grpc.OrderServiceServicer):
    """Order entry. A refused order gets a response with its result code, never a gRPC error."""

    def __init__(self, engine: Engine) -> None:
        self._intake = engine.intake
        self._lists = engine.list_intake
        self._machine = engine.machine
        self._sequencer = engine.sequencer
        self._orders_max = engine.settings.engine_batch_max
        self._epoch = engine.epoch

    async def PlaceOrder(  # noqa: N802 - the name of the protocol
        self, request: pb.PlaceOrderRequest, context: Context
    ) -> pb.PlaceOrderResponse:
        """Place one order."""
        try:
            placed, outcome = await self._place((request,))
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        response = common_response(outcome)
        self._fill((request,), (response,), placed, outcome)
        return response

    async def PlaceOrders(  # noqa: N802
        self, request: pb.PlaceOrdersRequest, context: Context
    ) -> pb.PlaceOrdersResponse:
        """Place many orders in one commit."""
        requests = request.orders
        if len(requests) > self._orders_max:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"orders: at most {self._orders_max} in one call")
        try:
            placed, outcome = await self._place(requests)
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        # Parsing the same serialised response many times takes half as long as setting each field of each response.
        common = pb.PlaceOrdersResponse(orders=[common_response(outcome)]).SerializeToString()
        response = pb.PlaceOrdersResponse.FromString(common * len(requests))
        self._fill(requests, response.orders, placed, outcome)
        return response

    async def _place(self, requests: Sequence[pb.PlaceOrderRequest]) -> tuple[PlacedOrders, CommandOutcome | None]:
        """Submit orders and wait for their outcome, which is None if all were refused. Raises EngineStoppedError."""
        began = tracing.begin()
        placed = self._intake.place(requests)
        if placed.future is not None:
            outcome = await placed.future
            if began:
                _trace(requests, began, outcome)
            return placed, outcome
        if not _NAMING_AN_ORDER.isdisjoint(placed.refusals.values()):
            # The original order may not be durable yet. Wait, so that this response does not reveal it too early.
            await self._sequencer.settle()
        return placed, None

    def _fill(
        self,
        requests: Sequence[pb.PlaceOrderRequest],
        responses: Sequence[pb.PlaceOrderResponse],
        placed: PlacedOrders,
        outcome: CommandOutcome | None,
    ) -> None:
        """Complete the common responses for each order."""
        refusals = placed.refusals
        for index, code in refusals.items():
            self._refuse(requests[index], responses[index], code)
            responses[index].conflicting_id = placed.conflicting_ids.get(index, "")
        if refusals:
            requests = [request for index, request in enumerate(requests) if index not in refusals]
            responses = [response for index, response in enumerate(responses) if index not in refusals]
        if outcome is not None:
            fill_submitted(requests, responses, placed.submitted_ids, outcome, self._epoch)

    def _refuse(self, order: pb.PlaceOrderRequest, response: pb.PlaceOrderResponse, code: ResultCode) -> None:
        response.order_id = order.order_id
        response.status = pb.REJECTED
        response.result_code = code.name
        response.remaining_quantity = order.quantity
        response.timestamp = self._sequencer.now() // NANOSECONDS_PER_MS

    async def CancelOrder(  # noqa: N802
        self, request: pb.CancelOrderRequest, context: Context
    ) -> pb.CancelOrderResponse:
        """Cancel an order of the participant, by either id."""
        engine_order_id = request.order_id
        try:
            engine_order_id, future = self._intake.cancel(
                engine_order_id, request.external_id, request.participant_id, request.symbol
            )
            result, sequence = await _one(future)
        except IntakeRefusal as refusal:
            result, sequence = _refusal_result(refusal.code), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.CancelOrderResponse(
            order_id=engine_order_id,
            status=_status(result),
            result_code=CODE_NAMES[result.code],
            cancelled_quantity=result.remaining,
            sequence=sequence,
        )

    async def ReplaceOrder(  # noqa: N802
        self, request: pb.ReplaceOrderRequest, context: Context
    ) -> pb.ReplaceOrderResponse:
        """Cancel an order of the participant and place another, in one commit."""
        order, began = request.order, tracing.begin()
        try:
            placed = self._intake.replace(request.order_id, order, allow_failure=request.allow_failure)
            outcome = None if placed.future is None else await placed.future
            if outcome is None and not _NAMING_AN_ORDER.isdisjoint(placed.refusals.values()):
                await self._sequencer.settle()
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        if began and outcome is not None:
            _trace((order,), began, outcome)
        response = common_response(outcome)
        self._fill((order,), (response,), placed, outcome)
        result = next(decode_results(outcome.results)) if outcome is not None else _refusal_result(placed.refusals[0])
        cancelled = pb.CancelOrderResponse(
            order_id=request.order_id,
            status=_status(result),
            result_code=CODE_NAMES[result.code],
            cancelled_quantity=result.remaining,
            sequence=outcome.events_before + result.events if outcome is not None and result.events else 0,
        )
        return pb.ReplaceOrderResponse(cancelled=cancelled, placed=response)

    async def CancelOrders(  # noqa: N802
        self, request: pb.CancelOrdersRequest, context: Context
    ) -> pb.CancelOrdersResponse:
        """Cancel the participant's open orders, as many as one call takes."""
        entries = self._machine.orders.entries
        try:
            chosen = self._intake.cancel_open(
                request.participant_id, request.symbol, request.side, tuple(request.external_ids)
            )
            # The memory may forget an order once it has ended.
            order_ids = [entries[engine_order_id][ORDER_ID] for engine_order_id in chosen.engine_order_ids]
            outcome = None if chosen.future is None else await chosen.future
        except IntakeRefusal as refusal:
            return pb.CancelOrdersResponse(status=pb.REJECTED, result_code=refusal.code.name)
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        response = pb.CancelOrdersResponse(status=pb.ACCEPTED, result_code=SUCCESS, more_remain=chosen.more_remain)
        if outcome is None:
            return response
        sequence = outcome.events_before
        results = decode_results(outcome.results)
        for engine_order_id, order_id, result in zip(chosen.engine_order_ids, order_ids, results, strict=True):
            sequence += result.events
            if result.code == ResultCode.SUCCESS:
                response.orders.add(
                    order_id=engine_order_id,
                    external_id=order_id,
                    cancelled_quantity=result.remaining,
                    sequence=sequence,
                )
        return response

    async def PlaceOrderList(  # noqa: N802
        self, request: pb.PlaceOrderListRequest, context: Context
    ) -> pb.PlaceOrderListResponse:
        """Place orders that depend on each other, all or none."""
        began = tracing.begin()
        try:
            outcome = await self._lists.place(request.list_id, request.type, request.orders)
        except RefusedOrderError as refusal:
            if refusal.code in _NAMING_AN_ORDER:
                try:
                    await self._sequencer.settle()
                except EngineStoppedError as error:
                    await abort_stopped(context, error)
            return pb.PlaceOrderListResponse(
                list_id=request.list_id,
                status=pb.REJECTED,
                result_code=refusal.code.name,
                failed_order=refusal.place,
                notional="0",
                timestamp=self._sequencer.now() // NANOSECONDS_PER_MS,
            )
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        if began:
            _trace(request.orders, began, outcome)
        *_, result = decode_results(outcome.results)
        is_rejected = result.status == ResultStatus.REJECTED
        return pb.PlaceOrderListResponse(
            list_id=request.list_id,
            status=result.status,  # type: ignore[arg-type]
            result_code=CODE_NAMES[result.code],
            failed_order=result.remaining if is_rejected else 0,
            filled_quantity=result.filled,
            remaining_quantity=0 if is_rejected else result.remaining,
            notional=amount_to_text(result.notional),
            sequence=outcome.events_before + result.events if result.events else 0,
            timestamp=timestamp_ms(outcome),
        )

    async def CancelOrderList(  # noqa: N802
        self, request: pb.CancelOrderListRequest, context: Context
    ) -> pb.CancelOrderListResponse:
        """Cancel all that is open or planned of a list of the participant."""
        try:
            future = self._lists.cancel(request.list_id, request.participant_id, request.symbol)
            result, sequence = await _one(future)
        except IntakeRefusal as refusal:
            result, sequence = _refusal_result(refusal.code), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.CancelOrderListResponse(
            list_id=request.list_id,
            status=_status(result),
            result_code=CODE_NAMES[result.code],
            sequence=sequence,
        )

    async def MoveOrder(self, request: pb.MoveOrderRequest, context: Context) -> pb.MoveOrderResponse:  # noqa: N802
        """Change the limit of an order, which loses its time priority."""
        try:
            future = self._intake.move(request.order_id, request.participant_id, request.symbol, request.price)
            result, sequence = await _one(future)
        except IntakeRefusal as refusal:
            result, sequence = _refusal_result(refusal.code), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.MoveOrderResponse(
            order_id=request.order_id,
            status=_status(result),
            result_code=CODE_NAMES[result.code],
            filled_quantity=result.filled,
            remaining_quantity=result.remaining,
            sequence=sequence,
        )

    async def AmendOrders(  # noqa: N802
        self, request: pb.AmendOrdersRequest, context: Context
    ) -> pb.AmendOrdersResponse:
        """Change limits and ordered quantities of orders, all in one commit, each with its own outcome."""
        requests = request.orders
        if len(requests) > self._orders_max:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"orders: at most {self._orders_max} in one call")
        try:
            amended = self._intake.amend(requests)
            outcome = None if amended.future is None else await amended.future
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        results = iter(() if outcome is None else decode_results(outcome.results))
        records = b"" if outcome is None else outcome.applied.events.records[outcome.event_index * EVENT_SIZE :]
        sequence = first = 0 if outcome is None else outcome.events_before
        timestamp = timestamp_ms(outcome)
        response = pb.AmendOrdersResponse()
        for index, wanted in enumerate(requests):
            code = amended.refusals.get(index)
            result = _refusal_result(code) if code is not None else next(results)
            own_records = records[(sequence - first) * EVENT_SIZE :] if result.events else b""
            sequence += result.events
            price, quantity, trigger_price = self._amended(wanted, result, own_records)
            response.orders.add(
                order_id=wanted.order_id,
                status=_status(result),
                price=price,
                quantity=quantity,
                trigger_price=trigger_price,
                result_code=CODE_NAMES[result.code],
                filled_quantity=result.filled,
                remaining_quantity=result.remaining,
                sequence=sequence if result.events else 0,
                timestamp=timestamp if result.events else 0,
            )
        return response

    def _amended(self, wanted: pb.AmendOrderRequest, result: Result, records: bytes) -> tuple[int, int, int]:
        """The limit, ordered quantity and trigger of an order after its amendment, whose `records` these are.

        Later commands of the same commit may have changed it again. So what the amendment's own event says counts; the
        present order is asked for the rest, and if nothing had to be changed.
        """
        if result.code != ResultCode.SUCCESS:
            return 0, 0, 0
        present = self._machine.core.order(wanted.order_id) or self._machine.orders.find(wanted.order_id)
        waiting = self._machine.core.waiting_order(wanted.order_id)
        # A trailing order's limit has moved since the price that its order keeps.
        price = waiting.limit if waiting else present.price if present else 0
        quantity, trigger_price = present.quantity if present else 0, waiting.trigger_price if waiting else 0
        if records:
            own = next(decode_events(records[:EVENT_SIZE]))
            price = own.price
            quantity = own.quantity if own.type == EventType.MOVED else quantity
            if own.flags & EVENT_WAITS and own.maker_remaining:
                trigger_price = own.maker_remaining
        return wanted.price or price, wanted.quantity or quantity, trigger_price

    async def ReduceOrder(  # noqa: N802
        self, request: pb.ReduceOrderRequest, context: Context
    ) -> pb.ReduceOrderResponse:
        """Reduce an order, which keeps its time priority."""
        try:
            future = self._intake.reduce(request.order_id, request.participant_id, request.symbol, request.quantity)
            result, sequence = await _one(future)
        except IntakeRefusal as refusal:
            result, sequence = _refusal_result(refusal.code), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.ReduceOrderResponse(
            order_id=request.order_id,
            status=_status(result),
            result_code=CODE_NAMES[result.code],
            remaining_quantity=result.remaining,
            sequence=sequence,
        )

    async def SetMarkPrice(  # noqa: N802
        self, request: pb.SetMarkPriceRequest, context: Context
    ) -> pb.SetMarkPriceResponse:
        """Set the mark price of a symbol."""
        try:
            gap_ms = request.gap_ms if request.HasField("gap_ms") else None
            future = self._intake.set_mark_price(request.symbol, request.price, gap_ms, request.symbol_id)
            result, sequence = await _one(future)
        except IntakeRefusal as refusal:
            result, sequence = _refusal_result(refusal.code), 0
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.SetMarkPriceResponse(status=_status(result), result_code=CODE_NAMES[result.code], sequence=sequence)

    async def GetOrder(self, request: pb.GetOrderRequest, context: Context) -> pb.GetOrderResponse:  # noqa: N802
        """Return an open or remembered order."""
        engine_order_id = request.order_id or self._machine.orders.ids.get(request.external_id, 0)
        known, resting = self._machine.orders.find(engine_order_id), self._machine.core.order(engine_order_id)
        if known is not None and known.status == OPEN and resting is None:
            try:
                await self._sequencer.settle()
            except EngineStoppedError as error:
                await abort_stopped(context, error)
            known, resting = self._machine.orders.find(engine_order_id), self._machine.core.order(engine_order_id)
        spec = self._machine.directory.symbol(known.symbol) if known else None
        if known is None:
            return pb.GetOrderResponse(found=False)
        remaining = resting.remaining if resting else known.remaining
        open_name = "OPEN" if remaining == known.quantity else "PARTIALLY_FILLED"
        waiting = self._machine.core.waiting_order(engine_order_id)
        iceberg = self._machine.core.iceberg(engine_order_id) if resting else None
        if waiting is not None and resting is not None:
            open_name = "WAITING"
        elif resting is None and known.status == OPEN:
            # Only an exit of a list is open here and not in the core: its entry has not armed it.
            remaining, open_name = known.quantity, "PLANNED"
        return pb.GetOrderResponse(
            found=True,
            order_id=engine_order_id,
            external_id=known.order_id,
            participant_id=self._machine.directory.participant(known.account),
            symbol=spec.symbol if spec else "",
            side=known.side,  # type: ignore[arg-type]
            status=_STATUS_NAMES.get(known.status, open_name),
            price=known.price,
            quantity=known.quantity,
            remaining_quantity=remaining,
            trigger_price=waiting.trigger_price if waiting else 0,
            trigger_limit=waiting.limit if waiting else 0,
            **_type_of(known.order_type),
            **_trigger_of(waiting),
            display_quantity=iceberg.display if iceberg else 0,
        )


def _trace(requests: Sequence[pb.PlaceOrderRequest], began: int, outcome: CommandOutcome) -> None:
    """Record the engine's part of the traced orders of a call."""
    commit_began, commit_ended = outcome.commit
    for request in requests:
        order_id = request.external_id
        tracing.end(order_id, tracing.Step.ENGINE, began, orders=len(requests))
        if commit_began and tracing.is_traced(order_id):
            tracing.record(order_id, tracing.Step.JOURNAL, commit_began, commit_ended)


def _type_of(kept_type: int) -> dict[str, Any]:
    """The fields of a GetOrderResponse that say with which type an order was placed."""
    order_type = engine_type(kept_type)
    if order_type == EngineOrderType.POST_ONLY:
        return {"type": pb.GTC, "post_only": pb.REFUSE}
    return {"type": order_type, "has_limit": bool(kept_type & HAS_LIMIT)}


def _trigger_of(waiting: WaitingOrder | None) -> dict[str, Any]:
    """The fields of a GetOrderResponse that say what an order waits for."""
    if waiting is None:
        return {}
    is_below, is_by_mark = waiting.flags & TERMS_AT_OR_BELOW, waiting.flags & TERMS_BY_MARK
    return {
        "trigger": waiting.kind,
        "trigger_source": pb.TRIGGER_MARK_PRICE if is_by_mark else pb.TRIGGER_LAST_TRADE,
        "trigger_direction": pb.TRIGGER_AT_OR_BELOW if is_below else pb.TRIGGER_AT_OR_ABOVE,
        "trigger_value": waiting.value,
    }


async def _one(future: asyncio.Future[CommandOutcome]) -> tuple[Result, int]:
    """(result, sequence of its last event) of a single command. The sequence is 0 without events."""
    outcome = await future
    (result,) = decode_results(outcome.results)
    return result, outcome.events_before + result.events if result.events else 0


def _refusal_result(code: ResultCode) -> Result:
    return Result(code, ResultStatus.REJECTED, 0, 0, 0, 0)


def _status(result: Result) -> pb.OrderAnswer:
    return pb.REJECTED if result.status == ResultStatus.REJECTED else pb.ACCEPTED
