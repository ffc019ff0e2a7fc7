"""What an operator may move alone, and which amounts there are. Pure; values are US cents."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import ROUND_CEILING, Context, Decimal

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.market import AssetScale, load_markets
from openspot.domain.money import MoneyError, amount_to_text, to_scaled
from openspot.domain.transfer import Movement

_WIDE = Context(prec=100, rounding=ROUND_CEILING)
CENTS = Decimal(100)
_SEED_ASSETS = frozenset(load_markets().assets)
WINDOW = timedelta(hours=24)
"""What an operator moves alone is summed over it."""


def counted_price(prices: Mapping[str, AssetPrice], asset: str) -> AssetPrice | None:
    """The price of an asset where a bound believes it, out of `prices`; None if there is none.

    Of a coin that an operator listed it must be confirmed by a venue or an operator: a few accounts make its book, and
    could hold the price down while somebody moves the coin (ADR 0129).
    """
    price = prices.get(asset)
    return price if price is not None and (price.is_confirmed or asset in _SEED_ASSETS) else None


def value_in_cents(amount: Decimal, price: AssetPrice | None) -> int | None:
    """The value of an amount of either sign, rounded up; None if no usable price is known.

    The higher of the fair price's upper bound and the day's median counts, so that a price of a moment makes no
    move look small.
    """
    if price is None or not price.state.is_usable:
        return None
    dollars = Decimal(amount_to_text(max(price.high, price.day_median)))
    value = _WIDE.multiply(_WIDE.multiply(abs(amount), dollars), CENTS)
    return int(value.to_integral_value(ROUND_CEILING))


def needs_second_person(value_cents: int | None, of_day_cents: int, bound_cents: int) -> bool:
    """Whether another person must approve: beyond the bound of 24 hours, or where nobody knows the value.

    `of_day_cents` is what the operator has moved alone within 24 hours, so that many small ones are no way around
    the bound. The bound itself is still within it.
    """
    return value_cents is None or of_day_cents + value_cents > bound_cents


def dollars(cents: int | None) -> str | None:
    """US cents as dollars; None stays None."""
    return None if cents is None else f"{cents // 100}.{cents % 100:02d}"


def amount_faults(assets: Mapping[str, AssetScale], asset: str, field: str, amount: Decimal) -> list[str]:
    """What is wrong with an amount of either sign in `field`: an unknown asset, or too many places."""
    known = assets.get(asset)
    if known is None:
        return [f"asset must be one of {', '.join(sorted(assets))}"]
    try:
        to_scaled(abs(amount), 10**known.places)
    except MoneyError as error:
        return [f"{field} {error}"]
    return []


def given_or_taken(other: str, account: str, asset: str, amount: Decimal) -> Movement:
    """The movement that gives `account` an amount from `other`; below 0 it takes it there."""
    source, destination = (other, account) if amount > 0 else (account, other)
    return Movement(source, destination, asset, abs(amount))
