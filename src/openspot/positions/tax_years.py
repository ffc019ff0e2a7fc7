"""Realised gains per tax year.

A disposal belongs to the tax year of its UTC date. The reader's law says on which day a tax year begins: on 1 January
in Ireland and the United States, on 6 April in the United Kingdom.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple

from openspot.kit.clock import datetime_from_ms
from openspot.positions.times import milliseconds_of


@dataclass(frozen=True, slots=True)
class TaxYearStart:
    """The first day of a tax year. Raises ValueError for a day that not every year has."""

    month: int = 1
    day: int = 1

    def __post_init__(self) -> None:
        # 2001 is not a leap year, so this refuses 29 February.
        date(2001, self.month, self.day)

    def begin_of(self, year: int) -> int:
        """The beginning of the tax year that begins in the calendar year `year`, in milliseconds since 1970."""
        return milliseconds_of(datetime(year, self.month, self.day, tzinfo=UTC))

    def year_of(self, timestamp: int) -> int:
        """The calendar year in which the tax year of `timestamp` (milliseconds since 1970, UTC) began."""
        time = datetime_from_ms(timestamp)
        return time.year - ((time.month, time.day) < (self.month, self.day))


@dataclass(frozen=True, slots=True)
class YearlyGain:
    """The sums over the disposals of one asset in one tax year, at 18 places."""

    tax_year: int
    asset: str
    disposals: int
    quantity: int
    proceeds: int
    cost: int

    @property
    def gain(self) -> int:
        """The realised gain of the year. A negative one is a loss."""
        return self.proceeds - self.cost


class GainSum(NamedTuple):
    """The sums over disposals of one asset at one time, or on one UTC day. `timestamp` is in ms since 1970."""

    timestamp: int
    asset: str
    disposals: int
    quantity: int
    proceeds: int
    cost: int


def gains_by_tax_year(sums: Iterable[GainSum], start: TaxYearStart | None = None) -> list[YearlyGain]:
    """The sums of each tax year and asset, in this order. `start` is 1 January by default."""
    start = start or TaxYearStart()
    totals: dict[tuple[int, str], list[int]] = {}
    for part in sums:
        total = totals.setdefault((start.year_of(part.timestamp), part.asset), [0, 0, 0, 0])
        total[0] += part.disposals
        total[1] += part.quantity
        total[2] += part.proceeds
        total[3] += part.cost
    return [YearlyGain(year, asset, *total) for (year, asset), total in sorted(totals.items())]
