"""What an operator may adjust alone. Pure; values are US cents."""

from decimal import ROUND_CEILING, Context, Decimal
from enum import StrEnum

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.money import amount_to_text

_WIDE = Context(prec=100, rounding=ROUND_CEILING)
CENTS = Decimal(100)


class Category(StrEnum):
    """Why money is given or taken. A report sums adjustments by category."""

    CORRECTION = "correction"
    """Something was posted wrongly."""
    GOODWILL = "goodwill"
    REFUND = "refund"
    """What the user paid comes back."""
    CHARGEBACK = "chargeback"
    """A payment that was credited was taken back by its provider."""
    PROMOTION = "promotion"


def value_in_cents(amount: Decimal, price: AssetPrice | None) -> int | None:
    """The value of an amount of either sign, rounded up; None if no usable price is known.

    The higher of the fair price's upper bound and the day's median counts, so that a price of a moment makes no
    adjustment look small.
    """
    if price is None or not price.state.is_usable:
        return None
    dollars = Decimal(amount_to_text(max(price.high, price.day_median)))
    value = _WIDE.multiply(_WIDE.multiply(abs(amount), dollars), CENTS)
    return int(value.to_integral_value(ROUND_CEILING))


def needs_second_person(value_cents: int | None, of_day_cents: int, bound_cents: int) -> bool:
    """Whether another person must approve: beyond the bound of 24 hours, or where nobody knows the value.

    `of_day_cents` is what the operator has adjusted alone within 24 hours, so that many small ones are no way around
    the bound. The bound itself is still within it.
    """
    return value_cents is None or of_day_cents + value_cents > bound_cents
