"""The worst price at which a position is opened or closed: near the fair price, and never at the lender's expense."""

from dataclasses import replace

import pytest

from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import AssetBalance, Balances, Marks
from openspot.margin.order_prices import affordable_price, closing_price, opening_price
from tests.support.marks import mark

UNIT = AMOUNT_SCALE
SPEC = SymbolSpec(
    symbol="SOL-USD", symbol_id=1, base="SOL", quote="USD", base_scale_k=1000, quote_scale_k=100, tick=1, lot=1,
    taker_fee_bps=25, maker_fee_bps=15,
)  # fmt: skip
"""A tick is 0.01 USD."""


def marks_at(price: int, median: int, *, is_confirmed: bool = False, state: PriceState = PriceState.GOOD) -> Marks:
    """USD, and SOL at `price` with a median of the day, both in whole USD."""
    sol = replace(mark(price * UNIT, day_median=median * UNIT), is_confirmed=is_confirmed, state=state)
    return {"USD": mark(UNIT), "SOL": sol}


def closing(side: Side, quantity: int, balances: Balances, marks: Marks) -> float:
    """The worst price of a closing in USD."""
    price = closing_price(SPEC, side, quantity * UNIT, balances, marks, slippage_bps=100, liquidation_bps=200)
    return price / UNIT


def long(held: int, debt: int) -> Balances:
    return {"SOL": AssetBalance(held * UNIT), "USD": AssetBalance(0, debt * UNIT)}


def short(held: int, debt: int) -> Balances:
    return {"USD": AssetBalance(held * UNIT), "SOL": AssetBalance(0, debt * UNIT)}


def test_a_position_is_opened_within_the_slippage_of_the_fair_price() -> None:
    assert opening_price(SPEC, Side.BUY, marks_at(200, 200), 100) == 202 * UNIT
    assert opening_price(SPEC, Side.SELL, marks_at(200, 200), 100) == 198 * UNIT


def test_what_was_borrowed_for_a_price_pays_for_it_with_the_fee_and_not_for_a_tick_more() -> None:
    funds = 10 * 202 * UNIT * 10_025 // 10_000
    assert affordable_price(SPEC, 10 * UNIT, funds) == 202 * UNIT
    assert affordable_price(SPEC, 10 * UNIT, funds - 1) == 202 * UNIT - UNIT // 100
    assert affordable_price(SPEC, 10 * UNIT, 1) == UNIT // 100


@pytest.mark.parametrize("is_confirmed", [False, True])
def test_who_can_pay_for_it_closes_within_the_slippage_of_the_fair_price(*, is_confirmed: bool) -> None:
    marks = marks_at(200, 200, is_confirmed=is_confirmed)
    assert closing(Side.SELL, 10, long(10, 1000), marks) == 198
    assert closing(Side.BUY, 10, short(3000, 10), marks) == 202
    # Also far from the median of the day, where a liquidation would wait: the loss is the account's own.
    fallen, risen = marks_at(150, 200, is_confirmed=is_confirmed), marks_at(250, 200, is_confirmed=is_confirmed)
    assert closing(Side.SELL, 10, long(10, 1000), fallen) == 148.5
    assert closing(Side.BUY, 10, short(3000, 10), risen) == 252.5


def test_who_cannot_pay_for_a_price_that_two_accounts_made_closes_where_a_liquidation_would() -> None:
    # 25 SOL for 4,500 USD of debt: at 104 the lender would lose 1,900. A liquidation believes 170 and takes 2 % less.
    assert closing(Side.SELL, 25, long(25, 4500), marks_at(104, 200)) == 166.6
    # 25 SOL are owed, 5,500 USD are held: at 300 they cost 7,500. A liquidation believes 230 and pays 2 % more.
    assert closing(Side.BUY, 25, short(5500, 25), marks_at(300, 200)) == 234.6


def test_between_both_bounds_the_account_pays_as_far_as_it_can() -> None:
    # 25 SOL at p with the fee of 0.25 % pay 3,750 USD at 150.38 or more.
    assert closing(Side.SELL, 25, long(25, 3750), marks_at(104, 200)) == 150.38
    # 6,250 USD buy 25 SOL with the fee at 249.37 or less.
    assert closing(Side.BUY, 25, short(6250, 25), marks_at(300, 200)) == 249.37


def test_a_price_that_a_source_outside_confirms_is_that_of_the_closing_for_everybody() -> None:
    assert closing(Side.SELL, 25, long(25, 4500), marks_at(104, 200, is_confirmed=True)) == pytest.approx(102.96)


def test_other_collateral_counts_for_what_new_risk_may_believe_of_it() -> None:
    rich = long(25, 4500) | {"USDT": AssetBalance(4000 * UNIT)}
    marks = marks_at(104, 200)
    assert closing(Side.SELL, 25, rich, {**marks, "USDT": mark(UNIT)}) == pytest.approx(102.96)
    pumped = replace(mark(10 * UNIT, day_median=UNIT // 1000), is_confirmed=False)
    assert closing(Side.SELL, 25, rich, {**marks, "USDT": pumped}) == 166.6
    unsure = replace(mark(UNIT), state=PriceState.DISPUTED)
    assert closing(Side.SELL, 25, rich, {**marks, "USDT": unsure}) == 166.6


def test_while_the_price_is_not_sure_the_bound_is_that_of_a_liquidation() -> None:
    disputed = marks_at(104, 200, state=PriceState.DISPUTED)
    assert closing(Side.SELL, 25, long(25, 0), disputed) == 166.6
