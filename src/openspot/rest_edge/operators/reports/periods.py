"""The time that a report is about, and how its figures are put together. Pure."""

from collections.abc import Iterable
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

DAYS_MAX = 366
MONTHS_DAYS_MAX = 3660


class Period(StrEnum):
    """What one row of a report stands for."""

    DAY = "day"
    MONTH = "month"


class PeriodError(ValueError):
    """The time is not one that a report can be about. The message names the parameter and says why."""


class Span(NamedTuple):
    """The days from `since` to `until`, both included, by day or month."""

    since: date
    until: date
    by: Period

    def period_of(self, day: date) -> str:
        """The period that a day belongs to: 2026-01-31 or 2026-01."""
        return day.isoformat() if self.by is Period.DAY else day.isoformat()[:7]

    def periods_without(self, days: Iterable[date], *, is_at_end: bool) -> list[str]:
        """The periods that cannot be told while `days` have no figures: those that have one of them.

        With `is_at_end` only the last day of a period that is in the span counts.
        """
        found = set()
        for day in days:
            last = day == self.until or self.period_of(day) != self.period_of(day + timedelta(days=1))
            if last or not is_at_end:
                found.add(self.period_of(day))
        return sorted(found)


def checked_span(since: date, until: date, by: Period) -> Span:
    """A span of a bounded length. Raises PeriodError."""
    if until < since:
        raise PeriodError("to must not be before from")
    longest = DAYS_MAX if by is Period.DAY else MONTHS_DAYS_MAX
    if (until - since).days >= longest:
        raise PeriodError(f"to must be less than {longest} days after from, by {by}")
    return Span(since, until, by)
