"""Which intervals a request for candles covers."""

from datetime import UTC, datetime, timedelta

import pytest

from openspot.domain.candles import Interval, window_of

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
"""A Wednesday."""


def begin_of(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("interval", "begin"),
    [("1m", "2026-03-04T05:06"), ("5m", "2026-03-04T05:05"), ("15m", "2026-03-04T05:00"), ("30m", "2026-03-04T05:00"),
     ("1h", "2026-03-04T05:00"), ("4h", "2026-03-04T04:00"), ("1d", "2026-03-04"), ("1w", "2026-03-02")],
)  # fmt: skip
def test_the_newest_candle_is_the_one_of_now(interval: str, begin: str) -> None:
    window = window_of(Interval(interval), None, None, 1, NOW)
    assert (window.begin, window.end) == (begin_of(begin), begin_of(begin) + Interval(interval).length)


def test_the_interval_that_begins_this_moment_counts() -> None:
    sharp = begin_of("2026-03-04T05:00")
    assert window_of(Interval.H1, None, None, 1, sharp).begin == sharp


def test_from_is_inside_and_to_is_not() -> None:
    first, last = begin_of("2026-03-04T01:00"), begin_of("2026-03-04T03:00")
    assert window_of(Interval.H1, first, last, 100, NOW).begin == first
    assert window_of(Interval.H1, first, last, 100, NOW).end == last
    assert window_of(Interval.H1, first + timedelta(seconds=1), last, 100, NOW).begin == first + timedelta(hours=1)
    assert window_of(Interval.H1, first, last + timedelta(seconds=1), 100, NOW).end == last + timedelta(hours=1)


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_never_more_than_the_limit(limit: int) -> None:
    for since in (None, begin_of("1970-01-01"), NOW - timedelta(days=3), NOW + timedelta(days=3)):
        for interval in Interval:
            window = window_of(interval, since, None, limit, NOW)
            assert timedelta(0) <= window.end - window.begin <= limit * interval.length
