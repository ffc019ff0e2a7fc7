"""The rule of the daily check-in."""

from datetime import date

import pytest

from openspot.rest_edge.identity.users.check_in import CheckIn, current_streak, next_check_in

LAST = CheckIn(date(2026, 2, 28), 7, 40)


@pytest.mark.parametrize(
    ("last", "today", "wanted"),
    [
        (None, date(2026, 2, 28), CheckIn(date(2026, 2, 28), 1, 1)),
        (LAST, date(2026, 2, 28), LAST),
        (LAST, date(2026, 3, 1), CheckIn(date(2026, 3, 1), 8, 41)),
        (LAST, date(2026, 3, 2), CheckIn(date(2026, 3, 2), 1, 41)),
        (LAST, date(2026, 2, 27), LAST),
    ],
)
def test_days_in_a_row_make_a_streak(last: CheckIn | None, today: date, wanted: CheckIn) -> None:
    assert next_check_in(last, today) == wanted


@pytest.mark.parametrize(("day", "streak"), [(28, 7), (29, 7), (30, 0)])
def test_a_streak_stands_until_a_day_is_missed(day: int, streak: int) -> None:
    today = date(2026, 2, 28) if day == 28 else date(2026, 3, day - 28)
    assert current_streak(LAST, today) == streak
    assert current_streak(None, today) == 0
