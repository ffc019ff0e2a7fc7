"""The value of a withdrawal in US cents. Pure.

A value is rounded up to the next cent, so that rounding never lets a withdrawal through that a limit forbids.
"""

from decimal import ROUND_CEILING, Context, Decimal

_WIDE = Context(prec=100, rounding=ROUND_CEILING)
_PRICE_PLACE = Decimal(1).scaleb(-18)


def value_in_cents(amount: Decimal, price: Decimal) -> int:
    """The value of `amount` at `price` (US dollars for one unit), in cents, rounded up. Both must be positive."""
    return int(_WIDE.multiply(_WIDE.multiply(amount, price), Decimal(100)).to_integral_value(ROUND_CEILING))


def cross_price(in_dollars: Decimal, in_quote: Decimal) -> Decimal:
    """The price of a quote currency in US dollars, from one asset's price in both, rounded up to 18 places."""
    return _WIDE.divide(in_dollars, in_quote).quantize(_PRICE_PLACE, context=_WIDE)
