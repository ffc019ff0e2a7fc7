"""Fees: the tier tables of the facts A2.7-03 to A2.7-18, and the exact amount of a fee."""

from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import BASIS_POINTS


@dataclass(frozen=True, slots=True)
class FeeTier:
    """A tier for 30-day volumes in USD from `volume_min` on. The rates are basis points."""

    name: str
    volume_min: Decimal
    maker_bps: int
    taker_bps: int


GATEWAY_TIERS = (
    FeeTier("Starter", Decimal(0), 20, 30),
    FeeTier("Bronze", Decimal(10_000), 16, 26),
    FeeTier("Silver", Decimal(50_000), 14, 24),
    FeeTier("Gold", Decimal(100_000), 12, 22),
    FeeTier("Platinum", Decimal(500_000), 10, 18),
    FeeTier("Diamond", Decimal(1_000_000), 8, 16),
    FeeTier("VIP", Decimal(5_000_000), 5, 10),
)
"""Only the fee lookup uses these tiers. No charged fee comes from them (fact A2.7-01)."""

ENGINE_TIERS = (
    FeeTier("Base", Decimal(0), 15, 25),
    FeeTier("Tier 1", Decimal(50_000), 12, 22),
    FeeTier("Tier 2", Decimal(500_000), 10, 20),
    FeeTier("Tier 3", Decimal(2_000_000), 8, 18),
    FeeTier("Tier 4", Decimal(10_000_000), 5, 15),
    FeeTier("Tier 5", Decimal(50_000_000), 2, 12),
    FeeTier("VIP", Decimal(100_000_000), -2, 10),
)
"""The engine's volume tiers (facts A2.7-12 to A2.7-18). It charges by them only if a setting says so."""

GATEWAY_LOOKUP_VOLUME = Decimal(25_000)
"""The fee lookup takes this 30-day volume for every user (fact A2.7-02)."""

TOKEN_HOLDER_MAKER_RATE = Decimal("0.0003")
TOKEN_HOLDER_TAKER_RATE = Decimal("0.0006")


def gateway_tier(volume: Decimal) -> FeeTier:
    """The gateway tier of a 30-day volume. A tier includes its lower bound."""
    return max((tier for tier in GATEWAY_TIERS if tier.volume_min <= volume), key=lambda tier: tier.volume_min)


def engine_tier(volume: Decimal) -> FeeTier:
    """The engine tier of a 30-day volume. A tier includes its lower bound, except VIP: it begins above 100M."""
    if volume == ENGINE_TIERS[-1].volume_min:
        return ENGINE_TIERS[-2]
    return max((tier for tier in ENGINE_TIERS if tier.volume_min <= volume), key=lambda tier: tier.volume_min)


def fee_amount(notional: int, fee_bps: int) -> int:
    """The fee on `notional` in amount units; negative for a rebate. It is exact because of the rules for scales."""
    fee, rest = divmod(notional * fee_bps, BASIS_POINTS)
    assert rest == 0, "a symbol's scales must leave room for basis points"
    return fee
