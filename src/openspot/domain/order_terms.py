"""The terms of an order under the complete rules: its trigger, its expiry, its own mode of self-trade prevention.

Pure rules. A stop fires when the price gets worse for who holds the position: a buy at or above, a sell at or below. A
take profit is the reverse. A trailing stop is a stop whose trigger follows the best price at a distance.
"""

from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import BASIS_POINTS, EXACT, decimal_to_text
from openspot.domain.order import (
    MARKET_TYPES,
    TAKE_PROFIT_TYPES,
    TRAILING_TYPES,
    TRIGGER_TYPES,
    OrderType,
    SelfTradePrevention,
    TimeInForce,
    TriggerSource,
)

EXPIRY_MS_MAX = 16_725_225_600_000
"""Orders expire before this time, the beginning of the year 2500, in milliseconds since 1970."""
DISPLAY_PARTS_MAX = 100
"""In how many parts an order shows its quantity at most, as the engine has it."""
_BASIS_POINT = EXACT.divide(Decimal(1), Decimal(BASIS_POINTS))


@dataclass(frozen=True, slots=True)
class OrderTerms:
    """What an order asks for beyond price and quantity.

    Prices are in the quote asset, `expires_ms` in milliseconds since 1970. `display_quantity` is what a limit order
    shows at a time while it rests, in the base asset. The router and the edge check the same.
    """

    stop_price: Decimal | None = None
    trigger_by: TriggerSource | None = None
    trailing_amount: Decimal | None = None
    trailing_bps: int | None = None
    expires_ms: int | None = None
    self_trade_prevention: SelfTradePrevention | None = None
    display_quantity: Decimal | None = None

    @property
    def prevention_text(self) -> str | None:
        """The mode of self-trade prevention as rows and records name it."""
        return None if self.self_trade_prevention is None else self.self_trade_prevention.value

    @property
    def is_trailing(self) -> bool:
        """Whether the trigger follows the price."""
        return self.trailing_amount is not None or self.trailing_bps is not None

    @property
    def is_empty(self) -> bool:
        """Whether the order asks for nothing."""
        return self is NO_TERMS or self == NO_TERMS


NO_TERMS = OrderTerms()


def is_trigger_at_or_above(order_type: OrderType, *, is_buy: bool) -> bool:
    """Whether the trigger fires when the price rises to it."""
    return is_buy is not (order_type in TAKE_PROFIT_TYPES)


def terms_fault(terms: OrderTerms, order_type: OrderType, time_in_force: TimeInForce, now_ms: int) -> str | None:
    """What is missing in the terms of an order of this type, or does not belong to it, with the field's name."""
    is_trailing, has_trigger = order_type in TRAILING_TYPES, order_type in TRIGGER_TYPES
    if has_trigger and not is_trailing:
        if terms.stop_price is None:
            return f"stopPrice is required for a {order_type} order"
        if terms.stop_price <= 0:
            return "stopPrice must be positive"
    elif terms.stop_price is not None:
        return f"stopPrice must not be given for a {order_type} order"
    if not has_trigger and terms.trigger_by is not None:
        return f"triggerBy must not be given for a {order_type} order"
    fault = _trailing_fault(terms, order_type) if is_trailing else _no_trailing_fault(terms, order_type)
    if fault is not None:
        return fault
    if terms.display_quantity is not None:
        if order_type is not OrderType.LIMIT:
            return f"displayQuantity must not be given for a {order_type} order"
        if time_in_force not in (TimeInForce.GTC, TimeInForce.GTD):
            return f"displayQuantity does not go with timeInForce {time_in_force}"
        if terms.display_quantity <= 0:
            return "displayQuantity must be positive"
    if time_in_force is not TimeInForce.GTD:
        return None if terms.expires_ms is None else "expiresAt is only for orders with timeInForce gtd"
    if order_type in MARKET_TYPES:
        return f"timeInForce gtd is not for a {order_type} order"
    if terms.expires_ms is None:
        return "expiresAt is required for timeInForce gtd"
    if terms.expires_ms <= now_ms:
        return "expiresAt must be in the future"
    return None if terms.expires_ms < EXPIRY_MS_MAX else "expiresAt must be before the year 2500"


def display_fault(terms: OrderTerms, quantity: Decimal) -> str | None:
    """What is wrong with the quantity that an order of this `quantity` shows, with the field's name."""
    shown = terms.display_quantity
    if shown is None:
        return None
    if shown >= quantity:
        return f"displayQuantity must be below the quantity {decimal_to_text(quantity)}"
    if EXACT.multiply(shown, Decimal(DISPLAY_PARTS_MAX)) < quantity:
        return f"displayQuantity must be at least a {DISPLAY_PARTS_MAX}th of the quantity {decimal_to_text(quantity)}"
    return None


def _trailing_fault(terms: OrderTerms, order_type: OrderType) -> str | None:
    if (terms.trailing_amount is None) is (terms.trailing_bps is None):
        return f"trailingAmount or trailingBps is required for a {order_type} order: give one of them"
    if terms.trailing_amount is not None and terms.trailing_amount <= 0:
        return "trailingAmount must be positive"
    return None


def _no_trailing_fault(terms: OrderTerms, order_type: OrderType) -> str | None:
    for name, value in (("trailingAmount", terms.trailing_amount), ("trailingBps", terms.trailing_bps)):
        if value is not None:
            return f"{name} must not be given for a {order_type} order"
    return None


def first_trigger_price(terms: OrderTerms, *, is_buy: bool, reference: Decimal | None) -> Decimal | None:
    """The price at which the trigger fires as of now; None if that needs a `reference` and there is none.

    That of a trailing trigger is about right: the engine reckons it from the price that it knows.
    """
    if terms.stop_price is not None:
        return terms.stop_price
    if reference is None:
        return None
    distance = terms.trailing_amount
    if distance is None:
        distance = EXACT.multiply(EXACT.multiply(reference, Decimal(terms.trailing_bps or 0)), _BASIS_POINT)
    price = EXACT.add(reference, distance) if is_buy else EXACT.subtract(reference, distance)
    return price if price > 0 else None
