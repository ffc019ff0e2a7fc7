"""The average price of an order's fills."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from openspot.domain.money import AMOUNT_PLACES

_PLACE = Decimal(1).scaleb(-AMOUNT_PLACES)
_WIDE = Context(prec=60, rounding=ROUND_HALF_EVEN)


def average_price(notional: Decimal, quantity: Decimal) -> Decimal | None:
    """Filled notional ÷ filled quantity, rounded half-even at 18 places; None if nothing is filled. Only shown."""
    return _WIDE.divide(notional, quantity).quantize(_PLACE, context=_WIDE) if quantity else None
