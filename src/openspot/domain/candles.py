"""Candles: the intervals that exist, where each begins, and which of them a request covers."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

ORIGIN = datetime(1970, 1, 5, tzinfo=UTC)
"""A Monday. Intervals of each length begin whole multiples of the length after it, so weeks begin on Mondays."""


class Interval(StrEnum):
    """The interval that a candle covers."""

    M1 = "1m"
    M5 = "5m"
    M15 = "15m"
    M30 = "30m"
    H1 = "1h"
    H4 = "4h"
    D1 = "1d"
    W1 = "1w"

    @property
    def length(self) -> timedelta:
        return _LENGTHS[self]


_LENGTHS = {
    Interval.M1: timedelta(minutes=1),
    Interval.M5: timedelta(minutes=5),
    Interval.M15: timedelta(minutes=15),
    Interval.M30: timedelta(minutes=30),
    Interval.H1: timedelta(hours=1),
    Interval.H4: timedelta(hours=4),
    Interval.D1: timedelta(days=1),
    Interval.W1: timedelta(weeks=1),
}


@dataclass(frozen=True, slots=True)
class Window:
    """The whole intervals that begin at `begin` or later, and before `end`."""

    interval: Interval
    begin: datetime
    end: datetime


def window_of(interval: Interval, since: datetime | None, until: datetime | None, limit: int, now: datetime) -> Window:
    """The intervals that begin at or after `since` and before `until`, at most `limit`.

    With `since`, they are the first ones after it. Without it, they are the last ones before `until`, or up to `now`.
    """
    end = _next_begin(interval, now if until is None else until)
    if until is None:
        # The interval that has just begun counts.
        end = max(end, begin_of(interval, now) + interval.length)
    span = limit * interval.length
    if since is None:
        return Window(interval, end - span, end)
    begin = _next_begin(interval, since)
    return Window(interval, begin, max(begin, min(end, begin + span)))


def begin_of(interval: Interval, time: datetime) -> datetime:
    """The begin of the interval that contains `time`. A week begins on Monday, 00:00 UTC."""
    return time - (time - ORIGIN) % interval.length


def _next_begin(interval: Interval, time: datetime) -> datetime:
    """The first begin of an interval at or after `time`."""
    return time + (ORIGIN - time) % interval.length
