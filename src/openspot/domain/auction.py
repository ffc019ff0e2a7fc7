"""The price of an auction: the one at which the most trades, then the least is left over, then the nearest to a
reference price."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class Clearing(NamedTuple):
    """What an auction trades: one price, how much, and how much more one side would trade there.

    `surplus` is positive if buyers are left over, negative if sellers are.
    """

    price: int
    volume: int
    surplus: int


def clearing_of(
    bids: Iterable[tuple[int, int]], asks: Iterable[tuple[int, int]], *, tick: int, reference: int
) -> Clearing | None:
    """What a book trades in an auction; None if it is not crossed.

    `bids` and `asks` are prices and quantities, best price first; all prices are multiples of `tick`. If several prices
    are equal in volume and surplus, the one nearest to `reference` is taken, rounded down to the tick. A reference of 0
    is unknown: then it is the middle of them.
    """
    asks_first, bids_first = list(asks), list(bids)
    if not asks_first or not bids_first or bids_first[0][0] < asks_first[0][0]:
        return None
    lowest, highest = asks_first[0][0], bids_first[0][0]
    supply = [(price, quantity) for price, quantity in asks_first if price <= highest]
    # What is demanded up to a price is gone one tick above it.
    demand_ends = [(price + tick, quantity) for price, quantity in reversed(bids_first) if price >= lowest]
    demanded, supplied = sum(quantity for _, quantity in demand_ends), 0
    best: tuple[int, int] | None = None
    price_low = price_high = 0
    # Between two starts nothing changes.
    starts = sorted({price for price, _ in supply} | {price for price, _ in demand_ends})
    supplies, ends = dict(supply), dict(demand_ends)
    for start, following in pairwise(starts):
        supplied += supplies.get(start, 0)
        demanded -= ends.get(start, 0)
        rank = (min(demanded, supplied), -abs(demanded - supplied))
        if best is None or rank > best:
            best, price_low = rank, start
        if rank == best:
            price_high = following - tick
    assert best is not None, "the price one tick above the best bid is always a start"
    nearest = min(max(reference or (price_low + price_high) // 2, price_low), price_high)
    price = nearest // tick * tick
    # At prices that are equal in this, buyers may be left over at some and sellers at others.
    demanded = sum(quantity for end, quantity in demand_ends if end > price)
    supplied = sum(quantity for start, quantity in supply if start <= price)
    return Clearing(price, best[0], demanded - supplied)
