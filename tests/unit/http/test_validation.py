"""Dates and times of requests: only what says which day or moment it means."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from openspot.http.validation import Body, Day, IsoUtcDatetime


class Born(Body):
    day: Day


class Event(Body):
    at: IsoUtcDatetime


@pytest.mark.parametrize(
    "value",
    [0, 631_152_000, 631_152_000_000, -1, 1.5, True, None, [], "0", "631152000", "", "1990", "1990-12", "19901210",
     "1990-W50-1", "1990-13-01", "1990-02-30", "1990-12-10T00:00:00Z", " 1990-12-10", "1990-12-10\n", "١٩٩٠-١٢-١٠",
     "0000-01-01", "10000-01-01"],
)  # fmt: skip
def test_a_date_is_a_year_a_month_and_a_day(value: Any) -> None:
    with pytest.raises(ValidationError, match="must be a date such as 1990-12-10"):
        Born.model_validate({"day": value})


def test_a_date_is_read() -> None:
    assert Born.model_validate({"day": "2024-02-29"}).day == date(2024, 2, 29)


@pytest.mark.parametrize(
    "value",
    [0, 1_767_323_045, 1_767_323_045_678, 1.5, True, None, "0", "1767323045678", "2026-01-02", "2026-01-02T03:04:05",
     "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "soon", ""],
)  # fmt: skip
def test_an_instant_says_its_offset(value: Any) -> None:
    with pytest.raises(ValidationError, match=r"must be ISO 8601 with an offset \["):
        Event.model_validate({"at": value})


def test_an_instant_is_read_as_utc() -> None:
    read = Event.model_validate({"at": "2026-01-02T05:04:05.678+02:00"}).at
    assert (read, read.tzinfo) == (datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC), UTC)
