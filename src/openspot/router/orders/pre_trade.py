"""The pre-trade check: seven steps, in the order of facts A1.3-05 to A1.3-18, and those of the complete rules.

STEPS has them in order. A step returns the reason for a refusal, or None; the first reason ends the check. A step may
store values on the candidate for later steps. The balance step is last, because only it needs data from outside. The
caller fetches that before the step.

A price or quantity with more digits than the symbol allows is refused, never cut. Where the engine decides, no step is
stricter than the engine. For example, the funds that an order needs do not include fees.

An order with a trigger matches when the price has come to its trigger. So its limit, its slippage and its notional are
compared with the trigger's price instead of the present one, and how far that is away is the user's own affair
(docs/adr/0058-a-stop-is-compared-with-its-trigger.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.market import MarketLimits
from openspot.domain.money import BASIS_POINTS, EXACT, MoneyError, decimal_to_text, scaled_to_text, to_scaled
from openspot.domain.order import OrderType, TimeInForce
from openspot.domain.order_terms import display_fault, first_trigger_price, terms_fault
from openspot.domain.symbol import SymbolSpec
from openspot.router.orders.draft import OrderDraft

_WORDS = {PriceReference.LAST_TRADE: "last trade price", PriceReference.FAIR_PRICE: "fair price"}


class PreTradeCheck(StrEnum):
    """The names of the steps, as `risk.check.failed` has them. OPENING comes before all others, if it is set."""

    OPENING = "opening"
    STOP_ORDER = "stop_order"
    TERMS = "terms"
    POST_ONLY = "post_only"
    MARKET = "market"
    TRIGGER = "trigger"
    QUANTITY = "quantity"
    NOTIONAL = "notional"
    DEVIATION = "deviation"
    SLIPPAGE = "slippage"
    BALANCE = "balance"


class PreTradeFailure(NamedTuple):
    """The step that refused an order, and the reason as the client sees it."""

    check: PreTradeCheck
    reason: str


class Reference(NamedTuple):
    """What an order's price is compared with; `price` is None if there is nothing to compare it with.

    `deviation_bps_max` takes the place of the market's own limit; None leaves that in force.
    """

    price: Decimal | None
    kind: PriceReference = PriceReference.LAST_TRADE
    deviation_bps_max: int | None = None


NO_REFERENCE = Reference(None)


@dataclass(frozen=True, slots=True)
class MarketRules:
    """A market that can be traded: the platform's limits and the engine's specification."""

    limits: MarketLimits
    spec: SymbolSpec


@dataclass(slots=True)
class Candidate:
    """An order on its way through the check.

    The caller sets the draft, the markets, what the symbol's prices are compared with, whether the complete rules of
    orders apply, and the time in milliseconds since 1970. The steps set the market, the base quantity, and the worst
    price at which the order can trade (a limit order's price, a market order's bound). `available` is the user's
    balance of the asset that the order spends; None if it is not known. `entry` is that of an exit in a list.
    """

    draft: OrderDraft
    markets: Mapping[str, MarketRules]
    reference: Reference = NO_REFERENCE
    found_market: MarketRules | None = None
    found_quantity: Decimal | None = None
    found_price: Decimal | None = None
    available: Decimal | None = None
    has_complete_rules: bool = False
    now_ms: int = 0
    entry: "Candidate | None" = None

    @property
    def is_sized(self) -> bool:
        """Whether the engine finds the quantity, as much as the quantity in quote pays for or brings."""
        return self.has_complete_rules and self.draft.quote_quantity is not None

    @property
    def reference_price(self) -> Decimal | None:
        """What the order's price is compared with: that of its trigger, or of its entry's, if there is one."""
        draft, price = self.draft, self.reference.price
        if draft.has_trigger:
            return first_trigger_price(draft.terms, is_buy=draft.is_buy, reference=price)
        return price if self._waiting_entry is None else self._waiting_entry.reference_price

    @property
    def reference_name(self) -> str:
        """What `reference_price` is, in words."""
        if self.draft.has_trigger:
            return "price of its trigger"
        return _WORDS[self.reference.kind] if self._waiting_entry is None else "price of its entry's trigger"

    @property
    def _waiting_entry(self) -> "Candidate | None":
        return self.entry if self.entry is not None and self.entry.draft.has_trigger else None

    @property
    def market(self) -> MarketRules:
        assert self.found_market is not None, "the market step comes first"
        return self.found_market

    @property
    def quantity(self) -> Decimal:
        assert self.found_quantity is not None, "the quantity or slippage step comes first"
        return self.found_quantity

    @property
    def price(self) -> Decimal:
        assert self.found_price is not None, "the notional or slippage step comes first"
        return self.found_price

    @property
    def funding_asset(self) -> str:
        """The asset that the order spends: the quote asset for a buy, the base asset for a sell."""
        return self.market.spec.quote if self.draft.is_buy else self.market.spec.base

    @property
    def funds_needed(self) -> Decimal:
        """The largest amount of the funding asset that the order can spend, without fees.

        Of a sell whose quantity the engine finds it is the least: it sells no more than there is.
        """
        if self.is_sized:
            quote_quantity = self.draft.quote_quantity or Decimal(0)
            return quote_quantity if self.draft.is_buy else self.market.limits.quantity_min
        return EXACT.multiply(self.price, self.quantity) if self.draft.is_buy else self.quantity

    @property
    def scaled_quantity(self) -> int:
        """The quantity in the engine's units. If the engine finds the quantity, the market's largest, in whole lots."""
        spec = self.market.spec
        if not self.is_sized:
            return to_scaled(self.quantity, spec.base_scale_k)
        lots, _ = _divide_whole(
            EXACT.multiply(self.market.limits.quantity_max, Decimal(spec.base_scale_k)), Decimal(spec.lot)
        )
        return lots * spec.lot

    @property
    def scaled_trigger(self) -> int:
        """The stop price or the trailing amount in the engine's units; 0 without either."""
        terms = self.draft.terms
        value = terms.trailing_amount if terms.stop_price is None else terms.stop_price
        return 0 if value is None else to_scaled(value, self.market.spec.quote_scale_k)

    @property
    def scaled_display(self) -> int:
        """The quantity that the order shows, in the engine's units; 0 for all."""
        shown = self.draft.terms.display_quantity
        return 0 if shown is None else to_scaled(shown, self.market.spec.base_scale_k)

    @property
    def scaled_price(self) -> int:
        """The worst price in the engine's units."""
        return to_scaled(self.price, self.market.spec.quote_scale_k)


Step = Callable[[Candidate], str | None]


def _refuse_stop_order(candidate: Candidate) -> str | None:
    is_refused = candidate.draft.has_trigger and not candidate.has_complete_rules
    return "Stop orders are not yet supported" if is_refused else None


def _check_terms(candidate: Candidate) -> str | None:
    draft = candidate.draft
    if candidate.has_complete_rules:
        return terms_fault(draft.terms, draft.type, draft.time_in_force, candidate.now_ms)
    terms = draft.terms
    # A stop price beside another type was always ignored here.
    if draft.time_in_force is TimeInForce.GTD or not (terms.is_empty or replace(terms, stop_price=None).is_empty):
        return "triggers, timeInForce gtd and selfTradePrevention are not available under the rules of this platform"
    return None


def _refuse_post_only(candidate: Candidate) -> str | None:
    draft = candidate.draft
    if draft.post_only is None:
        return None
    if not candidate.has_complete_rules:
        return "postOnly is not available under the rules of this platform"
    if draft.type is not OrderType.LIMIT:
        return "postOnly is for limit orders only"
    if draft.time_in_force not in (TimeInForce.GTC, TimeInForce.GTD):
        return f"postOnly does not go with timeInForce {draft.time_in_force}"
    return None


def _look_up_market(candidate: Candidate) -> str | None:
    candidate.found_market = candidate.markets.get(candidate.draft.symbol)
    return None if candidate.found_market else f"Market {candidate.draft.symbol} not found"


def _check_trigger(candidate: Candidate) -> str | None:
    terms, spec = candidate.draft.terms, candidate.market.spec
    for field, value in (("stopPrice", terms.stop_price), ("trailingAmount", terms.trailing_amount)):
        if value is not None and candidate.draft.has_trigger:
            fault = _step_error(field, value, spec.quote_scale_k, spec.tick, "tick")
            if fault is not None:
                return fault
    followed = candidate.reference.price
    if followed is not None and candidate.reference_price is None:
        return f"trailingAmount {_text(terms.trailing_amount or followed)} is not below the price {_text(followed)}"
    return None


def _check_quantity(candidate: Candidate) -> str | None:
    draft, spec, limits = candidate.draft, candidate.market.spec, candidate.market.limits
    if draft.quote_quantity is not None:
        if draft.type is not OrderType.MARKET or not (draft.is_buy or candidate.has_complete_rules):
            return f"quoteQuantity is for market {'orders' if candidate.has_complete_rules else 'buys'} only"
        if candidate.has_complete_rules and draft.time_in_force is TimeInForce.FOK:
            return "quoteQuantity does not go with timeInForce fok"
        if draft.quantity is not None:
            return "quantity and quoteQuantity exclude each other"
        if draft.quote_quantity <= 0:
            return f"quoteQuantity {_text(draft.quote_quantity)} must be positive"
        if candidate.reference_price is None:
            # Without a price there is no quantity to check. The slippage step will refuse the order.
            return None
        quantity = _affordable_quantity(draft.quote_quantity, _bound_price(candidate, candidate.reference_price), spec)
    elif draft.quantity is None:
        return "quantity is required"
    else:
        quantity = draft.quantity
    candidate.found_quantity = quantity
    if quantity < limits.quantity_min:
        return f"quantity {_text(quantity)} is below the minimum of {_text(limits.quantity_min)} on {spec.symbol}"
    if quantity > limits.quantity_max:
        return f"quantity {_text(quantity)} is above the maximum of {_text(limits.quantity_max)} on {spec.symbol}"
    return _step_error("quantity", quantity, spec.base_scale_k, spec.lot, "lot") or _display_error(candidate, quantity)


def _display_error(candidate: Candidate, quantity: Decimal) -> str | None:
    terms, spec = candidate.draft.terms, candidate.market.spec
    if terms.display_quantity is None:
        return None
    step = _step_error("displayQuantity", terms.display_quantity, spec.base_scale_k, spec.lot, "lot")
    return step or display_fault(terms, quantity)


def _check_notional(candidate: Candidate) -> str | None:
    draft, spec, limits = candidate.draft, candidate.market.spec, candidate.market.limits
    if draft.is_market:
        notional = draft.quote_quantity
        if notional is None:
            if candidate.reference_price is None:
                # The slippage step will refuse the order.
                return None
            notional = EXACT.multiply(candidate.reference_price, candidate.quantity)
    else:
        if draft.price is None:
            return "price is required for a limit order"
        if draft.price <= 0:
            return f"price {_text(draft.price)} must be positive"
        error = _step_error("price", draft.price, spec.quote_scale_k, spec.tick, "tick")
        if error:
            return error
        candidate.found_price = draft.price
        notional = EXACT.multiply(draft.price, candidate.quantity)
    if limits.notional_min <= notional <= limits.notional_max:
        return None
    shown = f"notional {_text(notional)} {spec.quote}"
    if notional < limits.notional_min:
        return f"{shown} is below the minimum of {_text(limits.notional_min)} on {spec.symbol}"
    return f"{shown} is above the maximum of {_text(limits.notional_max)} on {spec.symbol}"


def _check_deviation(candidate: Candidate) -> str | None:
    reference, bps_max = candidate.reference_price, candidate.reference.deviation_bps_max
    if candidate.draft.is_market or reference is None:
        return None
    if bps_max is None:
        bps_max = candidate.market.limits.deviation_bps_max
    distance = EXACT.abs(EXACT.subtract(candidate.price, reference))
    if EXACT.multiply(distance, Decimal(BASIS_POINTS)) <= EXACT.multiply(reference, Decimal(bps_max)):
        return None
    return (
        f"price {_text(candidate.price)} deviates from the {candidate.reference_name} {_text(reference)} "
        f"by more than {bps_max} bps on {candidate.market.spec.symbol}"
    )


def _check_slippage(candidate: Candidate) -> str | None:
    draft, spec, limits = candidate.draft, candidate.market.spec, candidate.market.limits
    if not draft.is_market:
        return None
    if candidate.reference_price is None:
        if candidate.reference.kind is PriceReference.FAIR_PRICE:
            return f"no fair price for {spec.symbol} yet: a market order needs one, a limit order does not"
        return f"no recent trade price for {spec.symbol}: a market order needs one"
    if draft.max_slippage_bps is not None and draft.max_slippage_bps > limits.slippage_bps_max:
        return (
            f"maxSlippageBps {_text(draft.max_slippage_bps)} is above the ceiling of "
            f"{limits.slippage_bps_max} on {spec.symbol}"
        )
    candidate.found_price = _bound_price(candidate, candidate.reference_price)
    notional = EXACT.multiply(candidate.price, candidate.quantity)
    if notional < limits.notional_min:
        return (
            f"notional {_text(notional)} {spec.quote} at the worst-case price {_text(candidate.price)} "
            f"is below the minimum of {_text(limits.notional_min)} on {spec.symbol}"
        )
    return None


def _check_balance(candidate: Candidate) -> str | None:
    if candidate.available is None or candidate.available >= candidate.funds_needed:
        return None
    return (
        f"insufficient {candidate.funding_asset} balance: the order needs {_text(candidate.funds_needed)}, "
        f"{_text(candidate.available)} is available"
    )


STEPS: tuple[tuple[PreTradeCheck, Step], ...] = (
    (PreTradeCheck.STOP_ORDER, _refuse_stop_order),
    (PreTradeCheck.TERMS, _check_terms),
    (PreTradeCheck.POST_ONLY, _refuse_post_only),
    (PreTradeCheck.MARKET, _look_up_market),
    (PreTradeCheck.TRIGGER, _check_trigger),
    (PreTradeCheck.QUANTITY, _check_quantity),
    (PreTradeCheck.NOTIONAL, _check_notional),
    (PreTradeCheck.DEVIATION, _check_deviation),
    (PreTradeCheck.SLIPPAGE, _check_slippage),
    (PreTradeCheck.BALANCE, _check_balance),
)
BEFORE_BALANCE = STEPS[:-1]
BALANCE_ONLY = STEPS[-1:]


def first_failure(candidate: Candidate, steps: Sequence[tuple[PreTradeCheck, Step]] = STEPS) -> PreTradeFailure | None:
    """The first of `steps` that refuses the candidate; None if all pass."""
    for check, step in steps:
        reason = step(candidate)
        if reason is not None:
            return PreTradeFailure(check, reason)
    return None


def _bound_price(candidate: Candidate, reference: Decimal) -> Decimal:
    """The worst price for a market order: the reference ± the slippage, rounded to a tick towards the reference."""
    spec, draft = candidate.market.spec, candidate.draft
    slippage = draft.max_slippage_bps
    if slippage is None:
        slippage = Decimal(candidate.market.limits.slippage_bps_max)
    move = EXACT.add if draft.is_buy else EXACT.subtract
    factor = move(Decimal(BASIS_POINTS), slippage)
    # In ticks: reference × quoteScaleK × factor / (10^4 × tick).
    dividend = EXACT.multiply(EXACT.multiply(reference, Decimal(spec.quote_scale_k)), factor)
    ticks, remainder = _divide_whole(dividend, Decimal(BASIS_POINTS * spec.tick))
    if remainder and not draft.is_buy:
        ticks += 1
    return Decimal(scaled_to_text(max(ticks, 1) * spec.tick, spec.quote_scale_k))


def _affordable_quantity(spend: Decimal, price: Decimal, spec: SymbolSpec) -> Decimal:
    """The largest quantity, in whole lots, that costs no more than `spend` at `price`."""
    lots, _ = _divide_whole(EXACT.multiply(spend, Decimal(spec.base_scale_k)), EXACT.multiply(price, Decimal(spec.lot)))
    return Decimal(scaled_to_text(lots * spec.lot, spec.base_scale_k))


def _divide_whole(dividend: Decimal, divisor: Decimal) -> tuple[int, Decimal]:
    """(whole quotient, remainder), exact for decimals of any length."""
    quotient, remainder = EXACT.divmod(dividend, divisor)
    return int(quotient), remainder


def _step_error(field: str, value: Decimal, scale: int, step: int, step_name: str) -> str | None:
    try:
        scaled = to_scaled(value, scale)
    except MoneyError as error:
        return f"{field} {_text(value)} {error}"
    if scaled % step:
        return f"{field} {_text(value)} is not a multiple of the {step_name} {scaled_to_text(step, scale)}"
    return None


def _text(value: Decimal) -> str:
    return decimal_to_text(value)
