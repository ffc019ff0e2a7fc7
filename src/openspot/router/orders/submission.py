"""The request `orders.submit`: check the order, take an id, ask the engine, reply (facts A1.3-25 to A1.3-33)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import SubmitOrder, SubmitOrderReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.order import OrderStatus
from openspot.domain.result_code import ResultCode
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit import tracing
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.router.metrics import ORDERS, orders_of
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.draft import OrderDraft, draft_of
from openspot.router.orders.engine_order_ids import OrderIds, OrderIdsUnavailableError
from openspot.router.orders.engine_orders import (
    engine_type,
    order_in_response,
    pending_order,
    place_request,
    placed_record,
    refused_order,
)
from openspot.router.orders.opening import Opening
from openspot.router.orders.placements import Placements
from openspot.router.orders.pre_trade import (
    BALANCE_ONLY,
    BEFORE_BALANCE,
    Candidate,
    MarketRules,
    PreTradeCheck,
    PreTradeFailure,
    first_failure,
)
from openspot.router.orders.recent_orders import RecentOrder, RecentOrders
from openspot.router.orders.reference_prices import References
from openspot.router.orders.rejections import Rejections, Slot
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("submission")

Place = Callable[[orders_pb2.PlaceOrderRequest], Awaitable[orders_pb2.PlaceOrderResponse]]
"""Sends an order to the engine. Raises EngineError."""

TOO_LATE = "the request is too old: nobody waits for its reply any more"


class Submission:
    """Handles new orders. It reads `markets` for each order, so that a reload of the symbols takes effect at once."""

    def __init__(
        self,
        *,
        markets: Mapping[str, MarketRules],
        reference_prices: References,
        funds: AvailableFunds,
        order_ids: OrderIds,
        recent_orders: RecentOrders,
        placements: Placements,
        rejections: Rejections,
        clock: Clock,
        honour_time_in_force: bool,
        opening: Opening,
        has_complete_rules: bool = False,
    ) -> None:
        self._markets = markets
        self._reference_prices = reference_prices
        self._funds = funds
        self._order_ids = order_ids
        self._recent_orders = recent_orders
        self._placements = placements
        self._rejections = rejections
        self._clock = clock
        self._honour_time_in_force = honour_time_in_force
        self._opening = opening
        self._has_complete_rules = has_complete_rules
        self._under_way: set[str] = set()

    async def submit(self, request: SubmitOrder, place: Place | None = None) -> SubmitOrderReply:
        """Reply to one request.

        With `place`, that sends the order to the engine, and what the user can spend is left to the engine: the order
        may get funds that another one holds until then.
        """
        try:
            draft = draft_of(request)
        except InvalidRequestError as error:
            ORDERS.labels("malformed", "").inc()
            return _refused(RefusalCode.VALIDATION, str(error))
        order_id = draft.order_id
        if order_id in self._under_way or self._recent_orders.get(order_id) is not None:
            ORDERS.labels("duplicate", "").inc()
            return _refused(RefusalCode.DUPLICATE_ORDER_ID, f"orderId {order_id} was used before")
        slot = self._rejections.reserve()
        if slot is None:
            ORDERS.labels("not_sent", "busy").inc()
            return _refused(RefusalCode.BUSY, "too many refused orders wait to be recorded")
        self._under_way.add(order_id)
        began = tracing.begin()
        try:
            return await self._checked(draft, request.deadline, slot, place)
        finally:
            tracing.end(order_id, tracing.Step.SUBMIT, began)
            self._under_way.discard(order_id)
            slot.release()

    async def _checked(
        self, draft: OrderDraft, deadline: int | None, slot: Slot, place: Place | None
    ) -> SubmitOrderReply:
        now_ms, began = self._now_ms(), tracing.begin()
        candidate = Candidate(
            draft,
            self._markets,
            self._reference_prices.reference(draft.symbol, now_ms),
            has_complete_rules=self._has_complete_rules,
            now_ms=now_ms,
        )
        failure = (
            opening_failure(self._opening, candidate, honour_time_in_force=self._honour_time_in_force)
            or first_failure(candidate, BEFORE_BALANCE)
            or (await self._balance_failure(candidate) if place is None else None)
        )
        tracing.end(draft.order_id, tracing.Step.CHECKS, began)
        if failure is not None:
            return await self._refuse(draft, failure, now_ms, slot)
        try:
            engine_order_id = await self._order_ids.take()
        except OrderIdsUnavailableError as error:
            ORDERS.labels("not_sent", "order_ids").inc()
            return _refused(RefusalCode.UNAVAILABLE, str(error))
        if deadline is not None and self._now_ms() > deadline:
            # The router was paused, or the ledger was slow. The client was told that the order's state is unknown, and
            # may have learned since that there is no such order.
            ORDERS.labels("not_sent", "too_late").inc()
            return _refused(RefusalCode.TOO_LATE, TOO_LATE)
        return await self._place(candidate, engine_order_id, slot, place or self._placements.place)

    async def _balance_failure(self, candidate: Candidate) -> PreTradeFailure | None:
        candidate.available = await self._funds.available(
            candidate.draft.user_id, candidate.funding_asset, candidate.funds_needed
        )
        return first_failure(candidate, BALANCE_ONLY)

    async def _refuse(self, draft: OrderDraft, failure: PreTradeFailure, now_ms: int, slot: Slot) -> SubmitOrderReply:
        ORDERS.labels("refused", failure.check.value).inc()
        order = refused_order(draft, failure.reason, now_ms, has_complete_rules=self._has_complete_rules)
        self._recent_orders.put(RecentOrder(order))
        await slot.record(order, failure)
        return _refused(RefusalCode.PRE_TRADE_CHECK, failure.reason, order)

    async def _place(self, candidate: Candidate, engine_order_id: int, slot: Slot, place: Place) -> SubmitOrderReply:
        """Send a checked order to the engine and remember the response."""
        draft = candidate.draft
        pending = pending_order(candidate, engine_order_id, self._now_ms())
        placing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        recent = RecentOrder(pending, placing)
        self._recent_orders.put(recent)
        engine_order = place_request(candidate, engine_order_id, honour_time_in_force=self._honour_time_in_force)
        began = tracing.begin()
        try:
            response = await place(engine_order)
        except EngineAmbiguousError as error:
            ORDERS.labels("unknown", "").inc()
            log.error("order state unknown", order_id=draft.order_id, engine_order_id=engine_order_id, error=str(error))
            recent.unknown_since_ms = self._now_ms()
            reason = f"the matching engine did not answer, the order may or may not stand: {error}"
            return _refused(RefusalCode.STATUS_UNKNOWN, reason, pending)
        except EngineError as error:
            ORDERS.labels("not_sent", "engine").inc()
            self._recent_orders.forget(draft.order_id)
            return _refused(RefusalCode.UNAVAILABLE, str(error))
        finally:
            tracing.end(draft.order_id, tracing.Step.CALL, began)
            recent.placing = None
            placing.set_result(None)
        if response.result_code == ResultCode.DUPLICATE_CLIENT_ORDER_ID.name:
            ORDERS.labels("rejected", response.result_code).inc()
            self._recent_orders.forget(draft.order_id)
            return _client_order_id_taken(draft, response.conflicting_id)
        order = recent.order = order_in_response(pending, candidate.market.spec, response)
        if order.status is OrderStatus.REJECTED:
            ORDERS.labels("rejected", response.result_code).inc()
            if not response.sequence:
                await self._record_without_event(order, slot)
            return _refused(RefusalCode.ENGINE, response.result_code, order)
        orders_of(order.status.value).inc()
        record = placed_record(order, candidate.market.spec, response, with_fills=self._has_complete_rules)
        return SubmitOrderReply(True, record)

    async def _record_without_event(self, order: TrackedOrder, slot: Slot) -> None:
        """Record an engine's refusal that has no event in its stream, so that the translator never sees it."""
        if order.reject_reason == ResultCode.DUPLICATE_ORDER_ID.name:
            # The id belongs to an earlier order, whose events and row must stay as they are.
            self._recent_orders.forget(order.order_id)
            return
        await slot.record(msgspec.structs.replace(order, engine_order_id=None), None)

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def opening_failure(opening: Opening, candidate: Candidate, *, honour_time_in_force: bool) -> PreTradeFailure | None:
    """Why a market that has not opened yet does not take an order; None if it does."""
    draft = candidate.draft
    # One with a trigger does not rest, and would match at a time that nobody chose.
    rests = not draft.has_trigger and engine_type(draft, honour_time_in_force=honour_time_in_force) == orders_pb2.GTC
    price = draft.price if rests else None
    reason = opening.refusal(draft.symbol, is_buy=draft.is_buy, price=price, reference=candidate.reference.price)
    return PreTradeFailure(PreTradeCheck.OPENING, reason) if reason else None


def _refused(code: RefusalCode, message: str, order: TrackedOrder | None = None) -> SubmitOrderReply:
    return SubmitOrderReply.refused(Refusal(code, message), None if order is None else record_of(order))


def _client_order_id_taken(draft: OrderDraft, first_id: str) -> SubmitOrderReply:
    """The refusal of an order whose client order id an open order has. There is no row: it never was an order."""
    message = f"clientOrderId {draft.client_order_id} belongs to your open order {first_id}"
    return SubmitOrderReply(
        False, error=message, code=RefusalCode.DUPLICATE_CLIENT_ORDER_ID, conflicting_order_id=first_id
    )
