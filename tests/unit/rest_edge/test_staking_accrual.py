"""Rewards: exact to the last unit over any number of days."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.market import load_markets
from openspot.domain.offers import EarlyRedemption
from openspot.rest_edge.common.configuration import ConfigurationError, read_configuration
from openspot.rest_edge.products.staking.accrual import DAYS_A_YEAR, DENOMINATOR, accruals, accrue, first_day
from openspot.rest_edge.products.staking.products import RATE_SCALE, products_of

DAY = date(2026, 1, 1)
ASSETS = load_markets().assets


def total(amount: int, rate: int, days: int) -> int:
    return sum(each.reward for each in accruals(DAY, DAY + timedelta(days=days), None, amount, rate, 0))


@given(st.integers(0, 10**25), st.integers(0, 10 * RATE_SCALE), st.integers(0, 800))
def test_the_sum_of_daily_rewards_is_the_closed_formula_to_the_last_digit(amount: int, rate: int, days: int) -> None:
    assert total(amount, rate, days) == amount * rate * days // DENOMINATOR


def test_a_years_rewards_are_the_yearly_rate_of_the_amount() -> None:
    # 0.01 BTC at 1 %: a day's reward floored on its own would pay 9,855 satoshi.
    assert total(1_000_000, 10_000, DAYS_A_YEAR) == 10_000
    assert DAYS_A_YEAR * accrue(DAY, 1_000_000, 10_000, 0).reward == 9_855


@given(st.integers(1, 10**20), st.integers(1, 10**20), st.integers(1, RATE_SCALE), st.integers(1, RATE_SCALE))
def test_the_remainder_survives_a_change_of_the_amount_and_of_the_rate(p: int, q: int, r: int, s: int) -> None:
    first = list(accruals(DAY, DAY + timedelta(days=100), None, p, r, 0))
    then = list(accruals(DAY, DAY + timedelta(days=265), None, q, s, first[-1].remainder))
    paid = sum(each.reward for each in first + then)
    assert paid == (p * r * 100 + q * s * 265) // DENOMINATOR


def test_days_accrue_when_they_are_over_and_before_the_end() -> None:
    def days(today: date, ends_on: date | None) -> list[int]:
        return [each.day.day for each in accruals(DAY, today, ends_on, 1, 1, 0)]

    assert days(DAY, None) == []
    assert days(DAY + timedelta(days=2), None) == [1, 2]
    assert days(DAY + timedelta(days=9), DAY + timedelta(days=3)) == [1, 2, 3]


def test_a_stake_earns_from_the_next_midnight_in_utc() -> None:
    assert first_day(datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)) == date(2026, 3, 1)
    assert first_day(datetime(2026, 3, 1, tzinfo=UTC)) == date(2026, 3, 2)


# Products


ROW = {"asset": "ETH", "type": "locked", "apr": "0.035", "lock_days": 30, "unbonding_days": 3, "minimum": "0.01",
       "maximum": "10", "capacity": "100", "early_redemption": "forfeits_rewards"}  # fmt: skip


def test_the_products_of_the_package_are_valid_and_of_both_types() -> None:
    products = products_of(read_configuration("", "staking.toml"), ASSETS)
    assert {product.type.value for product in products.values()} == {"flexible", "locked"}
    assert {product.early_redemption for product in products.values()} == set(EarlyRedemption)


@pytest.mark.parametrize(
    "change",
    [
        {"asset": "DOGE"}, {"type": "forever"}, {"apr": "0.0000001"}, {"apr": "-1"}, {"apr": "11"}, {"lock_days": 0},
        {"unbonding_days": -1}, {"minimum": "0"}, {"minimum": "11"}, {"minimum": "1e-19"}, {"surprise": 1},
        {"early_redemption": "perhaps"}, {"type": "flexible"},
    ],
)  # fmt: skip
def test_a_product_that_is_not_valid_is_refused_by_name(change: dict[str, object]) -> None:
    assert products_of({"products": {"p": ROW}}, ASSETS)["p"].rate_ppm == 35_000
    with pytest.raises(ConfigurationError, match="staking product p: "):
        products_of({"products": {"p": ROW | change}}, ASSETS)


def test_a_configuration_file_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"/nowhere/x\.toml cannot be read"):
        read_configuration("/nowhere/x.toml", "staking.toml")


def test_the_edges_of_a_products_figures_are_themselves_allowed() -> None:
    row = ROW | {"minimum": "10", "maximum": "10", "apr": "10"}
    product = products_of({"products": {"p": row}}, ASSETS)["p"]
    assert (product.minimum, product.maximum, product.rate_ppm) == (10 * 10**18, 10 * 10**18, 10 * RATE_SCALE)
    assert products_of({"products": {"p": ROW | {"apr": "0"}}}, ASSETS)["p"].rate_ppm == 0
    for change in (
        {"apr": "10.000001"},
        {"apr": "-0.000001"},
        {"minimum": "10.1"},
        {"minimum": "0"},
        {"asset": "BTC", "capacity": "100.000000001"},
        {"lock_days": 0},
        {"lock_days": 3651},
        {"unbonding_days": -1},
        {"unbonding_days": 3651},
    ):
        with pytest.raises(ConfigurationError, match="staking product p: "):
            products_of({"products": {"p": ROW | change}}, ASSETS)
