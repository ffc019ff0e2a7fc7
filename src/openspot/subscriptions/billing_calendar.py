"""The billing calendar: when periods begin and end.

Period k begins k intervals after the anchor, on the anchor's day of the month or, in a shorter month, on its last
day. It is always counted from the anchor, never from the period before, so 31 January → 28 February → 31 March
instead of drifting to the 28th. Periods are half-open UTC dates: the end of one is the start of the next.
"""

from calendar import monthrange
from datetime import UTC, date, datetime
from typing import NamedTuple


class Period(NamedTuple):
    """UTC dates: `start` is the first day, `end` is the day after the last."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.end - self.start).days

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.start <= day < self.end


def utc_date(moment: datetime) -> date:
    """The UTC date of a moment. Raises ValueError if it has no time zone."""
    if moment.tzinfo is None:
        raise ValueError("moment must know its time zone")
    return moment.astimezone(UTC).date()


def months_after(anchor: date, months: int) -> date:
    """The anchor's day, `months` months later, or the last day of that month. Raises ValueError after the year 9999."""
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    if year > date.max.year:
        raise ValueError("date lies after the year 9999")
    return date(year, month + 1, min(anchor.day, monthrange(year, month + 1)[1]))


def period_at(anchor: date, interval_months: int, index: int) -> Period:
    """Period `index` of a subscription, counted from 0. Raises ValueError for an index or interval out of range."""
    if index < 0:
        raise ValueError("index must not be negative")
    if interval_months < 1:
        raise ValueError("interval_months must be at least 1")
    return Period(months_after(anchor, index * interval_months), months_after(anchor, (index + 1) * interval_months))


def period_containing(anchor: date, interval_months: int, day: date) -> int:
    """The index of the period that contains `day`. Raises ValueError if `day` lies before the anchor."""
    if day < anchor:
        raise ValueError("day lies before the anchor")
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    index = months // interval_months
    return index if period_at(anchor, interval_months, index).start <= day else index - 1
