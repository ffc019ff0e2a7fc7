"""Fee tiers and fee arithmetic (facts A2.7-03 to A2.7-18)."""

from decimal import Decimal

import pytest

from openspot.domain.fees import (
    GATEWAY_LOOKUP_VOLUME,
    TOKEN_HOLDER_MAKER_RATE,
    TOKEN_HOLDER_TAKER_RATE,
    engine_tier,
    fee_amount,
    gateway_tier,
)

GATEWAY = """
    volume      tier      maker taker
    0           Starter   20    30
    9999.99     Starter   20    30
    10000       Bronze    16    26
    49999.99    Bronze    16    26
    50000       Silver    14    24
    100000      Gold      12    22
    500000      Platinum  10    18
    1000000     Diamond   8     16
    4999999.99  Diamond   8     16
    5000000     VIP       5     10
    99000000    VIP       5     10
"""
ENGINE = """
    volume        tier    maker taker
    0             Base    15    25
    49999.99      Base    15    25
    50000         Tier-1  12    22
    500000        Tier-2  10    20
    2000000       Tier-3  8     18
    10000000      Tier-4  5     15
    50000000      Tier-5  2     12
    100000000     Tier-5  2     12
    100000000.01  VIP     -2    10
"""


def rows(table: str) -> list[tuple[Decimal, str, int, int]]:
    lines = [line.split() for line in table.strip().splitlines()[1:]]
    return [(Decimal(v), name.replace("-", " "), int(maker), int(taker)) for v, name, maker, taker in lines]


@pytest.mark.spec("A2.7-03", "A2.7-04", "A2.7-05", "A2.7-06", "A2.7-07", "A2.7-08", "A2.7-09")
@pytest.mark.parametrize("row", rows(GATEWAY))
def test_gateway_tiers(row: tuple[Decimal, str, int, int]) -> None:
    tier = gateway_tier(row[0])
    assert (tier.name, tier.maker_bps, tier.taker_bps) == row[1:]


@pytest.mark.spec("A2.7-12", "A2.7-13", "A2.7-14", "A2.7-15", "A2.7-16", "A2.7-17", "A2.7-18")
@pytest.mark.parametrize("row", rows(ENGINE))
def test_engine_tiers(row: tuple[Decimal, str, int, int]) -> None:
    tier = engine_tier(row[0])
    assert (tier.name, tier.maker_bps, tier.taker_bps) == row[1:]


@pytest.mark.spec("A2.7-19", "A2.7-20")
def test_token_holder_rates() -> None:
    assert Decimal("0.0003") == TOKEN_HOLDER_MAKER_RATE
    assert Decimal("0.0006") == TOKEN_HOLDER_TAKER_RATE


def test_the_lookup_volume_is_in_bronze() -> None:
    assert gateway_tier(GATEWAY_LOOKUP_VOLUME).name == "Bronze"


def test_fees_are_exact_and_rebates_negative() -> None:
    assert fee_amount(10**18, 25) == 25 * 10**14
    assert fee_amount(10**18, -2) == -2 * 10**14
    with pytest.raises(AssertionError):
        fee_amount(1, 25)
