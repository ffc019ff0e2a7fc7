"""Rewards, exact: rules without IO.

A year has 365 days, always. A day's reward is a whole number of the asset's smallest units; what is left over is
carried to the next day. So the rewards of n days on an unchanged amount P at the rate r are floor(P * r * n / 365): the
sum of a year's rewards is floor(P * r), to the last digit (background "Staking").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from openspot.rest_edge.products.staking.products import RATE_SCALE

DAYS_A_YEAR = 365
DENOMINATOR = DAYS_A_YEAR * RATE_SCALE
"""The remainder counts parts of a smallest unit of this size. It does not depend on the rate, so a remainder keeps its
meaning when the rate or the amount changes."""


@dataclass(frozen=True, slots=True)
class Accrual:
    """A day's reward in smallest units, and the remainder after it."""

    day: date
    reward: int
    remainder: int


def accrue(day: date, amount: int, rate_ppm: int, remainder: int) -> Accrual:
    """The reward of one day on `amount`, in the asset's smallest units."""
    reward, rest = divmod(amount * rate_ppm + remainder, DENOMINATOR)
    return Accrual(day, reward, rest)


def accruals(
    first: date, today: date, ends_on: date | None, amount: int, rate_ppm: int, remainder: int
) -> Iterator[Accrual]:
    """The accruals from `first` on of all days that are over, and before the end of a locked stake."""
    last = today if ends_on is None else min(today, ends_on)
    while first < last:
        accrual = accrue(first, amount, rate_ppm, remainder)
        remainder = accrual.remainder
        yield accrual
        first += timedelta(days=1)


def first_day(staked_at: datetime) -> date:
    """The first day that earns: the one that begins at the next midnight, UTC."""
    return staked_at.astimezone(UTC).date() + timedelta(days=1)


def midnight(day: date) -> datetime:
    """When a day begins, UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
