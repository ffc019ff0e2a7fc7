"""The billing calendar: month ends, leap years, time zones."""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.subscriptions.billing_calendar import (
    Period,
    months_after,
    period_at,
    period_containing,
    utc_date,
)

anchors = st.dates(date(1970, 1, 1), date(2200, 12, 31))
intervals = st.sampled_from([1, 3, 6, 12])


@pytest.mark.parametrize(
    ("anchor", "starts"),
    [
        ("2025-01-31", ["2025-02-28", "2025-03-31", "2025-04-30", "2025-05-31"]),
        ("2024-01-31", ["2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"]),
        ("2024-01-30", ["2024-02-29", "2024-03-30", "2024-04-30", "2024-05-30"]),
        ("2025-10-31", ["2025-11-30", "2025-12-31", "2026-01-31", "2026-02-28"]),
        ("2025-02-28", ["2025-03-28", "2025-04-28", "2025-05-28", "2025-06-28"]),
    ],
)
def test_a_month_end_is_counted_from_the_anchor_and_does_not_drift(anchor: str, starts: list[str]) -> None:
    first = date.fromisoformat(anchor)
    assert [months_after(first, months).isoformat() for months in (1, 2, 3, 4)] == starts


def test_a_leap_day_comes_back_every_fourth_year() -> None:
    starts = [period_at(date(2024, 2, 29), 12, index).start.isoformat() for index in range(5)]
    assert starts == ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]


def test_a_century_without_leap_day_is_no_leap_year() -> None:
    assert months_after(date(2100, 1, 31), 1) == date(2100, 2, 28)
    assert months_after(date(2000, 1, 31), 1) == date(2000, 2, 29)


@given(anchors, intervals)
def test_periods_follow_each_other_without_gap_or_overlap(anchor: date, interval: int) -> None:
    periods = [period_at(anchor, interval, index) for index in range(50)]
    assert periods[0].start == anchor
    for earlier, later in pairwise(periods):
        assert earlier.end == later.start
        assert earlier.days > 0


@given(anchors, intervals, st.integers(0, 600))
def test_each_period_begins_on_the_anchors_day_or_the_last_of_its_month(
    anchor: date, interval: int, index: int
) -> None:
    start = period_at(anchor, interval, index).start
    assert start.day == min(anchor.day, monthrange(start.year, start.month)[1])
    assert (start.year - anchor.year) * 12 + start.month - anchor.month == index * interval


@given(anchors, intervals, st.integers(0, 40_000))
def test_every_day_lies_in_exactly_the_period_that_is_found_for_it(anchor: date, interval: int, days: int) -> None:
    day = anchor + timedelta(days=days)
    index = period_containing(anchor, interval, day)
    assert day in period_at(anchor, interval, index)
    assert day not in period_at(anchor, interval, index + 1)
    if index:
        assert day not in period_at(anchor, interval, index - 1)


def test_a_period_is_half_open() -> None:
    period = Period(date(2025, 1, 31), date(2025, 2, 28))
    assert [day in period for day in (date(2025, 1, 30), date(2025, 1, 31), date(2025, 2, 27), date(2025, 2, 28))] == [
        False,
        True,
        True,
        False,
    ]
    assert period.days == 28


zones = st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-14 * 60, 14 * 60))


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)), zones)  # noqa: DTZ001
def test_a_moment_has_the_same_date_whatever_zone_it_is_written_in(moment: datetime, zone: timezone) -> None:
    in_utc = moment.replace(tzinfo=UTC)
    assert utc_date(in_utc.astimezone(zone)) == in_utc.date()


def test_the_date_changes_at_midnight_utc_not_at_the_users() -> None:
    new_york = timezone(timedelta(hours=-5))
    assert utc_date(datetime(2025, 1, 31, 18, 59, 59, tzinfo=new_york)) == date(2025, 1, 31)
    assert utc_date(datetime(2025, 1, 31, 19, 0, tzinfo=new_york)) == date(2025, 2, 1)


def test_what_the_calendar_cannot_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        utc_date(datetime(2025, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="index must not be negative"):
        period_at(date(2025, 1, 1), 1, -1)
    with pytest.raises(ValueError, match="interval_months must be at least 1"):
        period_at(date(2025, 1, 1), 0, 1)
    with pytest.raises(ValueError, match="before the anchor"):
        period_containing(date(2025, 1, 2), 1, date(2025, 1, 1))
    with pytest.raises(ValueError, match="after the year 9999"):
        months_after(date(9999, 12, 1), 1)
