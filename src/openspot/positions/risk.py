"""Risk figures of a participant: exposure, concentration, value at risk.

All values are in one reporting currency, at 18 places, and signed: a short position has a negative value.

Value at risk is parametric: if daily returns are normally distributed, it is the loss that is exceeded on one day of
twenty,

    VaR = 1.645 · √(wᵀ Σ w),

where w has the values of the positions, and Σ is the sample covariance (divisor n − 1) of their simple daily returns
close(d) / close(d − 1) − 1. The product wᵀ Σ w is the sample variance of the daily result Σ w·r, so the code computes
that variance and no matrix. A day counts if every asset has a close on it and on the day before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal

from openspot.domain.money import AMOUNT_PLACES

VAR_QUANTILE = Decimal("1.645")
"""The 95 % quantile of the standard normal distribution, as commonly rounded."""

RETURNS_MIN = 30
"""With fewer common daily returns than this there is no value at risk."""

RATIO_PLACES = Decimal("1e-8")
"""Concentrations are rounded half to even at 8 places."""

# Values have up to 38 digits, and returns are rounded at 60. So 18 places of the result are exact.
_PRECISION = Context(prec=60, rounding=ROUND_HALF_EVEN)
_AMOUNT_PLACE = Decimal(1).scaleb(-AMOUNT_PLACES)


@dataclass(frozen=True, slots=True)
class Exposure:
    """Exposure at the mark prices, in the reporting currency at 18 places.

    `unpriced` names positions that no sum includes, because they have no mark price.
    """

    values: dict[str, int]
    unpriced: tuple[str, ...]

    @property
    def long(self) -> int:
        """Sum of the values above zero."""
        return sum(value for value in self.values.values() if value > 0)

    @property
    def short(self) -> int:
        """Sum of the values below zero, without sign."""
        return -sum(value for value in self.values.values() if value < 0)

    @property
    def gross(self) -> int:
        """Long plus short."""
        return self.long + self.short

    @property
    def net(self) -> int:
        """Long less short."""
        return self.long - self.short


@dataclass(frozen=True, slots=True)
class Concentration:
    """The concentration of the gross exposure on few positions.

    `herfindahl` is the sum of the squared shares: 1 for one position, 1/n for n equal ones.
    """

    herfindahl: Decimal
    largest: str
    largest_share: Decimal


def exposure(values: Mapping[str, int | None]) -> Exposure:
    """The exposure of these open positions. A value is None if the position has no mark price."""
    priced = {name: value for name, value in sorted(values.items()) if value is not None}
    return Exposure(priced, tuple(sorted(name for name, value in values.items() if value is None)))


def concentration(values: Mapping[str, int]) -> Concentration | None:
    """The concentration of the gross exposure; None if the exposure is zero."""
    gross = sum(abs(value) for value in values.values())
    if not gross:
        return None
    largest = min(values, key=lambda name: (-abs(values[name]), name))
    squares = sum(value * value for value in values.values())
    return Concentration(_ratio(squares, gross * gross), largest, _ratio(abs(values[largest]), gross))


def daily_returns(closes: Mapping[str, Mapping[date, Decimal]]) -> dict[str, list[Decimal]]:
    """Simple daily returns of each asset on the days that count, oldest first, rounded at 60 digits.

    Raises ValueError if a close is not above zero.
    """
    for name, series in closes.items():
        for day, close in series.items():
            if not close.is_finite() or close <= 0:
                raise ValueError(f"close of {name} on {day.isoformat()} must be above zero")
    common = set.intersection(*(set(series) for series in closes.values())) if closes else set()
    days = sorted(day for day in common if day - timedelta(days=1) in common)
    return {
        name: [
            _PRECISION.subtract(_PRECISION.divide(series[day], series[day - timedelta(days=1)]), Decimal(1))
            for day in days
        ]
        for name, series in closes.items()
    }


def value_at_risk(values: Mapping[str, int], closes: Mapping[str, Mapping[date, Decimal]]) -> Decimal | None:
    """One-day value at risk at 95 % in the reporting currency, rounded half to even at 18 places.

    `values` are at 18 places. `closes` has the daily closes of each position's asset in the reporting currency.
    Returns None if a position has no closes, or if there are fewer than RETURNS_MIN common returns.
    """
    held = {name: value for name, value in values.items() if value}
    if not held:
        return Decimal(0)
    if any(name not in closes for name in held):
        return None
    returns = daily_returns({name: closes[name] for name in held})
    count = min(len(series) for series in returns.values())
    if count < RETURNS_MIN:
        return None
    results = [
        _sum([_PRECISION.multiply(Decimal(value), returns[name][index]) for name, value in held.items()])
        for index in range(count)
    ]
    deviation = _PRECISION.sqrt(_sample_variance(results)).scaleb(-AMOUNT_PLACES, context=_PRECISION)
    return _PRECISION.multiply(VAR_QUANTILE, deviation).quantize(_AMOUNT_PLACE, context=_PRECISION)


def _sample_variance(results: Sequence[Decimal]) -> Decimal:
    mean = _PRECISION.divide(_sum(results), Decimal(len(results)))
    squares = []
    for result in results:
        difference = _PRECISION.subtract(result, mean)
        squares.append(_PRECISION.multiply(difference, difference))
    return _PRECISION.divide(_sum(squares), Decimal(len(results) - 1))


def _sum(terms: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for term in terms:
        total = _PRECISION.add(total, term)
    return total


def _ratio(part: int, whole: int) -> Decimal:
    return _PRECISION.divide(Decimal(part), Decimal(whole)).quantize(RATIO_PLACES, context=_PRECISION)
