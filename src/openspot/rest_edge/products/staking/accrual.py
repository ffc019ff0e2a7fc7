"""Rewards, exact: rules without IO.

A year always has 365 days. A day's reward is a whole number of the asset's smallest units, and the remainder is carried
to the next day. So the rewards of n days on an unchanged amount P at the rate r are floor(P * r * n / 365). A year's
rewards are floor(P * r), to the last digit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from openspot.rest_edge.products.staking.products import RATE_SCALE

DAYS_A_YEAR = 365
DENOMINATOR = DAYS_A_YEAR * RATE_SCALE
"""The remainder counts fractions of a smallest unit, with this denominator.

It does not depend on the rate. So a remainder keeps its meaning when the rate or the amount changes.
"""


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
    """The accruals from `first` on, of all days that are over and lie before the end of a locked stake."""
    last = today if ends_on is None else min(today, ends_on)
    while first < last:
        accrual = accrue(first, amount, rate_ppm, remainder)
        remainder = accrual.remainder
        yield accrual
        first += timedelta(days=1)


def first_day(staked_at: datetime) -> date:
    """The first day with a reward. It begins at the next midnight, UTC."""
    return staked_at.astimezone(UTC).date() + timedelta(days=1)


def midnight(day: date) -> datetime:
    """The time at which a day begins, UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
