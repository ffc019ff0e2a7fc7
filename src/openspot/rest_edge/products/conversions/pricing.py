"""The price of a conversion (design section 8): rules without IO.

The user gives `from_amount`. A spread in basis points is taken from it; what is left is converted at the prices of the
order book, level by level, as a market order of that size would be. Every rounding is to the places of its asset and
in the house's favour: what the user receives is rounded down, what the user gives is rounded up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from openspot.domain.market import AssetScale, MarketLimits
from openspot.domain.money import AMOUNT_PLACES, AMOUNT_SCALE, BASIS_POINTS, to_amount


@dataclass(frozen=True, slots=True)
class Pair:
    """A conversion that the platform offers. It goes through one market, whose base the user sells or buys.

    Amounts are units of 18 places, `minimum` and `maximum` of what the user gives. `from_unit` and `to_unit` are the
    smallest amounts of the assets.
    """

    from_asset: str
    to_asset: str
    symbol: str
    sells_base: bool
    from_unit: int
    to_unit: int
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Amounts:
    """A priced conversion in units of 18 places; `spread` is the part of `given` that is not converted."""

    given: int
    received: int
    spread: int


@dataclass(frozen=True, slots=True)
class Step:
    """A level of the book as a conversion sees it: it takes up to `capacity` and gives `rate` for each unit."""

    capacity: Fraction
    rate: Fraction


class BookTooThinError(Exception):
    """The order book does not cover the whole amount."""


class AmountTooSmallError(Exception):
    """The amount is worth less than the smallest unit of the other asset."""


def pairs_of(limits: Mapping[str, MarketLimits], assets: Mapping[str, AssetScale]) -> dict[tuple[str, str], Pair]:
    """Both directions of every market, by (from, to).

    A sale of the base asset has the market's bounds of quantity, a purchase the bounds of notional.
    """
    pairs = {}
    for symbol, limit in limits.items():
        base, _, quote = symbol.partition("-")
        base_unit, quote_unit = unit_of(assets[base]), unit_of(assets[quote])
        sale = to_amount(limit.quantity_min), to_amount(limit.quantity_max)
        purchase = to_amount(limit.notional_min), to_amount(limit.notional_max)
        pairs[base, quote] = Pair(base, quote, symbol, True, base_unit, quote_unit, *sale)
        pairs[quote, base] = Pair(quote, base, symbol, False, quote_unit, base_unit, *purchase)
    return pairs


def unit_of(asset: AssetScale) -> int:
    """The smallest amount of an asset, in units of 18 places."""
    return int(10 ** (AMOUNT_PLACES - asset.places))


def steps_of(pair: Pair, bids: Iterable[tuple[str, str]], asks: Iterable[tuple[str, str]]) -> list[Step]:
    """The levels that a conversion meets, best first: the bids of a sale, the asks of a purchase."""
    if pair.sells_base:
        return [Step(Fraction(quantity), Fraction(price)) for price, quantity in bids]
    return [Step(Fraction(price) * Fraction(quantity), 1 / Fraction(price)) for price, quantity in asks]


def price_given(pair: Pair, steps: Sequence[Step], spread_bps: int, given: int) -> Amounts:
    """Price a conversion of exactly `given`. Raises BookTooThinError, AmountTooSmallError."""
    converted = _down(Fraction(given * (BASIS_POINTS - spread_bps), BASIS_POINTS), pair.from_unit)
    received = _down(_forward(steps, Fraction(converted, AMOUNT_SCALE)) * AMOUNT_SCALE, pair.to_unit)
    if received <= 0:
        raise AmountTooSmallError
    return Amounts(given, received, given - converted)


def price_received(pair: Pair, steps: Sequence[Step], spread_bps: int, received: int) -> Amounts:
    """Price a conversion into exactly `received`. Raises BookTooThinError."""
    converted = _up(_backward(steps, Fraction(received, AMOUNT_SCALE)) * AMOUNT_SCALE, pair.from_unit)
    given = _up(Fraction(converted * BASIS_POINTS, BASIS_POINTS - spread_bps), pair.from_unit)
    return Amounts(given, received, given - converted)


def _forward(steps: Sequence[Step], given: Fraction) -> Fraction:
    received = Fraction(0)
    for step in steps:
        taken = min(given, step.capacity)
        received += taken * step.rate
        given -= taken
        if not given:
            return received
    raise BookTooThinError


def _backward(steps: Sequence[Step], received: Fraction) -> Fraction:
    given = Fraction(0)
    for step in steps:
        taken = min(received, step.capacity * step.rate)
        given += taken / step.rate
        received -= taken
        if not received:
            return given
    raise BookTooThinError


def _down(value: Fraction, unit: int) -> int:
    return int(value // unit) * unit


def _up(value: Fraction, unit: int) -> int:
    return -int(-value // unit) * unit
