"""The request `orders.amend`: give open limit orders another price, another ordered quantity or both, in one step.

The amended order passes the pre-trade check of a new one, but for the funds, of which the engine knows what the order
holds already. An order that only gets smaller, at its price, needs no price band and no open market.

An order that waits for its trigger is amended as one that rests, and a fixed trigger can get another price. An order
that names no price keeps the distance of its bound from the trigger.

An order of a list gets another price or trigger, and the engine sees that the list still fits together. Its quantity is
that of all orders of the list, and stays.

A price and a quantity are what the order shall have, not by how much it changes. So an amendment that arrives twice
changes nothing the second time. One whose deadline has passed is not sent, so that none overtakes a later one after its
sender was told that nobody answered.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

import msgspec

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import AmendmentOutcome, AmendOrders, AmendOrdersReply, OrderAmendment
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.money import EXACT, scaled_to_text
from openspot.domain.order import OrderType, TimeInForce
from openspot.domain.order_list import ListRole
from openspot.domain.order_terms import OrderTerms
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit import tracing
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.router.metrics import AMENDMENTS
from openspot.router.orders.draft import OrderDraft, OrderSide, check_ids, check_user_id, decimal_in
from openspot.router.orders.engine_orders import price_of, quantity_of
from openspot.router.orders.engine_terms import terms_of
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.opening import Opening
from openspot.router.orders.pre_trade import (
    BEFORE_BALANCE,
    Candidate,
    MarketRules,
    PreTradeCheck,
    first_failure,
)
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.orders.reference_prices import References
from openspot.router.orders.submission import TOO_LATE
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("amendment")

AMENDMENTS_MAX = 20
"""Orders of one request at most."""
_WITH_ANOTHER_TRIGGER = tuple(step for step in BEFORE_BALANCE if step[0] is not PreTradeCheck.TERMS)
_WITH_ANOTHER_PRICE = tuple(step for step in _WITH_ANOTHER_TRIGGER if step[0] is not PreTradeCheck.TRIGGER)
_KEEPING_ITS_PRICE = tuple(step for step in _WITH_ANOTHER_PRICE if step[0] is not PreTradeCheck.DEVIATION)


class _Checked(NamedTuple):
    """An amendment that passed every check: the order as it is now, and as it shall be.

    `bound` is the new limit, in the engine's units, of an order without a price whose trigger changes; else 0.
    """

    order: TrackedOrder
    candidate: Candidate
    bound: int = 0


class Amendment:
    """Amends orders in the engine."""

    def __init__(
        self,
        *,
        markets: Mapping[str, MarketRules],
        reference_prices: References,
        lookup: OrderLookup,
        recent_orders: RecentOrders,
        engine: EngineCommands,
        opening: Opening,
        clock: Clock,
    ) -> None:
        self._markets = markets
        self._reference_prices = reference_prices
        self._lookup = lookup
        self._recent_orders = recent_orders
        self._engine = engine
        self._opening = opening
        self._clock = clock

    async def amend(self, request: AmendOrders) -> AmendOrdersReply:
        """Reply to `orders.amend`: the outcome of each amendment, in the order of the request."""
        try:
            check_user_id(request.user_id)
            if not 1 <= len(request.orders) <= AMENDMENTS_MAX:
                raise InvalidRequestError(f"orders must have 1 to {AMENDMENTS_MAX} entries")
            if len({amendment.order_id for amendment in request.orders}) < len(request.orders):
                raise InvalidRequestError("orders must name each order once")
        except InvalidRequestError as error:
            AMENDMENTS.labels("failed").inc()
            return AmendOrdersReply.refused(error.refusal)
        began = tracing.begin()
        checked = await asyncio.gather(*(self._checked(request.user_id, amendment) for amendment in request.orders))
        outcomes = await self._sent(request, [entry for entry in checked if isinstance(entry, _Checked)])
        reply = tuple(next(outcomes) if isinstance(entry, _Checked) else entry for entry in checked)
        for outcome in reply:
            if outcome.order is not None:
                tracing.end(outcome.order_id, tracing.Step.AMEND_WORK, began, key=str(request.deadline))
            AMENDMENTS.labels("amended" if outcome.success else "failed").inc()
        return AmendOrdersReply(True, reply)

    async def _checked(self, user_id: str, amendment: OrderAmendment) -> _Checked | AmendmentOutcome:
        order_id = amendment.order_id
        try:
            check_ids(user_id, order_id)
            price, quantity = decimal_in("price", amendment.price), decimal_in("quantity", amendment.quantity)
            stop_price = decimal_in("stopPrice", amendment.stop_price)
            if price is None and quantity is None and stop_price is None:
                raise InvalidRequestError("price, quantity or stopPrice is required")
            order = await self._lookup.freshest(order_id)
        except InvalidRequestError as error:
            return _refused(order_id, RefusalCode.VALIDATION, str(error))
        except EngineError as error:
            return _refused(order_id, RefusalCode.UNAVAILABLE, str(error))
        if order is None or order.user_id != user_id:
            return _not_found(order_id)
        if order.has_ended or order.engine_order_id is None:
            return _already_ended(order)
        if order.price is None and not order.is_waiting:
            return _refused(order_id, RefusalCode.VALIDATION, "only limit orders can be amended", order)
        if order.price is None and price is not None:
            message = f"price must not be given for a {order.type} order"
            return _refused(order_id, RefusalCode.VALIDATION, message, order)
        if stop_price is not None and (fault := _trigger_fault(order, stop_price)):
            return _refused(order_id, RefusalCode.VALIDATION, fault, order)
        entry = await self._entry_of(order)
        checked = self._with_market_rules(order, entry, price, quantity, stop_price)
        if not isinstance(checked, _Checked) or stop_price is None or order.price is not None:
            return checked
        try:
            return await self._with_bound(checked)
        except EngineError as error:
            return _refused(order_id, RefusalCode.UNAVAILABLE, str(error), order)

    async def _with_bound(self, checked: _Checked) -> _Checked | AmendmentOutcome:
        """An order without a price whose trigger changes: its bound keeps its distance. Raises EngineError."""
        order = checked.order
        found = await self._engine.get_order(order.order_id)
        if not found.trigger_price:
            return _refused(order.order_id, RefusalCode.NOT_OPEN, f"order {order.order_id} waits no more", order)
        bound = checked.candidate.scaled_trigger + found.trigger_limit - found.trigger_price
        if bound <= 0:
            reason = "stopPrice is so low that the order could trade at any price"
            return _refused(order.order_id, RefusalCode.PRE_TRADE_CHECK, reason, order)
        return checked._replace(bound=bound)

    async def _entry_of(self, order: TrackedOrder) -> TrackedOrder | None:
        """The entry of the list that an exit is in; None for any other order."""
        if order.list_id is None or not order.is_in_a_list or order.list_role == ListRole.ENTRY:
            return None
        rows = await self._lookup.rows_of_list(order.user_id, order.list_id)
        return next((row for row in rows if row.list_role == ListRole.ENTRY), None)

    def _with_market_rules(
        self,
        order: TrackedOrder,
        entry: TrackedOrder | None,
        price: Decimal | None,
        quantity: Decimal | None,
        stop_price: Decimal | None,
    ) -> _Checked | AmendmentOutcome:
        """The pre-trade check of the order as it shall be, and of an exit as its entry's whole quantity will be."""
        whole = (entry or order).quantity if quantity is None else quantity
        draft = _draft_after(order, whole, price, stop_price)
        reference = self._reference_prices.reference(order.symbol, self._now_ms())
        candidate = Candidate(draft, self._markets, reference, has_complete_rules=True)
        if entry is not None and order.is_planned:
            expected = _draft_after(entry, entry.quantity, None, None)
            candidate.entry = Candidate(expected, self._markets, reference, has_complete_rules=True)
        # The limit of an order that follows the price may be another by now.
        keeps_its_price = price is None if draft.terms.is_trailing else draft.price == order.price
        steps = _KEEPING_ITS_PRICE if keeps_its_price else _WITH_ANOTHER_PRICE
        failure = first_failure(candidate, steps if stop_price is None else _WITH_ANOTHER_TRIGGER)
        if failure is not None:
            return _refused(order.order_id, RefusalCode.PRE_TRADE_CHECK, failure.reason, order)
        grows = quantity is not None and quantity > order.quantity
        # A planned exit is not placed yet, so the safe opening has nothing to say about it.
        if not order.is_planned and (grows or not keeps_its_price):
            reason = self._opening.refusal(
                order.symbol, is_buy=draft.is_buy, price=draft.price, reference=reference.price
            )
            if reason:
                return _refused(order.order_id, RefusalCode.PRE_TRADE_CHECK, reason, order)
        return _Checked(order, candidate)

    async def _sent(self, request: AmendOrders, checked: list[_Checked]) -> Iterator[AmendmentOutcome]:
        """The outcomes of what is sent to the engine in one call."""

        def refused(code: RefusalCode, message: str) -> Iterator[AmendmentOutcome]:
            return iter([_refused(entry.order.order_id, code, message, entry.order) for entry in checked])

        if not checked:
            return iter(())
        if request.deadline is not None and self._now_ms() > request.deadline:
            return refused(RefusalCode.TOO_LATE, TOO_LATE)
        given = {amendment.order_id: amendment for amendment in request.orders}
        began = tracing.begin()
        try:
            responses = await self._engine.amend_orders(
                [_request_of(entry, given[entry.order.order_id]) for entry in checked]
            )
        except EngineAmbiguousError as error:
            reason = f"the matching engine did not answer, the order may or may not be amended: {error}"
            return refused(RefusalCode.STATUS_UNKNOWN, reason)
        except EngineError as error:
            return refused(RefusalCode.UNAVAILABLE, str(error))
        finally:
            for entry in checked:
                key = str(request.deadline)
                tracing.end(entry.order.order_id, tracing.Step.AMEND_CALL, began, key=key, orders=len(checked))
        pairs = zip(checked, responses, strict=True)
        return iter(await asyncio.gather(*(self._outcome(entry, response) for entry, response in pairs)))

    async def _outcome(self, checked: _Checked, response: orders_pb2.AmendOrderResponse) -> AmendmentOutcome:
        order = checked.order
        if response.status == orders_pb2.REJECTED:
            return await self._not_amended(order, response.result_code)
        order = await self._after(checked, response)
        recent = self._recent_orders.get(order.order_id)
        if recent is not None and recent.order.last_sequence < order.last_sequence:
            recent.order = order
        return AmendmentOutcome(order.order_id, True, record_of(order))

    async def _after(self, checked: _Checked, response: orders_pb2.AmendOrderResponse) -> TrackedOrder:
        """The order after its amendment.

        It may have been filled by it, or before it and after the look-up, which may also have found an old state.
        """
        order, spec = checked.order, checked.candidate.market.spec
        quantity, remaining = quantity_of(response.quantity, spec), quantity_of(response.remaining_quantity, spec)
        amended = msgspec.structs.replace(
            order,
            price=None if order.price is None else Decimal(scaled_to_text(response.price, spec.quote_scale_k)),
            quantity=quantity,
            remaining_quantity=remaining,
            stop_price=(
                price_of(response.trigger_price, spec)
                if response.trigger_price and order.stop_price is not None
                else order.stop_price
            ),
            last_sequence=max(response.sequence, order.last_sequence),
            updated_ms=max(response.timestamp, order.updated_ms),
        )
        gone = EXACT.subtract(order.quantity, order.remaining_quantity)
        if remaining and EXACT.subtract(quantity, remaining) == gone:
            # No fill came after the look-up.
            return amended

        def has_it(row: TrackedOrder) -> bool:
            if response.sequence:
                return row.last_sequence >= response.sequence
            shown = (row.price, row.quantity, row.remaining_quantity, row.stop_price)
            return shown == (amended.price, quantity, remaining, amended.stop_price)

        row = await self._lookup.awaited_row(order.order_id, has_it)
        if row is None:
            log.warning("amended order shown without its last fills", order_id=order.order_id)
        return row or amended

    async def _not_amended(self, order: TrackedOrder, reason: str) -> AmendmentOutcome:
        """The outcome if the engine refused. Often the order ended while the amendment was on its way."""
        if reason == ResultCode.AUTH_INVALID_USER.name:
            return _not_found(order.order_id)
        if reason == ResultCode.ORDER_IN_LIST.name:
            return _in_a_list(order)
        if reason != ResultCode.MATCHING_UNKNOWN_ORDER_ID.name:
            return _refused(order.order_id, RefusalCode.ENGINE, reason, order)
        try:
            ended = await self._lookup.ended(order)
        except EngineError as error:
            return _refused(order.order_id, RefusalCode.UNAVAILABLE, str(error), order)
        if ended is not None:
            return _already_ended(ended)
        message = f"order {order.order_id} is not open in the matching engine"
        return _refused(order.order_id, RefusalCode.NOT_OPEN, message, order)

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def _trigger_fault(order: TrackedOrder, stop_price: Decimal) -> str | None:
    """Why an order cannot get another trigger."""
    if not order.is_waiting or order.trailing_amount is not None or order.trailing_bps is not None:
        return "stopPrice can be changed only while a stop or take profit order waits for it"
    return None if stop_price > 0 else "stopPrice must be positive"


def _draft_after(
    order: TrackedOrder, quantity: Decimal, price: Decimal | None, stop_price: Decimal | None
) -> OrderDraft:
    """The order once it is amended, as one that is placed."""
    return OrderDraft(
        user_id=order.user_id,
        order_id=order.order_id,
        symbol=order.symbol,
        side=OrderSide(order.side),
        type=OrderType(order.type) if order.is_waiting else OrderType.LIMIT,
        time_in_force=TimeInForce(order.time_in_force),
        quantity=quantity,
        quote_quantity=None,
        price=order.price if price is None else price,
        max_slippage_bps=None,
        margin_mode=order.margin_mode,
        client_order_id=order.client_order_id,
        terms=_terms_after(order, quantity, stop_price),
    )


def _terms_after(order: TrackedOrder, quantity: Decimal, stop_price: Decimal | None) -> OrderTerms:
    """The terms of the order once it is amended. One that got so small that it shows all of it is no fault."""
    terms = terms_of(order)
    if stop_price is not None:
        terms = replace(terms, stop_price=stop_price)
    if terms.display_quantity is not None and terms.display_quantity >= quantity:
        terms = replace(terms, display_quantity=None)
    return terms


def _request_of(checked: _Checked, amendment: OrderAmendment) -> orders_pb2.AmendOrderRequest:
    """The engine leaves what is not given as it is, whatever it may be by then."""
    order, candidate = checked.order, checked.candidate
    return orders_pb2.AmendOrderRequest(
        order_id=order.engine_order_id or 0,
        participant_id=order.user_id,
        symbol=order.symbol,
        price=checked.bound if amendment.price is None else candidate.scaled_price,
        quantity=0 if amendment.quantity is None else candidate.scaled_quantity,
        trigger_price=0 if amendment.stop_price is None else candidate.scaled_trigger,
    )


def _refused(order_id: str, code: RefusalCode, message: str, order: TrackedOrder | None = None) -> AmendmentOutcome:
    return AmendmentOutcome.refused(order_id, Refusal(code, message), None if order is None else record_of(order))


def _not_found(order_id: str) -> AmendmentOutcome:
    return _refused(order_id, RefusalCode.NOT_FOUND, f"order {order_id} not found")


def _in_a_list(order: TrackedOrder) -> AmendmentOutcome:
    message = (
        f"order {order.order_id} is one of a list, whose orders have one quantity, which is not changed: "
        "cancel the list and place another"
    )
    return _refused(order.order_id, RefusalCode.ORDER_IN_LIST, message, order)


def _already_ended(order: TrackedOrder) -> AmendmentOutcome:
    return _refused(order.order_id, RefusalCode.ALREADY_ENDED, f"order is already {order.status}", order)
