"""The market maker's rules: the orders that should stand on a market, and the changes that lead there. Pure.

The spread about the mid is fixed. The sizes depend on the inventory, linearly from nothing to twice the neutral size.
The mid shifts a little, too: a maker that holds too much buys less, at a lower price. An order that is close enough to
a wanted one stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from openspot.demo.inventory import Appetite
from openspot.demo.market import DemoMarket, QuoteSide
from openspot.domain.money import BASIS_POINTS


@dataclass(frozen=True, slots=True)
class QuotingRules:
    """Distances in basis points of the mid.

    The best level is `half_spread_bps` from the mid and the next ones `gap_bps` apart. At the bounds of the inventory
    the mid is shifted by `shift_bps`. An order stays while its price is within `tolerance_bps` of a wanted one, its
    quantity within the share `size_tolerance`, and while it is younger than `age_s_max`.
    """

    levels: int
    half_spread_bps: Decimal
    gap_bps: Decimal
    shift_bps: Decimal
    tolerance_bps: Decimal
    size_tolerance: Decimal
    age_s_max: float


@dataclass(frozen=True, slots=True)
class WantedOrder:
    """An order that should stand in the book."""

    side: QuoteSide
    price: Decimal
    quantity: Decimal


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """An order of the maker that stands in the book; `quantity` is what is left of it."""

    order_id: str
    side: QuoteSide
    price: Decimal
    quantity: Decimal
    age_s: float


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do on one market: cancel first, then place."""

    cancel: tuple[str, ...]
    place: tuple[WantedOrder, ...]


def quotes(
    market: DemoMarket, mid: Decimal, wants: Appetite, level_quantity: Decimal, rules: QuotingRules
) -> list[WantedOrder]:
    """The orders that should stand, best level first. `level_quantity` is the neutral size of the best level.

    Each level farther out is larger by a quarter of that size. A level that is below the market's limits is left out.
    """
    centre = mid * (1 - wants.lean * rules.shift_bps / BASIS_POINTS)
    found: list[WantedOrder] = []
    for side, factor in ((QuoteSide.BUY, wants.buy), (QuoteSide.SELL, wants.sell)):
        away = -market.tick if side is QuoteSide.BUY else market.tick
        last: Decimal | None = None
        for level in range(rules.levels):
            price = market.price(centre, side, rules.half_spread_bps + level * rules.gap_bps)
            if last is not None and (price - last) * away <= 0:
                # On a coarse tick two levels would share a price.
                price = last + away
            last = price
            quantity = market.quantity(level_quantity * factor * (4 + level) / 4, price) if price > 0 else None
            if quantity is not None:
                found.append(WantedOrder(side, price, quantity))
    return found


def changes(
    mid: Decimal, wanted: Sequence[WantedOrder], standing: Sequence[StandingOrder], rules: QuotingRules
) -> Changes:
    """The changes from the standing orders to the wanted ones. An order within the tolerance stays."""
    free = [order for order in standing if order.age_s < rules.age_s_max]
    distance_max = mid * rules.tolerance_bps / BASIS_POINTS
    place = []
    for quote in wanted:
        fitting = [order for order in free if _fits(order, quote, distance_max, rules.size_tolerance)]
        if fitting:
            free.remove(min(fitting, key=lambda order: abs(order.price - quote.price)))
        else:
            place.append(quote)
    unused = {order.order_id for order in free}
    cancel = (order.order_id for order in standing if order.order_id in unused or order.age_s >= rules.age_s_max)
    return Changes(tuple(cancel), tuple(place))


def _fits(order: StandingOrder, quote: WantedOrder, distance_max: Decimal, size_tolerance: Decimal) -> bool:
    return (
        order.side is quote.side
        and abs(order.price - quote.price) <= distance_max
        and abs(order.quantity - quote.quantity) <= quote.quantity * size_tolerance
    )
