"""The value of a withdrawal in US cents. Pure.

A value is rounded up to the next cent, so that rounding never lets a withdrawal through that a limit forbids.
"""

from decimal import ROUND_CEILING, Context, Decimal

_WIDE = Context(prec=100, rounding=ROUND_CEILING)


def value_in_cents(amount: Decimal, price: Decimal) -> int:
    """The value of `amount` at `price` (US dollars for one unit), in cents, rounded up. Both must be positive."""
    return int(_WIDE.multiply(_WIDE.multiply(amount, price), Decimal(100)).to_integral_value(ROUND_CEILING))
