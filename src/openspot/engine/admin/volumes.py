"""The trading volume of participants over thirty days, and their fee tier (facts A2.7-12 to A2.7-18).

The window is the current UTC day and the twenty-nine days before. A trade counts for both participants, unless one user
owns both. Volumes are exact sums in the quote currencies; they are converted to USD to determine a tier.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from openspot.domain.fees import ENGINE_TIERS, FeeTier, engine_tier
from openspot.domain.money import AMOUNT_SCALE

WINDOW_DAYS = 30
USD = "USD"
STABLE = ("USDT", "USDC")
"""Each counts as one dollar until a trade gives it another price."""


class VolumeKey(NamedTuple):
    """The key of a volume. `day` counts days since 1970, `currency` is the quote currency."""

    account: int
    day: int
    currency: str


class VolumeBook:
    """Volumes by account, day and currency, in amount units."""

    def __init__(self) -> None:
        self._volumes: dict[int, dict[tuple[int, str], int]] = {}

    def add(self, key: VolumeKey, amount: int) -> int:
        """Add to a volume and return its new value."""
        account, day, currency = key
        days = self._volumes.setdefault(account, {})
        days[day, currency] = total = days.get((day, currency), 0) + amount
        return total

    def accounts(self) -> list[int]:
        """The accounts that have a volume."""
        return list(self._volumes)

    def forget_before(self, day: int) -> None:
        """Forget the volumes of earlier days."""
        for account, days in list(self._volumes.items()):
            kept = {(kept_day, currency): amount for (kept_day, currency), amount in days.items() if kept_day >= day}
            if kept:
                self._volumes[account] = kept
            else:
                del self._volumes[account]

    def value(self, account: int, rates: Mapping[str, Decimal]) -> Decimal:
        """The volume of an account in USD. Currencies without a rate count as zero."""
        days = self._volumes.get(account, {})
        return sum(
            (rates.get(currency, Decimal(0)) * amount / AMOUNT_SCALE for (_, currency), amount in days.items()),
            Decimal(0),
        )


def tier_above_base(volume: Decimal) -> FeeTier | None:
    """The tier of a volume in USD; None for Base, in which the fees of the symbol apply."""
    tier = engine_tier(volume)
    return None if tier is ENGINE_TIERS[0] else tier


def weighted_median(trades: Iterable[tuple[int, int]]) -> int | None:
    """The price at or below which half of the quantity of `trades` (price, quantity) was traded; None without any.

    To move it, somebody must trade more than everybody else together; one print does nothing.
    """
    ordered = sorted(trades)
    half, below = sum(quantity for _, quantity in ordered), 0
    for price, quantity in ordered:
        below += quantity
        if 2 * below >= half:
            return price
    return None


def usd_rates(usual_prices: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """The value of one unit of each currency in USD, from the usual prices of symbols.

    A currency that does not trade against USD is valued through one that trades against both.
    """
    rates = {currency: Decimal(1) for currency in (USD, *STABLE)}
    pairs = {tuple(symbol.split("-")): price for symbol, price in usual_prices.items() if price > 0}
    rates |= {base: price for (base, quote), price in pairs.items() if quote == USD}
    for (base, quote), price in sorted(pairs.items()):
        if quote not in rates and base in rates:
            rates[quote] = rates[base] / price
    return rates
