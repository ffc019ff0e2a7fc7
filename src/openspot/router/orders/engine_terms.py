"""The terms of an order on their way to the engine and into rows: its trigger, expiry and self-trade prevention."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.domain.money import decimal_to_text
from openspot.domain.order import SelfTradePrevention, TriggerSource
from openspot.domain.order_terms import OrderTerms, is_trigger_at_or_above
from openspot.router.orders.draft import OrderDraft
from openspot.router.tracked_order import TrackedOrder

_SOURCES = {TriggerSource.LAST: orders_pb2.TRIGGER_LAST_TRADE, TriggerSource.MARK: orders_pb2.TRIGGER_MARK_PRICE}
_SELF_TRADE_PREVENTION = {
    None: orders_pb2.SELF_TRADE_PREVENTION_UNSPECIFIED,
    SelfTradePrevention.NONE: orders_pb2.SELF_TRADE_PREVENTION_NONE,
    SelfTradePrevention.CANCEL_RESTING: orders_pb2.SELF_TRADE_PREVENTION_CANCEL_RESTING,
    SelfTradePrevention.CANCEL_INCOMING: orders_pb2.SELF_TRADE_PREVENTION_CANCEL_INCOMING,
    SelfTradePrevention.CANCEL_BOTH: orders_pb2.SELF_TRADE_PREVENTION_CANCEL_BOTH,
    SelfTradePrevention.DECREMENT_AND_CANCEL: orders_pb2.SELF_TRADE_PREVENTION_DECREMENT_AND_CANCEL,
}


def add_terms(
    request: orders_pb2.PlaceOrderRequest, draft: OrderDraft, scaled_trigger: int, scaled_display: int
) -> None:
    """Put the draft's terms into a request.

    `scaled_trigger` is the stop price or the trailing amount, `scaled_display` the displayed quantity, both in the
    engine's units.
    """
    terms = draft.terms
    request.expires_at_ms = terms.expires_ms or 0
    request.self_trade_prevention = _SELF_TRADE_PREVENTION[terms.self_trade_prevention]
    request.display_quantity = scaled_display
    if not draft.has_trigger:
        return
    request.trigger_source = _SOURCES[terms.trigger_by or TriggerSource.LAST]
    request.has_limit = not draft.is_market
    is_above = is_trigger_at_or_above(draft.type, is_buy=draft.is_buy)
    request.trigger_direction = orders_pb2.TRIGGER_AT_OR_ABOVE if is_above else orders_pb2.TRIGGER_AT_OR_BELOW
    if terms.trailing_bps is not None:
        request.trigger, request.trigger_value = orders_pb2.TRIGGER_TRAILING_BASIS_POINTS, terms.trailing_bps
        return
    is_distance = terms.trailing_amount is not None
    request.trigger = orders_pb2.TRIGGER_TRAILING_DISTANCE if is_distance else orders_pb2.TRIGGER_FIXED
    request.trigger_value = scaled_trigger


def tracked_terms(draft: OrderDraft) -> dict[str, Any]:
    """The fields of a TrackedOrder that come from the draft's terms."""
    terms = draft.terms
    return {
        "stop_price": terms.stop_price,
        "trigger_by": _trigger_by(draft),
        "trailing_amount": terms.trailing_amount,
        "trailing_bps": terms.trailing_bps,
        "expires_ms": terms.expires_ms,
        "self_trade_prevention": terms.prevention_text,
        "display_quantity": terms.display_quantity,
        "max_slippage_bps": _kept_slippage(draft),
    }


def terms_of(order: TrackedOrder) -> OrderTerms:
    """The terms that an order still has: without its trigger, if that has fired."""
    prevention = order.self_trade_prevention
    terms = OrderTerms(
        expires_ms=order.expires_ms,
        self_trade_prevention=None if prevention is None else SelfTradePrevention(prevention),
        display_quantity=order.display_quantity,
    )
    if not order.is_waiting:
        return terms
    return replace(
        terms,
        stop_price=order.stop_price,
        trigger_by=None if order.trigger_by is None else TriggerSource(order.trigger_by),
        trailing_amount=order.trailing_amount,
        trailing_bps=order.trailing_bps,
    )


def kept_terms(draft: OrderDraft) -> dict[str, Any]:
    """The fields of an OrderMetadata that come from the draft's terms."""
    terms, slippage = draft.terms, _kept_slippage(draft)
    return {
        "stop_price": None if terms.stop_price is None else decimal_to_text(terms.stop_price),
        "trigger_by": _trigger_by(draft),
        "trailing_amount": None if terms.trailing_amount is None else decimal_to_text(terms.trailing_amount),
        "trailing_bps": terms.trailing_bps,
        "expires_at_ms": terms.expires_ms,
        "self_trade_prevention": terms.prevention_text,
        "display_quantity": None if terms.display_quantity is None else decimal_to_text(terms.display_quantity),
        "max_slippage_bps": None if slippage is None else decimal_to_text(slippage),
    }


def _kept_slippage(draft: OrderDraft) -> Decimal | None:
    """What the order may slip when it fires. One without a trigger has matched by then, and needs it no more."""
    return draft.max_slippage_bps if draft.has_trigger and draft.is_market else None


def _trigger_by(draft: OrderDraft) -> str | None:
    return (draft.terms.trigger_by or TriggerSource.LAST).value if draft.has_trigger else None
