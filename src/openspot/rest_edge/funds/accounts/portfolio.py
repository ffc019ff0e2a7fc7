"""The value of a portfolio over time, by the last balances and prices before each point in time. Pure."""

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
    """One asset at a point in time. `price` is None if there was no trade yet."""

    asset: str
    balance: Decimal
    price: Decimal | None

    @property
    def value(self) -> Decimal | None:
        """The exact value in US dollars, None without a price."""
        return None if self.price is None else EXACT.multiply(self.balance, self.price)


def points_of(start: datetime, end: datetime, interval: timedelta) -> list[datetime]:
    """The points in time, oldest first. They go from `end` back to `start` at the latest, `interval` apart."""
    points = [end]
    while points[-1] - interval >= start and len(points) < POINTS_MAX:
        points.append(points[-1] - interval)
    return points[::-1]


def holdings_at(
    index: int,
    balances: Mapping[str, Sequence[Decimal | None]],
    prices: Mapping[str, Sequence[Decimal | None]],
) -> list[PortfolioHolding]:
    """The holdings at a point, by asset. Assets with a balance of 0 are left out."""
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
    """The exact sum of the known values."""
    total = Decimal(0)
    for holding in holdings:
        if holding.value is not None:
            total = EXACT.add(total, holding.value)
    return total
