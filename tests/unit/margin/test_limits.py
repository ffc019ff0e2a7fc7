"""The limits of a margin account, to the last unit: what may leave it, what it may borrow, and what others used."""

from decimal import Decimal

from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.figures import AssetBalance, MarginFigures
from openspot.margin.limits import (
    WAITS_FOR_A_MARKET,
    borrowable,
    borrowing_error,
    liquidity_error,
    outflow_error,
    shared,
    uncounted,
)
from tests.support.fair_prices import asset_price
from tests.support.marks import mark

ONE = AMOUNT_SCALE
MARKS = {"USD": asset_price("1"), "BTC": asset_price("100", low="90", high="110", sellable="5", buyable="8")}


def balance(held: int, owed: int = 0, interest: int = 0) -> AssetBalance:
    return AssetBalance(held * ONE, owed * ONE, interest * ONE)


def test_a_debt_may_be_ten_times_the_equity_with_its_interest_and_no_more() -> None:
    # 10 of equity: after the loan 110 are held and 100 are owed, one of them as interest.
    held = {"USD": balance(20, 9, 1)}
    assert borrowing_error(held, MARKS, [], "USD", 90 * ONE, None) is None
    assert (
        borrowing_error(held, MARKS, [], "USD", 90 * ONE + 1, None) == "the debt would be more than 10 times the equity"
    )
    interest = {"USD": balance(20, 0, 10)}
    assert borrowing_error(interest, MARKS, [], "USD", 90 * ONE, None) is None
    assert borrowing_error(interest, MARKS, [], "USD", 90 * ONE + 1, None) is not None


def test_a_loan_leaves_the_margin_of_the_positions_covered_to_the_last_unit() -> None:
    held = {"USD": balance(20)}
    assert borrowing_error(held, MARKS, [15 * ONE, 5 * ONE], "USD", ONE, None) is None
    refused = "the equity would not cover the margin of the open positions"
    assert borrowing_error(held, MARKS, [15 * ONE, 5 * ONE + 1], "USD", ONE, None) == refused


def test_a_loan_is_bounded_by_what_can_be_bought_back() -> None:
    held = {"USD": balance(20)}
    assert borrowing_error(held, MARKS, [], "USD", ONE, ONE) is None
    assert borrowing_error(held, MARKS, [], "USD", ONE + 1, ONE) == (
        "the market of USD is too thin: 1 USD can be borrowed now, because more could not be bought back near the fair"
        f" price. {WAITS_FOR_A_MARKET}"
    )
    assert liquidity_error("USD", ONE, ONE) is None
    assert liquidity_error("USD", ONE + 1, None) is None


def test_collateral_leaves_while_the_level_stays_above_the_warning() -> None:
    held = {"USD": balance(200, 100)}
    assert outflow_error(held, MARKS, [], "USD", 50 * ONE - 1) is None
    assert outflow_error(held, MARKS, [], "USD", 50 * ONE) == "the margin level would fall to the warning level"
    assert outflow_error(held, MARKS, [70 * ONE], "USD", 30 * ONE) is None
    assert outflow_error(held, MARKS, [70 * ONE], "USD", 30 * ONE + 1) == (
        "the equity would not cover the margin of the open positions"
    )
    assert outflow_error({"USD": balance(200)}, MARKS, [10**30], "USD", 200 * ONE) is None


def test_collateral_counts_at_its_lower_bound_and_as_far_as_its_market_can_absorb_it() -> None:
    assert outflow_error({"BTC": balance(5), "USD": balance(0, 300)}, MARKS, [], "BTC", 0) == (
        "the margin level would fall to the warning level"
    )
    assert outflow_error({"BTC": balance(5), "USD": balance(0, 299)}, MARKS, [], "BTC", 0) is None
    # Beyond 5 BTC nothing more counts, so what is beyond them may leave.
    assert outflow_error({"BTC": balance(9), "USD": balance(0, 299)}, MARKS, [], "BTC", 4 * ONE) is None


def test_the_other_accounts_of_an_owner_use_the_market_first() -> None:
    others = [
        {"BTC": balance(3, 1, 1), "USD": balance(9)},
        {"BTC": balance(2)},
        {"BTC": balance(0, 4)},
    ]
    assert shared(MARKS, others)["BTC"].sellable == 2 * ONE
    assert shared(MARKS, [*others, {"BTC": balance(9)}])["BTC"].sellable == 0
    assert shared(MARKS, [{"BTC": balance(3, 4)}]) == MARKS
    assert shared(MARKS, others)["BTC"].buyable == 8 * ONE


def test_what_may_still_be_borrowed_is_a_share_of_the_market_less_what_is_owed() -> None:
    assert borrowable(MARKS["BTC"], 0, Decimal("0.5")) == 4 * ONE
    assert borrowable(MARKS["BTC"], ONE, Decimal("0.5")) == 3 * ONE
    assert borrowable(MARKS["BTC"], 5 * ONE, Decimal("0.5")) == 0
    assert borrowable(asset_price("1", buyable="0"), 0, Decimal(1)) == 0


def test_a_share_of_a_market_is_rounded_down_to_the_last_unit() -> None:
    price = mark(ONE, buyable=1_234_567_890_123_456_789)
    assert borrowable(price, 0, Decimal("0.3")) == 370_370_367_037_037_036
    assert borrowable(price, 370_370_367_037_037_035, Decimal("0.3")) == 1
    assert borrowable(mark(ONE), 0, Decimal(1)) is None


def test_a_refusal_names_the_first_asset_that_does_not_count_fully() -> None:
    marks = {"BTC": mark(ONE, sellable=3 * ONE), "ETH": mark(ONE, sellable=0), "SOL": mark(ONE, day_median=2 * ONE)}
    market = f"market could not absorb more near the fair price. {WAITS_FOR_A_MARKET}"
    # ADA has no price: nobody knows how much of it counts.
    assert uncounted({"ETH": balance(1), "BTC": balance(5, 1), "ADA": balance(1)}, marks) == (
        f"; only 4 BTC of 5 BTC count, because its {market}"
    )
    assert uncounted({"BTC": balance(4, 1)}, marks) == ""
    moved = "the median of 24 hours, because its price has moved since. Wait until the price has held for some hours"
    assert uncounted({"SOL": balance(0, 1)}, marks) == f"; SOL counts at 2, {moved}"
    # A median above the price makes a debt count more, and a holding no less.
    assert uncounted({"SOL": balance(1)}, marks) == ""
    marks["SOL"] = mark(3 * ONE, day_median=2 * ONE)
    assert uncounted({"SOL": balance(1)}, marks) == f"; SOL counts at 2, {moved}"
    assert uncounted({"SOL": balance(0, 1)}, marks) == ""


def test_nothing_of_an_asset_that_the_account_does_not_hold_leaves_a_safe_account_as_it_is() -> None:
    assert outflow_error({"USD": balance(200, 100)}, MARKS, [], "BTC", 0) is None


def test_values_are_rounded_against_the_account() -> None:
    figures = MarginFigures(assets=3 * ONE + 1, debt=2 * ONE + 1)
    assert (figures.equity, figures.debt_amount, figures.level) == (1, 3, 3 * ONE * ONE // (2 * ONE + 1) + 1)
