"""The figures of a market's last 24 hours, from a ring of minutes: rules without IO.

The window begins with a whole minute, so it is up to 59,999 ms longer than 24 hours. Prices are amounts of 18 places,
sums of price × quantity have 36 places. Only the percentage is rounded.

Imported candles before a market's first trade are in the window, as they are in its chart: figures that stand beside a
chart say what it shows. They are in none before that trade, and never the last price.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE, amount_to_text, decimal_to_text, scaled_to_text

MINUTE_MS = 60_000
DAY_MINUTES = 1440
_QUOTE_SCALE = AMOUNT_SCALE**2
_PERCENT_PLACE = Decimal("0.01")
_WIDE = Context(prec=100, rounding=ROUND_HALF_EVEN)


@dataclass(slots=True)
class Minute:
    """The trades of one minute. `number` counts the minutes since 1970.

    An imported candle of a larger interval stands in its first minute.
    """

    number: int
    open: int
    high: int
    low: int
    close: int
    volume: int
    quote_volume: int


class DayFigures(NamedTuple):
    """The figures as text. `last` is the newest price, however old. The other prices are null if nothing traded."""

    last: str | None
    open: str | None
    high: str | None
    low: str | None
    volume: str
    quote_volume: str
    change: str | None
    change_percent: str | None


class RollingDay:
    """The minutes of the last 24 hours in which something traded, here or where the imported candles are from."""

    def __init__(self, last: int | None = None) -> None:
        """`last` is the newest price before the minutes that are added later."""
        self._last = last
        self._imported: deque[Minute] = deque()
        self._minutes: deque[Minute] = deque()
        self._volume = 0
        self._quote_volume = 0

    def set_imported(self, minutes: Iterable[Minute]) -> None:
        """Take these imported minutes, in their order, for those of before. None is as late as a trade."""
        first = self._minutes[0].number if self._minutes else None
        self._imported = deque(minute for minute in minutes if first is None or minute.number < first)

    def load(self, minute: Minute) -> None:
        """Append a whole minute. It must be newer than the others."""
        assert not self._minutes or minute.number > self._minutes[-1].number, "minutes are loaded in their order"
        while not self._minutes and self._imported and self._imported[-1].number >= minute.number:
            # A trade takes the place of an imported candle.
            self._imported.pop()
        self._minutes.append(minute)
        self._last = minute.close
        self._volume += minute.volume
        self._quote_volume += minute.quote_volume

    def add(self, timestamp_ms: int, price: int, quantity: int) -> None:
        """Count a trade. The engine's time is monotonic; a trade with an older time counts in the newest minute."""
        number = timestamp_ms // MINUTE_MS
        newest = self._minutes[-1] if self._minutes else None
        if newest is None or number > newest.number:
            self.load(Minute(number, price, price, price, price, quantity, price * quantity))
            return
        newest.high = max(newest.high, price)
        newest.low = min(newest.low, price)
        newest.close = self._last = price
        newest.volume += quantity
        newest.quote_volume += price * quantity
        self._volume += quantity
        self._quote_volume += price * quantity

    def forget_before(self, now_ms: int) -> bool:
        """Drop the minutes before the window at `now_ms`. Returns whether there were any."""
        first = now_ms // MINUTE_MS - DAY_MINUTES
        had = len(self._imported) + len(self._minutes)
        while self._imported and self._imported[0].number < first:
            self._imported.popleft()
        while self._minutes and self._minutes[0].number < first:
            gone = self._minutes.popleft()
            self._volume -= gone.volume
            self._quote_volume -= gone.quote_volume
        return len(self._imported) + len(self._minutes) < had

    def figures(self) -> DayFigures:
        """The figures of all minutes in the window."""
        last = None if self._last is None else amount_to_text(self._last)
        if not self._minutes:
            return DayFigures(
                last=last,
                open=None,
                high=None,
                low=None,
                volume="0",
                quote_volume="0",
                change=None,
                change_percent=None,
            )
        minutes = (*self._imported, *self._minutes)
        opened = minutes[0].open
        change = self._minutes[-1].close - opened
        percent = _WIDE.quantize(_WIDE.divide(Decimal(change * 100), Decimal(opened)), _PERCENT_PLACE)
        return DayFigures(
            last=last,
            open=amount_to_text(opened),
            high=amount_to_text(max(minute.high for minute in minutes)),
            low=amount_to_text(min(minute.low for minute in minutes)),
            volume=amount_to_text(self._volume + sum(minute.volume for minute in self._imported)),
            quote_volume=scaled_to_text(
                self._quote_volume + sum(minute.quote_volume for minute in self._imported), _QUOTE_SCALE
            ),
            change=amount_to_text(change),
            change_percent=decimal_to_text(percent),
        )
