"""Clocks. A rule that needs the time takes a clock as an argument, so that tests can control it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

NANOSECONDS_PER_MS = 1_000_000
NANOSECONDS_PER_S = 1_000_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Clock = Callable[[], int]
"""Returns nanoseconds since 1970."""
DateClock = Callable[[], datetime]
"""Returns the time as a date in UTC."""


def system_clock() -> int:
    """The machine's time in nanoseconds since 1970."""
    return time.time_ns()


@lru_cache(maxsize=1024)
def iso_from_ms(milliseconds: int) -> str:
    """ISO 8601 in UTC with milliseconds: 2026-01-02T03:04:05.678Z."""
    # Cached: events of one commit share their time, and each state of an order repeats when it was made.
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_iso_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=64)
def _iso_second(seconds: int) -> str:
    # Cached: most calls ask for one of the same few seconds.
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def datetime_from_ms(milliseconds: int) -> datetime:
    """The time in UTC, from milliseconds since 1970. Raises OverflowError from the year 10000 on."""
    return _EPOCH + milliseconds * _MILLISECOND


def ms_from_datetime(time: datetime) -> int:
    """The milliseconds since 1970 of a time, rounded to the nearest."""
    return round((time - _EPOCH) / _MILLISECOND)


def utc_datetime(clock: Clock) -> datetime:
    """The clock's time in UTC, cut to milliseconds, so that the database stores exactly what clients read."""
    return datetime_from_ms(clock() // NANOSECONDS_PER_MS)


def utc_now() -> datetime:
    """The machine's time as a date in UTC."""
    return datetime.now(UTC)


def iso_of(date: datetime) -> str:
    """A date as ISO 8601 in UTC with milliseconds."""
    return date.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
