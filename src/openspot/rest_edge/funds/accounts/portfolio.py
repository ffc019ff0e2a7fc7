"""The value of a portfolio over time, from the balances and prices before each point. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from openspot.domain.money import EXACT

DOLLAR = "USD"
INTERVALS = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "1w": timedelta(weeks=1)}
POINTS_MAX = 366


@dataclass(frozen=True, slots=True)
class PortfolioHolding:
    """One asset at a point of time. `price` is None if it had none yet."""

    asset: str
    balance: Decimal
    price: Decimal | None

    @property
    def value(self) -> Decimal | None:
        """US dollars, exact."""
        return None if self.price is None else EXACT.multiply(self.balance, self.price)


def points_of(start: datetime, end: datetime, interval: timedelta) -> list[datetime]:
    """The points from `end` backwards, `interval` apart, not before `start`; the oldest first."""
    points = [end]
    while points[-1] - interval >= start and len(points) < POINTS_MAX:
        points.append(points[-1] - interval)
    return points[::-1]


def carried(count: int, found: Mapping[int, Decimal]) -> list[Decimal | None]:
    """The value at each of `count` points. `found[i]` is the last value before point i and not before point i - 1."""
    values: list[Decimal | None] = []
    last: Decimal | None = None
    for index in range(count):
        last = found.get(index, last)
        values.append(last)
    return values


def holdings_at(
    index: int,
    balances: Mapping[str, Sequence[Decimal | None]],
    prices: Mapping[str, Sequence[Decimal | None]],
) -> list[PortfolioHolding]:
    """What was held at a point, by asset; assets with a balance of 0 are left out."""
    holdings = []
    for asset in sorted(balances):
        balance = balances[asset][index]
        if not balance:
            continue
        known = prices.get(asset)
        price = Decimal(1) if asset == DOLLAR else known[index] if known is not None else None
        holdings.append(PortfolioHolding(asset, balance, price))
    return holdings


def total_value(holdings: Sequence[PortfolioHolding]) -> Decimal:
    """The sum of the values that are known, exact."""
    total = Decimal(0)
    for holding in holdings:
        if holding.value is not None:
            total = EXACT.add(total, holding.value)
    return total
