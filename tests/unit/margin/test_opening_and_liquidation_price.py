"""Opening a position: what is borrowed, the level it starts from, and the price at which it is liquidated."""

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance, UnpricedError, margin_figures
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.liquidation_price import liquidation_price
from openspot.margin.opening import (
    Borrowing,
    MarginDecision,
    OpeningRequest,
    RefusalReason,
    balances_after,
    borrowing,
    check_margin,
    price_of,
)
from tests.support.fair_prices import asset_price
from tests.support.marks import mark, marks_of

UNIT = AMOUNT_SCALE
PRICE = 20_000 * UNIT
MARKS = marks_of(USDT=UNIT, BTC=PRICE, ETH=1_000 * UNIT)
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
    after = balances_after(request, PRICE, THOUSAND)
    found = margin_figures(after, MARKS).level
    assert found is not None
    assert percent(found, UNIT) == Decimal(level)
    price = liquidation_price(after, MARKS, "BTC", "USDT")
    assert price is not None
    assert percent(abs(price - PRICE), PRICE) == Decimal(adverse_move)


@pytest.mark.parametrize(("side", "price"), [(Side.BUY, "16800.00"), (Side.SELL, "22857.14")])
def test_the_worked_liquidation_prices_of_five_times_leverage(side: Side, price: str) -> None:
    after = balances_after(opening(side, "5", 5_000), PRICE, THOUSAND)
    found = liquidation_price(after, MARKS, "BTC", "USDT")
    assert found is not None
    assert Decimal(found).scaleb(-18).quantize(Decimal("0.01")) == Decimal(price)


def test_a_long_borrows_what_its_own_margin_does_not_pay() -> None:
    request = opening(Side.BUY, "5", 5_000)
    assert borrowing(request, PRICE, 1_000 * UNIT) == Borrowing("USDT", 4_000 * UNIT)
    assert borrowing(request, PRICE, 300 * UNIT) == Borrowing("USDT", 4_700 * UNIT)
    assert borrowing(request, PRICE, 0) == Borrowing("USDT", 5_000 * UNIT)
    assert borrowing(opening(Side.BUY, "1", 1_000), PRICE, 1_000 * UNIT) == Borrowing("USDT", 0)


def test_an_opening_adds_to_what_the_account_holds_and_owes_and_its_interest_stays() -> None:
    account = {"USDT": AssetBalance(1_000 * UNIT, 50, 5), "BTC": AssetBalance(UNIT, 3, 2)}
    assert balances_after(opening(Side.BUY, "5", 5_000), PRICE, account) == {
        "USDT": AssetBalance(0, 4_000 * UNIT + 50, 5),
        "BTC": AssetBalance(UNIT * 5 // 4, 3, 2),
    }
    assert balances_after(opening(Side.SELL, "5", 5_000), PRICE, account) == {
        "USDT": AssetBalance(6_000 * UNIT, 50, 5),
        "BTC": AssetBalance(UNIT, UNIT // 4 + 3, 2),
    }


def test_a_short_borrows_the_whole_quantity() -> None:
    assert borrowing(opening(Side.SELL, "5", 5_000), PRICE, 0) == Borrowing("BTC", UNIT // 4)


def test_an_approved_check_tells_margins_and_liquidation_price() -> None:
    decision = check_margin(opening(Side.BUY, "5", 2_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [100 * UNIT], None)
    assert decision.approved
    assert (decision.required_margin, decision.available_margin) == (400 * UNIT, 900 * UNIT)
    # 1,600 borrowed, 0.1 BTC and 600 USDT held: (1.05 · 1,600 − 600) / 0.1.
    assert decision.liquidation_price == 10_800 * UNIT


def test_margin_may_be_used_to_the_last_unit() -> None:
    assert check_margin(opening(Side.BUY, "5", 5_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [], None).approved
    refused = check_margin(opening(Side.BUY, "5", 5_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [1], None)
    # 4,000 USDT would be owed for 0.25 BTC: (1.05 · 4,000) / 0.25.
    assert refused == MarginDecision(
        RefusalReason.INSUFFICIENT_MARGIN, "required margin is larger than available margin",
        16_800 * UNIT, 1_000 * UNIT, 1_000 * UNIT - 1,
    )  # fmt: skip


def test_an_approved_check_has_no_detail() -> None:
    found = check_margin(opening(Side.BUY, "5", 5_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [], None)
    assert found == MarginDecision(None, "", 16_800 * UNIT, 1_000 * UNIT, 1_000 * UNIT)


def test_a_long_needs_a_market_for_what_it_borrows_and_not_for_what_it_pays_itself() -> None:
    request = opening(Side.BUY, "5", 5_000)
    assert check_margin(request, AccountStatus.ACTIVE, THOUSAND, MARKS, [], 4_000 * UNIT).approved
    assert check_margin(request, AccountStatus.ACTIVE, THOUSAND, MARKS, [], 4_000 * UNIT - 1) == MarginDecision(
        RefusalReason.TOO_LITTLE_LIQUIDITY,
        "the market of USDT is too thin: 3999.999999999999999999 USDT can be borrowed now, because more could not be"
        " bought back near the fair price. Wait until several people have traded there within the last hour and orders"
        " stand near the fair price",
        16_800 * UNIT, 1_000 * UNIT, 1_000 * UNIT,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("base", "quote", "price"), [(20_000 * UNIT, UNIT, 20_000 * UNIT), (UNIT, 3 * UNIT, UNIT // 3), (1, 10 * UNIT, 1)]
)
def test_a_price_in_the_quote_asset_is_rounded_down_and_never_zero(base: int, quote: int, price: int) -> None:
    assert price_of(marks_of(BTC=base, USDT=quote), "BTC", "USDT") == price


@pytest.mark.spec("A8-15")
@pytest.mark.parametrize(("leverage", "approved"), [("10", True), ("10.01", False), ("11", False)])
def test_leverage_above_10_is_not_approved(leverage: str, approved: bool) -> None:
    decision = check_margin(opening(Side.BUY, leverage, 1_000), AccountStatus.ACTIVE, THOUSAND, MARKS, [], None)
    assert decision.approved is approved
    assert decision.reason is (None if approved else RefusalReason.INVALID_LEVERAGE)


def test_a_check_is_refused_with_a_reason() -> None:
    request = opening(Side.BUY, "5", 1_000)
    active = AccountStatus.ACTIVE
    for quantity, detail in (
        (0, "quantity must be positive"),
        (-1, "quantity must be positive"),
        (10**37 + 1, "quantity is too large"),
    ):
        decision = check_margin(request._replace(quantity=quantity), active, THOUSAND, MARKS, [], None)
        assert decision == MarginDecision(RefusalReason.INVALID_QUANTITY, detail)
    assert check_margin(request._replace(quantity=1), active, THOUSAND, MARKS, [], None).approved
    unsure = {**MARKS, "BTC": replace(MARKS["BTC"], state=PriceState.DISPUTED, reason="the sources differ")}
    decision = check_margin(request, active, THOUSAND, unsure, [], None)
    assert decision == MarginDecision(RefusalReason.PRICE_NOT_SURE, "the price of BTC is disputed: the sources differ")
    unsure["BTC"] = replace(MARKS["BTC"], state=PriceState.STALE)
    assert check_margin(request, active, THOUSAND, unsure, [], None) == MarginDecision(
        RefusalReason.PRICE_NOT_SURE, "the price of BTC is stale: wait until its sources agree again"
    )
    for status in (AccountStatus.LIQUIDATING, AccountStatus.CLOSED):
        assert check_margin(request, status, THOUSAND, MARKS, [], None) == MarginDecision(
            RefusalReason.ACCOUNT_NOT_ACTIVE, f"account is {status.value}"
        )
    for leverage, detail in (
        ("11", "leverage must lie between 1 and 10"),
        ("0.99", "leverage must lie between 1 and 10"),
        ("1.001", "leverage must have at most two decimal places"),
    ):
        odd = request._replace(leverage=Decimal(leverage))
        assert check_margin(odd, active, THOUSAND, MARKS, [], None) == MarginDecision(
            RefusalReason.INVALID_LEVERAGE, detail
        )
    no_mark = check_margin(request, active, THOUSAND, marks_of(USDT=UNIT), [], None)
    assert (no_mark.reason, no_mark.detail) == (RefusalReason.NO_MARK_PRICE, "no mark price for BTC")
    holds_unpriced = {**THOUSAND, "SOL": AssetBalance(held=1)}
    assert check_margin(request, active, holds_unpriced, MARKS, [], None).reason is RefusalReason.NO_MARK_PRICE


def test_an_opening_that_would_be_liquidated_at_once_is_refused() -> None:
    """A loan without a position has taken the level to 106.7 % already; margin for the position itself is there."""
    balances = {"USDT": AssetBalance(held=3_200 * UNIT, owed=3_000 * UNIT)}
    decision = check_margin(opening(Side.BUY, "10", 2_000), AccountStatus.ACTIVE, balances, MARKS, [], None)
    assert decision.reason is RefusalReason.WOULD_BE_LIQUIDATED
    assert decision.detail == "account would be at or below the liquidation level"
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
    marks = MARKS
    balances = {"ETH": AssetBalance(held=10 * UNIT), "BTC": AssetBalance(owed=UNIT // 4)}
    # 1.05 · 5,000 USDT / 10 ETH = 525 USDT, at 20,000 USDT a BTC.
    assert liquidation_price(balances, marks, "ETH", "BTC") == 525 * UNIT // 20_000
    with pytest.raises(UnpricedError, match="BTC"):
        liquidation_price(balances, marks_of(ETH=UNIT), "ETH", "BTC")


amounts = st.integers(0, 10**24)


@given(amounts, amounts, amounts, amounts, amounts)
def test_an_account_is_liquidated_at_its_liquidation_price_and_not_a_unit_before(
    held: int, owed: int, interest: int, other_held: int, other_owed: int
) -> None:
    balances = {"BTC": AssetBalance(held, owed, interest), "USDT": AssetBalance(other_held, other_owed)}
    price = liquidation_price(balances, marks_of(USDT=UNIT), "BTC", "USDT")
    assume(price is not None)
    assert price is not None
    is_long = 100 * held > 105 * (owed + interest)
    before = price + 1 if is_long else price - 1
    assert margin_figures(balances, marks_of(USDT=UNIT, BTC=price)).must_liquidate
    assert not margin_figures(balances, marks_of(USDT=UNIT, BTC=before)).must_liquidate


@pytest.mark.parametrize(
    ("sellable", "median", "why"),
    [
        (
            0,
            100,
            "account would be at or below the liquidation level; only 0 BTC of 8 BTC count, because its market could"
            " not absorb more near the fair price. Wait until several people have traded there within the last hour and"
            " orders stand near the fair price",
        ),
        (
            8,
            90,
            "account would be at or below the liquidation level; BTC counts at 90, the median of 24 hours, because its"
            " price has moved since. Wait until the price has held for some hours",
        ),
    ],
)
def test_a_refusal_says_which_asset_does_not_count_fully_and_what_to_wait_for(
    sellable: int, median: int, why: str
) -> None:
    request = OpeningRequest("BTC", "USD", Side.BUY, 8 * UNIT, Decimal(10))
    marks = {
        "USD": mark(UNIT),
        "BTC": mark(100 * UNIT, sellable=sellable * UNIT, day_median=median * UNIT),
    }
    balances = {"USD": AssetBalance(held=100 * UNIT)}
    decision = check_margin(request, AccountStatus.ACTIVE, balances, marks, (), None)
    assert (decision.reason, decision.detail) == (RefusalReason.WOULD_BE_LIQUIDATED, why)


def test_a_quote_debt_never_lends_more_than_the_notional_and_the_largest_quantity_is_allowed() -> None:
    request = opening(Side.BUY, "5", 1_000)
    assert borrowing(request, PRICE, -50 * UNIT) == Borrowing("USDT", 1_000 * UNIT)
    largest = request._replace(quantity=AMOUNT_MAX)
    reasons = [
        check_margin(each, AccountStatus.ACTIVE, THOUSAND, MARKS, [], None).reason
        for each in (largest, largest._replace(quantity=AMOUNT_MAX + 1), largest._replace(quantity=0))
    ]
    assert reasons == [
        RefusalReason.INSUFFICIENT_MARGIN, RefusalReason.INVALID_QUANTITY, RefusalReason.INVALID_QUANTITY,
    ]  # fmt: skip


def test_a_liquidation_price_is_in_the_quotes_price_and_the_others_are_at_their_careful_bounds() -> None:
    marks = {"USDT": asset_price("1", low="0.9", high="1.25"), "BTC": asset_price("100")}
    balances = {"BTC": AssetBalance(held=UNIT), "USDT": AssetBalance(owed=80 * UNIT)}
    # 80 USDT are owed at 1.25, so at 105 % the BTC is worth 105 in the valuation asset, which is 105 USDT.
    assert liquidation_price(balances, marks, "BTC", "USDT") == 105 * UNIT
