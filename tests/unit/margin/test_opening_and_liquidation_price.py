"""Opening a position: what is borrowed, the level it starts from, and the price at which it is liquidated."""

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance, UnpricedError, margin_figures
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.liquidation_price import liquidation_price
from openspot.margin.opening import (
    Borrowing,
    OpeningRequest,
    RefusalReason,
    balances_after,
    borrowing,
    check_margin,
)

UNIT = AMOUNT_SCALE
MARKS = {"USDT": UNIT, "BTC": 20_000 * UNIT, "ETH": 1_000 * UNIT}
THOUSAND = {"USDT": AssetBalance(held=1_000 * UNIT)}


def opening(side: Side, leverage: str, notional: int) -> OpeningRequest:
    """A request for `notional` whole USDT of BTC at 20,000."""
    return OpeningRequest("BTC", "USDT", side, notional * UNIT // 20_000, Decimal(leverage))


def percent(numerator: int, denominator: int) -> Decimal:
    """A ratio in percent with one place."""
    return (Decimal(100 * numerator) / denominator).quantize(Decimal("0.1"), ROUND_HALF_EVEN)


@pytest.mark.parametrize(
    ("side", "leverage", "level", "adverse_move"),
    [
        (Side.BUY, 2, "200.0", "47.5"),
        (Side.BUY, 3, "150.0", "30.0"),
        (Side.BUY, 5, "125.0", "16.0"),
        (Side.BUY, 10, "111.1", "5.5"),
        (Side.SELL, 2, "150.0", "42.9"),
        (Side.SELL, 3, "133.3", "27.0"),
        (Side.SELL, 5, "120.0", "14.3"),
        (Side.SELL, 10, "110.0", "4.8"),
    ],
)
def test_the_table_of_levels_at_opening_and_adverse_moves_to_105_percent(
    side: Side, leverage: int, level: str, adverse_move: str
) -> None:
    """1,000 USDT used whole, BTC at 20,000."""
    request = opening(side, str(leverage), 1_000 * leverage)
    after = balances_after(request, MARKS["BTC"], THOUSAND)
    found = margin_figures(after, MARKS).level
    assert found is not None
    assert percent(found, UNIT) == Decimal(level)
    price = liquidation_price(after, MARKS, "BTC", "USDT")
    assert price is not None
    assert percent(abs(price - MARKS["BTC"]), MARKS["BTC"]) == Decimal(adverse_move)


@pytest.mark.parametrize(("side", "price"), [(Side.BUY, "16800.00"), (Side.SELL, "22857.14")])
def test_the_worked_liquidation_prices_of_five_times_leverage(side: Side, price: str) -> None:
    after = balances_after(opening(side, "5", 5_000), MARKS["BTC"], THOUSAND)
    found = liquidation_price(after, MARKS, "BTC", "USDT")
    assert found is not None
    assert Decimal(found).scaleb(-18).quantize(Decimal("0.01")) == Decimal(price)


def test_a_long_borrows_what_its_own_margin_does_not_pay() -> None:
    request = opening(Side.BUY, "5", 5_000)
    assert borrowing(request, MARKS["BTC"], 1_000 * UNIT) == Borrowing("USDT", 4_000 * UNIT)
    assert borrowing(request, MARKS["BTC"], 300 * UNIT) == Borrowing("USDT", 4_700 * UNIT)
    assert borrowing(request, MARKS["BTC"], 0) == Borrowing("USDT", 5_000 * UNIT)
    assert borrowing(opening(Side.BUY, "1", 1_000), MARKS["BTC"], 1_000 * UNIT) == Borrowing("USDT", 0)


def test_a_short_borrows_the_whole_quantity() -> None:
    assert borrowing(opening(Side.SELL, "5", 5_000), MARKS["BTC"], 0) == Borrowing("BTC", UNIT // 4)


def test_an_approved_check_tells_margins_and_liquidation_price() -> None:
    decision = check_margin(opening(Side.BUY, "5", 2_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [100 * UNIT])
    assert decision.approved
    assert (decision.required_margin, decision.available_margin) == (400 * UNIT, 900 * UNIT)
    # 1,600 borrowed, 0.1 BTC and 600 USDT held: (1.05 · 1,600 − 600) / 0.1.
    assert decision.liquidation_price == 10_800 * UNIT


def test_margin_may_be_used_to_the_last_unit() -> None:
    assert check_margin(opening(Side.BUY, "5", 5_000), AccountStatus.ACTIVE, THOUSAND, MARKS, []).approved
    refused = check_margin(opening(Side.BUY, "5", 5_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [1])
    assert refused.reason is RefusalReason.INSUFFICIENT_MARGIN


@pytest.mark.spec("A8-15")
@pytest.mark.parametrize(("leverage", "approved"), [("10", True), ("10.01", False), ("11", False)])
def test_leverage_above_10_is_not_approved(leverage: str, approved: bool) -> None:
    decision = check_margin(opening(Side.BUY, leverage, 1_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [])
    assert decision.approved is approved
    assert decision.reason is (None if approved else RefusalReason.INVALID_LEVERAGE)


def test_a_check_is_refused_with_a_reason() -> None:
    request = opening(Side.BUY, "5", 1_000)
    active = AccountStatus.ACTIVE
    for quantity in (0, -1, 10**37 + 1):
        decision = check_margin(request._replace(quantity=quantity), active, THOUSAND, MARKS, [])
        assert decision.reason is RefusalReason.INVALID_QUANTITY
    for status in (AccountStatus.LIQUIDATING, AccountStatus.CLOSED):
        assert check_margin(request, status, THOUSAND, MARKS, []).reason is RefusalReason.ACCOUNT_NOT_ACTIVE
    no_mark = check_margin(request, active, THOUSAND, {"USDT": UNIT}, [])
    assert (no_mark.reason, no_mark.detail) == (RefusalReason.NO_MARK_PRICE, "no mark price for BTC")
    holds_unpriced = {**THOUSAND, "SOL": AssetBalance(held=1)}
    assert check_margin(request, active, holds_unpriced, MARKS, []).reason is RefusalReason.NO_MARK_PRICE


def test_an_opening_that_would_be_liquidated_at_once_is_refused() -> None:
    """A loan without a position has taken the level to 106.7 % already; margin for the position itself is there."""
    balances = {"USDT": AssetBalance(held=3_200 * UNIT, owed=3_000 * UNIT)}
    decision = check_margin(opening(Side.BUY, "10", 2_000), AccountStatus.ACTIVE, balances, MARKS, [])
    assert decision.reason is RefusalReason.WOULD_BE_LIQUIDATED
    assert not decision.approved


def test_liquidation_prices_are_none_where_no_price_leads_there() -> None:
    without_debt = {"BTC": AssetBalance(held=UNIT), "USDT": AssetBalance(held=UNIT)}
    assert liquidation_price(without_debt, MARKS, "BTC", "USDT") is None
    debt_below_other_assets = {
        "BTC": AssetBalance(held=UNIT),
        "USDT": AssetBalance(held=2_100 * UNIT, owed=1_000 * UNIT),
    }
    assert liquidation_price(debt_below_other_assets, MARKS, "BTC", "USDT") is None
    as_much_held_as_matters = {"BTC": AssetBalance(held=105 * UNIT, owed=100 * UNIT), "USDT": AssetBalance(held=UNIT)}
    assert liquidation_price(as_much_held_as_matters, MARKS, "BTC", "USDT") is None
    assert liquidation_price({"USDT": AssetBalance(owed=UNIT)}, MARKS, "BTC", "USDT") is None


def test_a_liquidation_price_is_in_the_quote_asset_of_the_symbol() -> None:
    marks = {**MARKS, "BTC": 20_000 * UNIT}
    balances = {"ETH": AssetBalance(held=10 * UNIT), "BTC": AssetBalance(owed=UNIT // 4)}
    # 1.05 · 5,000 USDT / 10 ETH = 525 USDT, at 20,000 USDT a BTC.
    assert liquidation_price(balances, marks, "ETH", "BTC") == 525 * UNIT // 20_000
    with pytest.raises(UnpricedError, match="BTC"):
        liquidation_price(balances, {"ETH": UNIT}, "ETH", "BTC")


amounts = st.integers(0, 10**24)


@given(amounts, amounts, amounts, amounts, amounts)
def test_an_account_is_liquidated_at_its_liquidation_price_and_not_a_unit_before(
    held: int, owed: int, interest: int, other_held: int, other_owed: int
) -> None:
    balances = {"BTC": AssetBalance(held, owed, interest), "USDT": AssetBalance(other_held, other_owed)}
    price = liquidation_price(balances, {"USDT": UNIT}, "BTC", "USDT")
    assume(price is not None)
    assert price is not None
    is_long = 100 * held > 105 * (owed + interest)
    before = price + 1 if is_long else price - 1
    assert margin_figures(balances, {"USDT": UNIT, "BTC": price}).must_liquidate
    assert not margin_figures(balances, {"USDT": UNIT, "BTC": before}).must_liquidate
