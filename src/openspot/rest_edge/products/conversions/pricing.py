"""The price of a conversion: rules without IO.

The user pays the source amount. A spread in basis points is taken from it. The rest is converted at the prices of the
order book, level by level, as in a market order of that size. Every amount is rounded to the places of its asset, in
favour of the house: the destination amount down, the source amount up.

Nobody makes that price. The caller's own orders do not count, nor does depth that has not stood for some seconds
(`standing`), and no level is better for the user than the fair price's bound.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.market import MarketConfiguration
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS, to_amount
from openspot.domain.offers import NOTHING, Offer, smallest_unit


@dataclass(frozen=True, slots=True)
class Pair:
    """A conversion that the platform offers. It goes through one market, whose base the user sells or buys.

    Amounts are units of 18 places. `minimum` and `maximum` are bounds of the source amount. `source_unit` and
    `destination_unit` are the smallest amounts of the two assets. With `needs_confirmed`, the house deals only at a
    fair price that a venue or the operator confirms.
    """

    source_asset: str
    destination_asset: str
    symbol: str
    sells_base: bool
    source_unit: int
    destination_unit: int
    minimum: int
    maximum: int
    needs_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Amounts:
    """A priced conversion in units of 18 places. `spread` is the part of `source` that is not converted."""

    source: int
    destination: int
    spread: int


@dataclass(frozen=True, slots=True)
class Step:
    """A level of the book for a conversion: it takes up to `capacity`, and pays `rate` for each unit."""

    capacity: Fraction
    rate: Fraction


class BookTooThinError(Exception):
    """The order book does not cover the whole amount."""


class AmountTooSmallError(Exception):
    """The amount is worth less than the smallest unit of the other asset."""


def pairs_of(configuration: MarketConfiguration) -> dict[tuple[str, str], Pair]:
    """Both directions of every market that offers conversions, by (source asset, destination asset).

    A sale of the base asset has the market's bounds of quantity, a purchase the bounds of notional. Whoever trades on a
    market that was listed later may be the only one there, and makes its price: it needs to be confirmed.
    """
    own = {seed.symbol for seed in configuration.seeds}
    assets = configuration.assets
    pairs = {}
    for symbol, limit in configuration.limits.items():
        base, _, quote = symbol.partition("-")
        is_offered = Offer.CONVERSIONS in configuration.offers.get(symbol, NOTHING).names
        if not is_offered or base not in assets or quote not in assets:
            continue
        base_unit, quote_unit = smallest_unit(assets[base].places), smallest_unit(assets[quote].places)
        confirmed = symbol not in own
        sale = to_amount(limit.quantity_min), to_amount(limit.quantity_max)
        purchase = to_amount(limit.notional_min), to_amount(limit.notional_max)
        pairs[base, quote] = Pair(base, quote, symbol, True, base_unit, quote_unit, *sale, confirmed)
        pairs[quote, base] = Pair(quote, base, symbol, False, quote_unit, base_unit, *purchase, confirmed)
    return pairs


def steps_of(pair: Pair, bids: Iterable[tuple[str, str]], asks: Iterable[tuple[str, str]]) -> list[Step]:
    """The levels that a conversion trades with, best first: the bids for a sale, the asks for a purchase."""
    if pair.sells_base:
        return [Step(Fraction(quantity), Fraction(price)) for price, quantity in bids]
    return [Step(Fraction(price) * Fraction(quantity), 1 / Fraction(price)) for price, quantity in asks]


def without_own(levels: Iterable[tuple[str, str]], own: Mapping[Decimal, Decimal]) -> list[tuple[str, str]]:
    """The levels of one side without the caller's own orders, `own` being their quantities by price."""
    others = []
    for price, quantity in levels:
        left = Decimal(quantity) - own.get(Decimal(price), Decimal(0))
        if left > 0:
            others.append((price, f"{left:f}"))
    return others


def bounded(pair: Pair, steps: Iterable[Step], fair: FairPrice) -> list[Step]:
    """The steps at prices no better for the user than the fair price's bound.

    A thin price rests on one source, which may be a book whose one side the user has made. So the day's median bounds
    it, too.
    """
    low_amount, high_amount = fair.low, fair.high
    if fair.state is PriceState.THIN and fair.day_median:
        low_amount, high_amount = min(low_amount, fair.day_median), max(high_amount, fair.day_median)
    if pair.sells_base:
        low = Fraction(low_amount, AMOUNT_SCALE)
        return [Step(step.capacity, min(step.rate, low)) for step in steps]
    high = Fraction(high_amount, AMOUNT_SCALE)
    prices = [(step.capacity * step.rate, max(1 / step.rate, high)) for step in steps]
    return [Step(base * price, 1 / price) for base, price in prices]


def value_in_cents(amount: int, price: int) -> int:
    """The value in US cents, rounded up, of an amount at a price in dollars. Both are units of 18 places."""
    return -(-amount * price * 100 // AMOUNT_SCALE**2)


def price_of_source(pair: Pair, steps: Sequence[Step], spread_bps: int, source: int) -> Amounts:
    """Price a conversion of exactly `source`. Raises BookTooThinError, AmountTooSmallError."""
    converted = _down(Fraction(source * (BASIS_POINTS - spread_bps), BASIS_POINTS), pair.source_unit)
    destination = _down(_forward(steps, Fraction(converted, AMOUNT_SCALE)) * AMOUNT_SCALE, pair.destination_unit)
    if destination <= 0:
        raise AmountTooSmallError
    return Amounts(source, destination, source - converted)


def price_of_destination(pair: Pair, steps: Sequence[Step], spread_bps: int, destination: int) -> Amounts:
    """Price a conversion into exactly `destination`. Raises BookTooThinError."""
    converted = _up(_backward(steps, Fraction(destination, AMOUNT_SCALE)) * AMOUNT_SCALE, pair.source_unit)
    source = _up(Fraction(converted * BASIS_POINTS, BASIS_POINTS - spread_bps), pair.source_unit)
    return Amounts(source, destination, source - converted)


def _forward(steps: Sequence[Step], source: Fraction) -> Fraction:
    destination = Fraction(0)
    for step in steps:
        taken = min(source, step.capacity)
        destination += taken * step.rate
        source -= taken
        if not source:
            return destination
    raise BookTooThinError


def _backward(steps: Sequence[Step], destination: Fraction) -> Fraction:
    source = Fraction(0)
    for step in steps:
        taken = min(destination, step.capacity * step.rate)
        source += taken / step.rate
        destination -= taken
        if not destination:
            return source
    raise BookTooThinError


def _down(value: Fraction, unit: int) -> int:
    return int(value // unit) * unit


def _up(value: Fraction, unit: int) -> int:
    return -int(-value // unit) * unit
