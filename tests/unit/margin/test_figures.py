"""Margin figures: level, equity, required and available margin, on exact numbers."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.figures import (
    AssetBalance,
    MarginError,
    UnpricedError,
    available_margin,
    leverage_error,
    margin_figures,
    required_margin,
)

UNIT = AMOUNT_SCALE
MARKS = {"USDT": UNIT, "BTC": 20_000 * UNIT}


def account(**amounts: int) -> dict[str, AssetBalance]:
    """Balances of an account that holds `usdt` and `btc` thousandths and owes `usdt_owed` and `btc_owed`."""
    milli = UNIT // 1000
    return {
        name: AssetBalance(amounts.get(name.lower(), 0) * milli, amounts.get(f"{name.lower()}_owed", 0) * milli)
        for name in ("USDT", "BTC")
    }


def test_the_level_is_assets_over_debt_with_interest() -> None:
    balances = {"BTC": AssetBalance(held=UNIT), "USDT": AssetBalance(owed=9_000 * UNIT, interest=1_000 * UNIT)}
    figures = margin_figures(balances, MARKS)
    assert figures.level == 2 * UNIT
    assert figures.equity == 10_000 * UNIT
    assert figures.debt_amount == 10_000 * UNIT


def test_without_debt_there_is_no_level_and_no_risk() -> None:
    figures = margin_figures(account(usdt=1), MARKS)
    assert figures.level is None
    assert not figures.is_at_risk
    assert not figures.must_liquidate


def test_an_empty_account_has_no_level_and_no_equity() -> None:
    figures = margin_figures({}, {})
    assert (figures.level, figures.equity) == (None, 0)


@pytest.mark.spec("A8-17")
@pytest.mark.parametrize(("held", "at_risk"), [(1_500_001, False), (1_500_000, True), (1_499_999, True)])
def test_a_level_at_or_below_150_percent_is_at_risk(held: int, at_risk: bool) -> None:
    assert margin_figures(account(usdt=held, usdt_owed=1_000_000), MARKS).is_at_risk is at_risk


@pytest.mark.spec("A8-16")
@pytest.mark.parametrize(("held", "liquidated"), [(1_050_001, False), (1_050_000, True), (1_049_999, True)])
def test_a_level_at_or_below_105_percent_is_liquidated(held: int, liquidated: bool) -> None:
    assert margin_figures(account(usdt=held, usdt_owed=1_000_000), MARKS).must_liquidate is liquidated


@given(st.integers(0, 10**30), st.integers(1, 10**30))
def test_the_shown_level_says_the_same_as_the_exact_one(held: int, owed: int) -> None:
    figures = margin_figures({"USDT": AssetBalance(held, owed)}, {"USDT": UNIT})
    assert figures.level is not None
    assert figures.must_liquidate == (figures.level * 100 <= 105 * UNIT)
    assert figures.is_at_risk == (figures.level * 100 <= 150 * UNIT)


def test_a_level_a_hair_above_105_percent_is_not_shown_as_105_percent() -> None:
    figures = margin_figures({"USDT": AssetBalance(held=105 * 10**20 + 1, owed=10**22)}, {"USDT": UNIT})
    assert not figures.must_liquidate
    assert figures.level == 105 * UNIT // 100 + 1


def test_an_account_with_an_unpriced_asset_is_not_judged() -> None:
    balances = {"BTC": AssetBalance(held=1), "ETH": AssetBalance(owed=1), "SOL": AssetBalance()}
    with pytest.raises(UnpricedError, match="no mark price for BTC, ETH") as error:
        margin_figures(balances, {"USDT": UNIT})
    assert error.value.assets == ("BTC", "ETH")


@pytest.mark.parametrize(("leverage", "margin"), [("1", 1_000), ("2", 500), ("2.5", 400), ("8", 125), ("10", 100)])
def test_required_margin_is_notional_over_leverage(leverage: str, margin: int) -> None:
    assert required_margin(1_000 * UNIT, Decimal(leverage)) == margin * UNIT


def test_required_margin_is_rounded_up() -> None:
    assert required_margin(10, Decimal(3)) == 4


@pytest.mark.parametrize(
    "leverage", ["0", "0.99", "10.01", "11", "-1", "NaN", "Infinity", "1.001", "1." + "0" * 40 + "1", "1e50"]
)
def test_a_leverage_out_of_range_is_refused(leverage: str) -> None:
    assert leverage_error(Decimal(leverage)) is not None
    with pytest.raises(MarginError, match=r"^leverage must"):
        required_margin(UNIT, Decimal(leverage))


@pytest.mark.parametrize("leverage", ["1", "1.00", "9.99", "10", "10.000"])
def test_a_leverage_from_1_to_10_is_taken_bounds_included(leverage: str) -> None:
    assert leverage_error(Decimal(leverage)) is None


def test_available_margin_is_equity_less_what_open_positions_require() -> None:
    assert available_margin(1_000, [300, 200]) == 500
    assert available_margin(1_000, [900, 200]) == -100
