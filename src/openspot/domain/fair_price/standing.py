"""What the book that has stood says about the price. Rules without IO; prices and quantities at 18 places.

Once a second the book is sampled: the price down to which a least depth could be sold, that up to which it could be
bought, and the depth near the fair price. What has stood is the worst of the samples of the last seconds. So an order
counts when it, or others at no worse prices, stood at every sample; a maker may renew quotes meanwhile.

The book does not know owners: all of it may be one person's. Therefore it never makes a price good alone.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS

LEVELS_MAX = 200
"""A sample reads at most this many levels a side."""
SAMPLE_GAP_MS_MAX = 3_500
"""Without a sample for longer than this, nothing is known to have stood."""

PriceLevel = tuple[int, int]
"""Price and quantity, at 18 places."""


@dataclass(frozen=True, slots=True)
class BookSample:
    """A book at one moment. A price is None where the side lacks the depth."""

    time_ms: int
    sell_price: int | None
    buy_price: int | None
    sell_depth: int
    buy_depth: int


@dataclass(frozen=True, slots=True)
class StandingMid:
    """The middle of the standing book, and when it was last there."""

    price: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class StandingDepth:
    """The base quantities near the fair price that have stood: `sell` could be sold, `buy` could be bought."""

    sell: int
    buy: int


def sample_of(
    time_ms: int,
    bids: Iterable[PriceLevel],
    asks: Iterable[PriceLevel],
    *,
    depth: int,
    near: int | None,
    band_bps: int,
) -> BookSample:
    """Sample a book, best levels first. `depth` is the least depth in the quote asset.

    `near` is the fair price, around which the depth is counted; without one, none is.
    """
    lowest = 0 if near is None else -(-near * (BASIS_POINTS - band_bps) // BASIS_POINTS)
    highest = 0 if near is None else near * (BASIS_POINTS + band_bps) // BASIS_POINTS
    sell_price, sell_depth = _side(bids, depth)
    buy_price, buy_depth = _side(asks, depth)
    return BookSample(
        time_ms,
        sell_price,
        buy_price,
        0 if near is None else sum(quantity for price, quantity in sell_depth if price >= lowest),
        0 if near is None else sum(quantity for price, quantity in buy_depth if price <= highest),
    )


def _side(levels: Iterable[PriceLevel], depth: int) -> tuple[int | None, list[PriceLevel]]:
    """The price at which the depth is reached, and the levels that were read."""
    read: list[PriceLevel] = []
    reached_at: int | None = None
    value = 0
    for level in levels:
        price, quantity = level
        read.append(level)
        value += price * quantity
        if reached_at is None and value >= depth * AMOUNT_SCALE:
            reached_at = price
        if len(read) >= LEVELS_MAX:
            break
    return reached_at, read


class StandingBook:
    """The samples of one book. `mid` is the standing mid of an earlier process, which counts until it is too old."""

    def __init__(self, rules: FairPriceRules, mid: StandingMid | None = None) -> None:
        self._rules = rules
        self._samples: deque[BookSample] = deque()
        self.mid = mid

    def add(self, sample: BookSample) -> None:
        """Add the newest sample. A sample that is not newer than the last one changes nothing."""
        samples = self._samples
        if samples and sample.time_ms <= samples[-1].time_ms:
            return
        if samples and sample.time_ms - samples[-1].time_ms > SAMPLE_GAP_MS_MAX:
            samples.clear()
        samples.append(sample)
        # The newest sample that is old enough stays: it proves that the time has passed.
        while len(samples) > 1 and samples[1].time_ms <= sample.time_ms - self._rules.standing_ms:
            samples.popleft()
        price = self._middle()
        if price is not None:
            self.mid = StandingMid(price, sample.time_ms)

    def current_mid(self, now_ms: int) -> StandingMid | None:
        """The standing mid, unless it was last there too long ago."""
        return self.mid if self.mid is not None and now_ms - self.mid.time_ms <= self._rules.hold_ms else None

    def depth(self, now_ms: int) -> StandingDepth | None:
        """What has stood near the fair price; None while too little time is known."""
        if not self._has_stood or now_ms - self._samples[-1].time_ms > SAMPLE_GAP_MS_MAX:
            return None
        return StandingDepth(
            min(sample.sell_depth for sample in self._samples), min(sample.buy_depth for sample in self._samples)
        )

    @property
    def _has_stood(self) -> bool:
        samples = self._samples
        return bool(samples) and samples[-1].time_ms - samples[0].time_ms >= self._rules.standing_ms

    def _middle(self) -> int | None:
        if not self._has_stood:
            return None
        sells = [sample.sell_price for sample in self._samples]
        buys = [sample.buy_price for sample in self._samples]
        sell = min((price for price in sells if price is not None), default=None)
        buy = max((price for price in buys if price is not None), default=None)
        if sell is None or buy is None or None in sells or None in buys:
            return None
        return middle(sell, buy, self._rules.spread_bps_max)


def middle(sell: int, buy: int, spread_bps_max: int) -> int | None:
    """The middle of two sides; None if they are too far apart, in the wrong order, or no prices."""
    if not 0 < sell <= buy <= PRICE_MAX:
        return None
    mid = (sell + buy) // 2
    return mid if (buy - sell) * BASIS_POINTS <= mid * spread_bps_max else None
