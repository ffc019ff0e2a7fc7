"""A safe opening: after a start or an outage a market takes cancels alone, then makers, then everybody. Pure rules.

Right after a start the books may be empty, and a market order would trade at any price that somebody set for it. So for
some seconds a market takes only cancels. Then it takes only limit orders that cannot trade: buys below and sells above
one price, which stays the same, and none that the book's own orders would fill. So makers come back without a race, and
the market opens to everybody once both sides of its book have depth, or when a time has passed.

Without the two settings markets are open at once, as the specification has it (facts A1.2-21 to A1.2-23).
"""

from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from enum import StrEnum

from openspot.domain.money import EXACT, decimal_to_text

OUTAGE_S = 3.0
"""A market opens anew after the engine was away for this long."""
DEPTH_ORDERS = 1000
"""A side of a book has depth when it holds this many times the least notional of an order."""

PriceLevel = tuple[Decimal, Decimal]
"""Price and quantity."""


class OpeningPhase(StrEnum):
    """What a market takes beside cancels."""

    CANCEL_ONLY = "cancel-only"
    """Nothing."""
    POST_ONLY = "post-only"
    """Limit orders that cannot trade."""
    CONTINUOUS = "continuous"
    """Every order."""


class _Waiting:
    """A market that waits for its makers. Buys must be below `ceiling`, sells above `floor`; None: not known yet."""

    def __init__(self) -> None:
        self.is_seen = False
        """Whether the book was looked at since the opening began."""
        self.reference: Decimal | None = None
        self.best_bid: Decimal | None = None
        self.best_ask: Decimal | None = None

    @property
    def ceiling(self) -> Decimal | None:
        return min((price for price in (self.reference, self.best_ask) if price is not None), default=None)

    @property
    def floor(self) -> Decimal | None:
        return max((price for price in (self.reference, self.best_bid) if price is not None), default=None)


class Opening:
    """The phase of each market. `monotonic` returns the monotonic clock's seconds."""

    def __init__(
        self,
        symbols: Collection[str],
        monotonic: Callable[[], float],
        *,
        cancel_only_s: float,
        post_only_s_max: float,
    ) -> None:
        self._symbols = symbols
        self._monotonic = monotonic
        self._cancel_only_s = cancel_only_s
        self._post_only_s_max = post_only_s_max
        self._last_there = monotonic()
        self._begin()

    @property
    def is_over(self) -> bool:
        """Whether every market is open to everybody."""
        self._end_by_time()
        return not self._waiting

    @property
    def waiting(self) -> Sequence[str]:
        """The markets that wait for their makers, once these may come."""
        self._end_by_time()
        return [] if self._opens_in_s > 0 else sorted(self._waiting)

    def phase(self, symbol: str) -> OpeningPhase:
        """What the market takes now."""
        self._end_by_time()
        waiting = self._waiting.get(symbol)
        if waiting is None:
            return OpeningPhase.CONTINUOUS
        is_open = self._opens_in_s <= 0 and waiting.is_seen
        return OpeningPhase.POST_ONLY if is_open else OpeningPhase.CANCEL_ONLY

    def refusal(self, symbol: str, *, is_buy: bool, price: Decimal | None, reference: Decimal | None) -> str:
        """Why an order is refused now, and what it waits for; empty if it is not.

        `price` is None for an order that never rests. The first `reference` that is not None holds for the opening.
        """
        match self.phase(symbol):
            case OpeningPhase.CONTINUOUS:
                return ""
            case OpeningPhase.CANCEL_ONLY:
                return f"{symbol} opens in {max(self._opens_in_s, 1):.0f} s: until then only cancels are taken"
        waiting = self._waiting[symbol]
        if waiting.reference is None:
            waiting.reference = reference
        if price is None:
            return f"{symbol} waits for its makers: until then only limit orders that rest are taken"
        bound = waiting.ceiling if is_buy else waiting.floor
        if bound is None or (price < bound if is_buy else price > bound):
            return ""
        side, where = ("buy", "below") if is_buy else ("sell", "above")
        return f"{symbol} waits for its makers: until then a {side} must be {where} {decimal_to_text(bound)}"

    def note_book(
        self, symbol: str, bids: Sequence[PriceLevel], asks: Sequence[PriceLevel], notional_min: Decimal
    ) -> None:
        """Take the book of a waiting market, best levels first. It opens if both sides have depth."""
        waiting = self._waiting.get(symbol)
        if waiting is None:
            return
        if not waiting.is_seen:
            # Later orders of the opening are on their own sides of the reference, so this book bounds the others.
            waiting.best_bid = bids[0][0] if bids else None
            waiting.best_ask = asks[0][0] if asks else None
            waiting.is_seen = True
        if _has_depth(bids, notional_min) and _has_depth(asks, notional_min):
            del self._waiting[symbol]

    def note_engine(self, *, is_there: bool) -> None:
        """Note whether the engine responds. After an outage all markets open anew."""
        if not is_there:
            return
        now = self._monotonic()
        if now - self._last_there > OUTAGE_S:
            self._begin()
        self._last_there = now

    def _begin(self) -> None:
        self._begun_at = self._monotonic()
        self._waiting = {symbol: _Waiting() for symbol in self._symbols}

    @property
    def _opens_in_s(self) -> float:
        return self._begun_at + self._cancel_only_s - self._monotonic()

    def _end_by_time(self) -> None:
        if self._waiting and self._monotonic() - self._begun_at >= self._cancel_only_s + self._post_only_s_max:
            self._waiting.clear()


def _has_depth(side: Sequence[PriceLevel], notional_min: Decimal) -> bool:
    notional = Decimal(0)
    for price, quantity in side:
        notional = EXACT.add(notional, EXACT.multiply(price, quantity))
    return notional >= DEPTH_ORDERS * notional_min
