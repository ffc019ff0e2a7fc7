"""When a fair price moves too fast for continuous trading: the rules of a volatility interruption, and what a market's
price was lately."""

from collections import deque
from typing import NamedTuple

from openspot.domain.money import BASIS_POINTS

PARTS = 60
"""A window remembers the lowest and the highest price of each of its parts, so its size does not follow how often
prices come."""


class VolatilityRules(NamedTuple):
    """A market is interrupted by an auction of `auction_ns` when its fair price is more than `move_bps` away from one
    of the last `window_ns`, and at most once in `pause_ns`."""

    move_bps: int
    window_ns: int
    auction_ns: int
    pause_ns: int


def has_moved(price: int, other: int, move_bps: int) -> bool:
    """Whether two prices are more than `move_bps` basis points of the lower one apart."""
    lower, higher = min(price, other), max(price, other)
    return (higher - lower) * BASIS_POINTS > lower * move_bps


class _Part(NamedTuple):
    number: int
    lowest: int
    highest: int


class PriceWindow:
    """The fair prices of one market in the last `span_ns`. A price that is older than that counts no more."""

    def __init__(self, span_ns: int) -> None:
        self._span_ns = span_ns
        self._part_ns = max(1, span_ns // PARTS)
        self._parts: deque[_Part] = deque(maxlen=PARTS + 1)
        self._last = 0

    def add(self, price: int, now_ns: int, gap_ns: int | None) -> None:
        """The price that counts from now on.

        The one before counted until `gap_ns` ago. None if that is not known: then it counted when it came.
        """
        if self._last and gap_ns is not None:
            self._note(self._last, now_ns - gap_ns)
        self._note(price, now_ns)
        self._last = price
        # A part counts only if all of it is in the window.
        oldest = -((self._span_ns - now_ns) // self._part_ns)
        while self._parts and self._parts[0].number < oldest:
            self._parts.popleft()

    def has_moved(self, price: int, move_bps: int) -> bool:
        """Whether `price` is too far from one of the window."""
        return any(has_moved(price, other, move_bps) for part in self._parts for other in (part.lowest, part.highest))

    def _note(self, price: int, time_ns: int) -> None:
        number = time_ns // self._part_ns
        newest = self._parts[-1] if self._parts else None
        if newest is None or number > newest.number:
            self._parts.append(_Part(number, price, price))
        elif number == newest.number:
            self._parts[-1] = _Part(number, min(price, newest.lowest), max(price, newest.highest))
