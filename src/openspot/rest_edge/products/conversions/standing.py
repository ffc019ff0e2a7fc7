"""The part of a book that has stood: rules without IO. Times are seconds of a monotonic clock.

A level that somebody paints and takes away again costs nothing. What counts at a price is therefore the least quantity
at that price or a better one that any sample of the last seconds shows, and the present book. Makers who move their
quotes keep counting, because whole sides are compared and not single orders.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

SAMPLE_EVERY_S = 2.0
GAP_S_MAX = 3 * SAMPLE_EVERY_S
"""After a longer gap nobody knows what stood meanwhile, and the time begins again."""
LEVELS = 500
"""A sample, and the present book, have this many levels a side, best ones."""

Level = tuple[str, str]


class Side(NamedTuple):
    """One side of a book, best level first."""

    levels: Sequence[Level]
    is_bids: bool


class _Sample(NamedTuple):
    time: float
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]


class StandingBooks:
    """The samples of all books. Depth counts when it has stood for `standing_s`; 0: the present book counts."""

    def __init__(self, standing_s: float) -> None:
        self._standing_s = standing_s
        self._samples: dict[str, deque[_Sample]] = {}

    def add(self, symbol: str, now: float, bids: Iterable[Level], asks: Iterable[Level]) -> None:
        """Add a sample, which is newer than the others of its market."""
        samples = self._samples.setdefault(symbol, deque())
        if samples and now - samples[-1].time > GAP_S_MAX:
            samples.clear()
        samples.append(_Sample(now, tuple(bids), tuple(asks)))
        # The newest sample that is old enough stays: it proves that the time has passed.
        while len(samples) > 1 and samples[1].time <= now - self._standing_s:
            samples.popleft()

    def standing(self, symbol: str, now: float, present: Side) -> list[Level]:
        """The levels of a side that have stood, best first. There are none while too little time is known."""
        if not self._standing_s:
            return list(present.levels)
        samples = self._samples.get(symbol)
        if not samples or now - samples[-1].time > GAP_S_MAX or now - samples[0].time < self._standing_s:
            return []
        earlier = [sample.bids if present.is_bids else sample.asks for sample in samples]
        return least_of([present.levels, *earlier], is_bids=present.is_bids)


def least_of(books: Sequence[Sequence[Level]], *, is_bids: bool) -> list[Level]:
    """The side whose quantity at each price or a better one is the least of `books`, best level first."""
    parsed = [[(Decimal(price), Decimal(quantity)) for price, quantity in book] for book in books]
    prices = sorted({price for book in parsed for price, _ in book}, reverse=is_bids)
    places, totals = [0] * len(parsed), [Decimal(0)] * len(parsed)
    levels: list[Level] = []
    before = Decimal(0)
    for price in prices:
        for number, book in enumerate(parsed):
            place = places[number]
            while place < len(book) and (book[place][0] >= price if is_bids else book[place][0] <= price):
                totals[number] += book[place][1]
                place += 1
            places[number] = place
        least = min(totals)
        if least > before:
            levels.append((f"{price:f}", f"{least - before:f}"))
            before = least
    return levels
