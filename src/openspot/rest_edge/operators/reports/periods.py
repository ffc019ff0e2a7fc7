"""The time that a report is about, and how its figures are put together. Pure."""

from datetime import date
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


def checked_span(since: date, until: date, by: Period) -> Span:
    """A span of a bounded length. Raises PeriodError."""
    if until < since:
        raise PeriodError("to must not be before from")
    longest = DAYS_MAX if by is Period.DAY else MONTHS_DAYS_MAX
    if (until - since).days >= longest:
        raise PeriodError(f"to must be less than {longest} days after from, by {by}")
    return Span(since, until, by)
