"""Margin figures: level, equity, required and available margin, on exact numbers."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.figures import (
    AssetBalance,
    MarginError,
    MarginFigures,
    UnpricedError,
    available_margin,
    forced_high,
    forced_low,
    judged_figures,
    leverage_error,
    margin_figures,
    required_margin,
    secured_figures,
)
from tests.support.marks import mark, marks_of

UNIT = AMOUNT_SCALE
MARKS = marks_of(USDT=UNIT, BTC=20_000 * UNIT)


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
    figures = margin_figures({"USDT": AssetBalance(held, owed)}, marks_of(USDT=UNIT))
    assert figures.level is not None
    assert figures.must_liquidate == (figures.level * 100 <= 105 * UNIT)
    assert figures.is_at_risk == (figures.level * 100 <= 150 * UNIT)


def test_a_level_a_hair_above_105_percent_is_not_shown_as_105_percent() -> None:
    figures = margin_figures({"USDT": AssetBalance(held=105 * 10**20 + 1, owed=10**22)}, marks_of(USDT=UNIT))
    assert not figures.must_liquidate
    assert figures.level == 105 * UNIT // 100 + 1


def test_an_account_with_an_unpriced_asset_is_not_judged() -> None:
    balances = {"BTC": AssetBalance(held=1), "ETH": AssetBalance(owed=1), "SOL": AssetBalance()}
    with pytest.raises(UnpricedError, match="no mark price for BTC, ETH") as error:
        margin_figures(balances, marks_of(USDT=UNIT))
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


def test_new_risk_counts_at_the_median_of_the_day_where_that_is_the_careful_side() -> None:
    balances = {"BTC": AssetBalance(held=3, owed=2)}
    for price, median, assets, debt in ((130, 100, 300, 260), (80, 100, 240, 200), (80, 0, 240, 160)):
        figures = secured_figures(balances, {"BTC": mark(price, day_median=median)})
        assert (figures.assets, figures.debt) == (assets, debt)
        level = margin_figures(balances, {"BTC": mark(price, day_median=median)})
        assert (level.assets, level.debt) == (3 * price, 2 * price)


@pytest.mark.parametrize(
    ("owed", "price", "is_confirmed", "assets", "is_liquidated"),
    [
        # Owing 81, an account is liquidated at 85: that far a price that is made here is believed.
        (81, 85, False, 85, True),
        (81, 70, False, 85, True),
        # Owing 80, it would be liquidated at 84. So it is not, until something outside confirms the price.
        (80, 84, False, 85, False),
        (80, 70, False, 85, False),
        (80, 84, True, 84, True),
        # A price that liquidates nobody is not looked at twice.
        (60, 70, False, 70, False),
    ],
)
def test_a_price_that_nothing_outside_confirms_liquidates_nobody_far_from_the_median_of_the_day(
    owed: int, price: int, *, is_confirmed: bool, assets: int, is_liquidated: bool
) -> None:
    balances = {"BTC": AssetBalance(held=1), "USDT": AssetBalance(owed=owed)}
    btc = replace(mark(price, day_median=100), is_confirmed=is_confirmed)
    figures = judged_figures(balances, {"BTC": btc, "USDT": mark(1)})
    assert figures is not None
    assert (figures.assets, figures.debt, figures.must_liquidate) == (assets, owed, is_liquidated)


@pytest.mark.parametrize(
    ("price", "is_confirmed", "debt", "is_liquidated"),
    [(128, False, 115, False), (128, True, 128, True), (110, False, 110, False)],
)
def test_shorts_are_judged_alike(price: int, *, is_confirmed: bool, debt: int, is_liquidated: bool) -> None:
    balances = {"BTC": AssetBalance(owed=1), "USDT": AssetBalance(held=130)}
    btc = replace(mark(price, day_median=100), is_confirmed=is_confirmed)
    figures = judged_figures(balances, {"BTC": btc, "USDT": mark(1)})
    assert figures is not None
    assert (figures.debt, figures.must_liquidate) == (debt, is_liquidated)


def test_all_debts_count_where_one_of_the_prices_is_not_sure() -> None:
    account = {"BTC": AssetBalance(held=1), "ETH": AssetBalance(owed=3), "SOL": AssetBalance(owed=8)}
    marks = {"BTC": mark(100), "ETH": mark(20), "SOL": mark(10, state=PriceState.DISPUTED)}
    # At best SOL is worth half of its median: 3 · 20 + 8 · 5 are owed.
    for balances in (account, dict(reversed(account.items()))):
        assert judged_figures(balances, marks) == MarginFigures(assets=100, debt=100)
    marks["BTC"] = mark(106)
    assert judged_figures(account, marks) is None


def test_the_smallest_debt_without_assets_is_liquidated_and_no_debt_is_not() -> None:
    assert MarginFigures(assets=0, debt=1).must_liquidate
    assert not MarginFigures(assets=0, debt=0).must_liquidate


def test_how_far_a_price_is_believed_is_rounded_for_the_account_to_the_last_unit() -> None:
    made = mark(7 * UNIT, day_median=1_234_567_890_123_456_789)
    assert forced_high(made, made.high) == 1_419_753_073_641_975_307
    made = mark(1, day_median=1_234_567_890_123_456_789)
    assert forced_low(made, made.low) == 1_049_382_706_604_938_271


def test_where_no_median_is_known_the_price_decides() -> None:
    long = {"BTC": AssetBalance(held=1), "USDT": AssetBalance(owed=80)}
    short = {"BTC": AssetBalance(owed=1), "USDT": AssetBalance(held=130)}
    for balances, price in ((long, 70), (short, 128)):
        figures = judged_figures(balances, {"BTC": mark(price, day_median=0), "USDT": mark(1)})
        assert figures is not None
        assert figures.must_liquidate
