"""Times of clocks and of milliseconds, as dates in UTC."""

from datetime import UTC, datetime

import pytest

from openspot.kit.clock import datetime_from_ms, utc_datetime


def test_milliseconds_become_a_date_without_rounding() -> None:
    assert datetime_from_ms(1_700_000_000_123) == datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)
    # As a float, these seconds are a microsecond less.
    assert datetime_from_ms(253_402_300_799_999) == datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC)


def test_a_year_that_no_date_has_is_an_overflow() -> None:
    with pytest.raises(OverflowError):
        datetime_from_ms(253_402_300_800_000)


def test_the_time_of_a_clock_is_cut_to_the_millisecond() -> None:
    assert utc_datetime(lambda: 1_700_000_000_123_999_999).microsecond == 123_000
