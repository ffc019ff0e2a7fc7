"""The fair price of one market, second by second. Rules without IO or clock; prices and quantities at 18 places."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from openspot.domain.fair_price.cost import MovedSources, depth_value, move_cost
from openspot.domain.fair_price.day_median import MINUTE_MS, DayMedian
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.fair_price.sources import (
    WAITS_FOR_MORE,
    Combined,
    PriceSource,
    SourceName,
    combine,
)
from openspot.domain.fair_price.standing import (
    PriceLevel,
    StandingBook,
    StandingDepth,
    StandingMid,
    middle,
    sample_of,
)
from openspot.domain.fair_price.trades import TradesSource, TradeWindow, differ
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.owners import Owners

OUTERMOST = 2
"""`low` is at least the price divided by this, `high` at most the price times this, whatever a source says."""

_STALE = "Nobody trades or quotes here now: this is the last price that was known. Wait for somebody who does."
_FAST = "The price moves faster than it may be believed. Wait until it has stood for some minutes."
_FAR = "The price is far from that of the last day, and too little confirms it. " + WAITS_FOR_MORE
_OUTSIDE = frozenset({SourceName.VENUE, SourceName.OPERATOR})
"""Sources that nobody moves by trading here."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a market does not know itself.

    `quote_dollars` is the price of the quote asset in US dollars. `operator_price` is the operator's price while it
    lasts. `reference_price` is that of the settings. `fee_bps` is what a trade costs both sides.
    """

    owners: Owners
    quote_dollars: int
    operator_price: int | None = None
    reference_price: int | None = None
    fee_bps: int = 0


@dataclass(frozen=True, slots=True)
class Remembered:
    """What outlives a process: the last price, and the last standing mid if there was one."""

    price: FairPrice
    standing: StandingMid | None = None


class FairPriceEstimator:
    """Makes the fair price of one market from what it is told. Times are milliseconds since 1970."""

    def __init__(self, symbol: str, rules: FairPriceRules, remembered: Remembered | None = None) -> None:
        self.symbol = symbol
        self._rules = rules
        self.trades = TradeWindow(rules)
        self.day = DayMedian()
        self._standing = StandingBook(rules, None if remembered is None else remembered.standing)
        self._venue: tuple[int, int] | None = None
        self._recent: deque[tuple[int, int]] = deque()
        """The prices of the last minute, by time, and the one before."""
        self._last: FairPrice | None = None if remembered is None else remembered.price
        self._absorbed_at = 0 if remembered is None else remembered.price.timestamp_ms
        """When `sellable` and `buyable` were last made from a book that has stood."""
        self.move_cost: int | None = None
        """What moving the price costs, in the quote asset, as `domain.fair_price.cost` says it."""
        if remembered is not None:
            self._recent.append((remembered.price.timestamp_ms, remembered.price.price))

    @property
    def last(self) -> FairPrice | None:
        """The newest price; None before the first."""
        return self._last

    @property
    def remembered(self) -> Remembered | None:
        """What is to outlive the process. None before the first price that is not from the settings."""
        return Remembered(self._last, self._standing.mid) if self._last is not None and self._recent else None

    # What is told

    def quote(self, now_ms: int, bid: int, ask: int) -> None:
        """Take a quote of the venue. Sides that are too far apart are none."""
        mid = middle(bid, ask, self._rules.spread_bps_max)
        if mid is not None:
            self._venue = (mid, now_ms)

    def see_book(self, now_ms: int, bids: Iterable[PriceLevel], asks: Iterable[PriceLevel], quote_dollars: int) -> None:
        """Sample the book, best levels first. Called once a second, unless the book is in the middle of a command."""
        sample = sample_of(
            now_ms,
            bids,
            asks,
            depth=in_quote(self._rules.depth_dollars, quote_dollars),
            near=None if self._last is None else self._last.price,
            band_bps=self._rules.absorbed_band_bps,
        )
        self._standing.add(sample)

    # What follows

    def estimate(self, now_ms: int, around: Surroundings) -> FairPrice | None:
        """The fair price at `now_ms`, which is not earlier than at the last call; None before the first price.

        Keeps the minute's sample of the day's median.
        """
        rules = self._rules
        volume_min = in_quote(rules.volume_dollars, around.quote_dollars)
        traded = self.trades.source(now_ms, around.owners, volume_min)
        combined = combine(
            self._sources(now_ms, around, traded, volume_min),
            self._last.price if self._last is not None and self._recent else None,
            rules.difference_bps_max,
        )
        if combined is None:
            self.move_cost = 0
            self._last = None if self._last is None else self._stale(now_ms, self._last)
        else:
            depth = self._standing.depth(now_ms)
            self.move_cost = self._cost(combined, traded, depth, around)
            least = volume_min * AMOUNT_SCALE // combined.price if _is_confirmed(combined) else 0
            self._last = self._found(now_ms, combined, self._absorbed(now_ms, traded, depth, least))
        return self._last

    def _sources(
        self, now_ms: int, around: Surroundings, traded: TradesSource | None, volume_min: int
    ) -> list[PriceSource]:
        rules = self._rules
        found = []
        if traded is not None and traded.value >= in_quote(rules.thin_volume_dollars, around.quote_dollars):
            found.append(PriceSource(SourceName.TRADES, traded.price, traded.is_full(rules, volume_min)))
        mid = self._standing.current_mid(now_ms)
        if mid is not None:
            found.append(PriceSource(SourceName.BOOK, mid.price))
        if self._venue is not None and now_ms - self._venue[1] <= rules.venue_age_ms:
            found.append(PriceSource(SourceName.VENUE, self._venue[0]))
        for name, price in (
            (SourceName.OPERATOR, around.operator_price),
            # A market that had a price of its own does not fall back to the settings.
            (SourceName.REFERENCE, None if self._recent else around.reference_price),
        ):
            if price is not None and 0 < price <= PRICE_MAX:
                found.append(PriceSource(name, price))
        return found

    def _stale(self, now_ms: int, last: FairPrice) -> FairPrice:
        if self._recent:
            self._sample_day(now_ms, last.price)
        return replace(
            last,
            state=PriceState.STALE,
            reason=_STALE,
            day_median=self.day.median(now_ms) or last.day_median,
            sellable=0,
            buyable=0,
            timestamp_ms=now_ms,
            is_confirmed=False,
        )

    def _found(self, now_ms: int, combined: Combined, absorbed: StandingDepth) -> FairPrice:
        price, state, reason = combined.price, combined.state, combined.reason
        if combined.used == (SourceName.REFERENCE,):
            # It binds nothing that comes after it: neither the speed nor the day's median.
            return self._price(now_ms, combined, price, state, reason, absorbed, day_median=price)
        if combined.used == (SourceName.OPERATOR,):
            self._recent.clear()
        else:
            price = self._bounded(now_ms, combined.price)
            if price != combined.price:
                state, reason = PriceState.DISPUTED, reason if state is PriceState.DISPUTED else _FAST
        self._note(now_ms, price)
        self._sample_day(now_ms, price)
        day_median = self.day.median(now_ms) or price
        if state is not PriceState.DISPUTED and self._is_far_from_day(state, combined, price, day_median):
            state, reason = PriceState.DISPUTED, _FAR
        return self._price(now_ms, combined, price, state, reason, absorbed, day_median=day_median)

    def _is_far_from_day(self, state: PriceState, combined: Combined, price: int, day_median: int) -> bool:
        """Whether a price that rests on what happens here alone is too far from the day's median to be believed."""
        if _OUTSIDE.intersection(combined.used):
            return False
        is_thin = state is PriceState.THIN
        bound = self._rules.thin_difference_bps_max if is_thin else self._rules.unconfirmed_difference_bps_max
        return differ(price, day_median, bound)

    def _price(
        self,
        now_ms: int,
        combined: Combined,
        price: int,
        state: PriceState,
        reason: str,
        absorbed: StandingDepth,
        *,
        day_median: int,
    ) -> FairPrice:
        return FairPrice(
            symbol=self.symbol,
            state=state,
            price=price,
            low=max(min(combined.low, price), -(-price // OUTERMOST)),
            high=min(max(combined.high, price), price * OUTERMOST, PRICE_MAX),
            day_median=day_median,
            sellable=absorbed.sell,
            buyable=absorbed.buy,
            timestamp_ms=now_ms,
            reason=reason,
            is_confirmed=state.is_usable and _is_confirmed(combined),
        )

    def _bounded(self, now_ms: int, wanted: int) -> int:
        """The price as close to `wanted` as the bound of a minute lets it come.

        After a time without prices, the bound counts for each minute that has passed.
        """
        recent = self._recent
        if not recent:
            return wanted
        while len(recent) > 1 and recent[0][0] < now_ms - MINUTE_MS:
            recent.popleft()
        minutes = max(1, (now_ms - recent[-1][0]) // MINUTE_MS)
        prices = [price for _, price in recent]
        lowest, highest = min(prices), max(prices)
        speed = self._rules.speed_bps_max * minutes
        ceiling = lowest * (BASIS_POINTS + speed) // BASIS_POINTS
        floor = -(-highest * max(BASIS_POINTS - speed, 0) // BASIS_POINTS)
        # The newest price itself is always possible, also where rounding of a tiny price says otherwise.
        newest = recent[-1][1]
        return max(1, min(max(wanted, min(floor, newest)), max(ceiling, newest)))

    def _note(self, now_ms: int, price: int) -> None:
        recent = self._recent
        if recent and now_ms - recent[-1][0] >= MINUTE_MS:
            recent.clear()
        if not recent or now_ms > recent[-1][0]:
            recent.append((now_ms, price))

    def _sample_day(self, now_ms: int, price: int) -> None:
        if self.day.is_due(now_ms):
            self.day.add(now_ms, price)

    def _absorbed(
        self, now_ms: int, traded: TradesSource | None, depth: StandingDepth | None, least: int
    ) -> StandingDepth:
        """What the market absorbs of the standing depth. A confirmed price counts as a traded quantity of `least`."""
        if depth is None:
            # A process that has just begun does not know yet what has stood, so the last figures count for a while.
            if self._last is None or now_ms - self._absorbed_at > self._rules.hold_ms:
                return StandingDepth(0, 0)
            return StandingDepth(self._last.sellable, self._last.buyable)
        self._absorbed_at = now_ms
        quantity = max(least, 0 if traded is None else traded.quantity)
        share = quantity * self._rules.absorbed_share_bps // BASIS_POINTS
        return StandingDepth(min(depth.sell, share), min(depth.buy, share))

    def _cost(
        self, combined: Combined, traded: TradesSource | None, depth: StandingDepth | None, around: Surroundings
    ) -> int | None:
        near = None
        if SourceName.BOOK in combined.used:
            near = 0 if depth is None else depth_value(min(depth.sell, depth.buy), combined.price)
        return move_cost(
            MovedSources(
                is_bound=bool(_OUTSIDE.intersection(combined.used)),
                near_depth=near,
                band_bps=self._rules.absorbed_band_bps,
                depth_min=in_quote(self._rules.depth_dollars, around.quote_dollars),
                part_values=traded.part_values if traded is not None and SourceName.TRADES in combined.used else None,
                fee_bps=around.fee_bps,
            )
        )


def _is_confirmed(combined: Combined) -> bool:
    return combined.state.is_usable and bool(_OUTSIDE.intersection(combined.used))


def in_quote(dollars: int, quote_dollars: int) -> int:
    """An amount of US dollars in the quote asset, rounded up. `quote_dollars` is above 0."""
    return -(-dollars * AMOUNT_SCALE // quote_dollars)
