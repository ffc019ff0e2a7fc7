"""The liquidation sequence: its order, its resumption after a kill, and the settlement of the debts."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance
from openspot.margin.liquidation import (
    DebtSettlement,
    Liquidation,
    LiquidationError,
    LiquidationOrder,
    LiquidationStep,
    LoanSettlement,
    another_round,
    finish_step,
    in_order,
    liquidation_orders,
    pause_ms,
    settle,
)

S = LiquidationStep
FRESH = Liquidation("liq-7", "margin-1")


def test_the_steps_come_in_the_order_of_the_specification() -> None:
    done, liquidation = [], FRESH
    while liquidation.step is not None:
        done.append(liquidation.step)
        liquidation = finish_step(liquidation, liquidation.step, liquidation.round)
    assert done == [
        S.CANCEL_ORDERS,
        S.POSITIONS_CLOSED,
        S.NOTIFY_USER,
        S.LIQUIDATION_ORDERS,
        S.SETTLE_LOANS,
    ]


def test_a_step_that_is_finished_twice_counts_once() -> None:
    second = finish_step(FRESH, S.CANCEL_ORDERS, 1)
    assert finish_step(second, S.CANCEL_ORDERS, 1) == second
    done = replace(FRESH, step=None)
    assert finish_step(done, S.SETTLE_LOANS, 1) == done


@pytest.mark.parametrize("step", list(S)[1:])
def test_a_step_cannot_be_finished_before_it_has_begun(step: LiquidationStep) -> None:
    with pytest.raises(LiquidationError, match=f"{step} of round 1 has not begun"):
        finish_step(FRESH, step, 1)


@given(st.integers(0, 2**32))
def test_killed_anywhere_it_sends_the_same_messages_once(seed: int) -> None:
    """Each step sends and is then stored as finished; a kill comes before, between or after."""
    source = random.Random(seed)
    stored, rounds = FRESH, source.randrange(1, 4)
    sent: dict[str, int] = {}
    order: list[LiquidationStep] = []
    for _ in range(1000):
        if stored.step is None:
            break
        if source.random() < 0.3:
            continue
        message = stored.message_id("item")
        if message not in sent:
            order.append(stored.step)
        sent[message] = sent.get(message, 0) + 1
        if source.random() < 0.3:
            continue
        if stored.step is S.SETTLE_LOANS and stored.round < rounds:
            stored = another_round(stored)
        else:
            stored = finish_step(stored, stored.step, stored.round)
    assert stored.step is None
    assert order == [
        S.CANCEL_ORDERS,
        S.POSITIONS_CLOSED,
        S.NOTIFY_USER,
        *[S.LIQUIDATION_ORDERS, S.SETTLE_LOANS] * rounds,
    ]
    assert len(sent) == len(order)


def test_message_ids_follow_from_liquidation_step_and_round() -> None:
    assert FRESH.message_id("order-1") == "liq-7:cancel_orders:1:order-1"
    ordering = replace(FRESH, step=S.LIQUIDATION_ORDERS, round=2)
    assert ordering.message_id("BTC-USDT") == "liq-7:liquidation_orders:2:BTC-USDT"
    with pytest.raises(LiquidationError, match=r"^liquidation is done and sends nothing$"):
        replace(FRESH, step=None).message_id("order-1")


def test_another_round_begins_from_the_settlement_only_however_many_there_were() -> None:
    with pytest.raises(LiquidationError, match=r"^another round begins from the settlement only$"):
        another_round(FRESH)
    settling = replace(FRESH, step=S.SETTLE_LOANS)
    again = another_round(settling)
    assert (again.step, again.round) == (S.LIQUIDATION_ORDERS, 2)
    # What the first round finished late changes nothing in the second.
    assert finish_step(again, S.SETTLE_LOANS, 1) == again
    assert another_round(replace(settling, round=20)).round == 21


def test_the_pause_grows_with_the_rounds_that_traded_nothing_up_to_a_minute() -> None:
    assert [pause_ms(10_000, idle) for idle in (0, 1, 4, 5, 100)] == [10_000, 20_000, 50_000, 60_000, 60_000]
    assert pause_ms(90_000, 3) == 90_000


def test_sells_are_placed_before_buys() -> None:
    buy, first, second = (
        LiquidationOrder("BTC-USD", Side.BUY, 1),
        LiquidationOrder("ETH-USD", Side.SELL, 1),
        LiquidationOrder("SOL-USD", Side.SELL, 1),
    )
    assert in_order([buy, second, first]) == [first, second, buy]


def test_longs_are_sold_down_to_the_lot_and_shorts_bought_up_to_it() -> None:
    balances = {
        "BTC": AssetBalance(held=1_057),
        "ETH": AssetBalance(held=5, owed=100, interest=6),
        "SOL": AssetBalance(held=9),
        "USDT": AssetBalance(held=10**6, owed=10**7),
    }
    lots = {"ETH-USDT": 10, "BTC-USDT": 10, "SOL-USDT": 10, "BTC-USD": 1, "DOT-USDT": 10}
    assert liquidation_orders(lots, balances) == [
        LiquidationOrder("BTC-USD", Side.SELL, 1_057),
        LiquidationOrder("ETH-USDT", Side.BUY, 110),
    ]


@pytest.mark.parametrize(
    ("held", "owed", "orders"),
    [
        (1, 0, [LiquidationOrder("BTC-USD", Side.SELL, 1)]),
        (0, 1, [LiquidationOrder("BTC-USD", Side.BUY, 1)]),
        (1, 1, []),
        (0, 0, []),
    ],
)
def test_a_single_unit_is_traded_and_what_is_balanced_is_not(
    held: int, owed: int, orders: list[LiquidationOrder]
) -> None:
    assert liquidation_orders({"BTC-USD": 1}, {"BTC": AssetBalance(held, owed)}) == orders


def test_collateral_without_a_position_is_sold_for_the_owed_asset() -> None:
    balances = {"BTC": AssetBalance(held=25), "USDT": AssetBalance(held=1, owed=500)}
    lots = {"BTC-USDT": 10}
    assert liquidation_orders(lots, balances) == [LiquidationOrder("BTC-USDT", Side.SELL, 20)]
    assert settle(balances, {"BTC": 10}).needs_another_round
    sold = {"BTC": AssetBalance(held=5), "USDT": AssetBalance(held=401, owed=500)}
    assert liquidation_orders(lots, sold) == []
    assert settle(sold, {"BTC": 10}) == ((LoanSettlement("USDT", paid=401, loss=99),), False)


def test_each_debt_is_paid_from_the_same_asset() -> None:
    settlement = settle(
        {"USDT": AssetBalance(held=500, owed=300, interest=20), "BTC": AssetBalance(held=7)}, {"BTC": 10}
    )
    assert settlement == DebtSettlement((LoanSettlement("USDT", paid=320, loss=0),), needs_another_round=False)


def test_an_account_that_can_pay_all_debts_sells_nothing_more() -> None:
    account = {"USDT": AssetBalance(held=320, owed=300, interest=20), "BTC": AssetBalance(held=10)}
    assert settle(account, {"BTC": 10, "USDT": 1}) == DebtSettlement((LoanSettlement("USDT", 320, 0),), False)


def test_what_an_account_without_assets_owes_is_a_loss() -> None:
    settlement = settle({"USDT": AssetBalance(held=100, owed=300), "BTC": AssetBalance(held=9)}, {"BTC": 10})
    assert settlement == ((LoanSettlement("USDT", paid=100, loss=200),), False)


def test_while_something_can_be_sold_there_is_no_loss_but_another_round() -> None:
    settlement = settle({"USDT": AssetBalance(held=100, owed=300), "BTC": AssetBalance(held=10)}, {"BTC": 10})
    assert settlement == ((LoanSettlement("USDT", paid=100, loss=0),), True)


balances = st.dictionaries(
    st.sampled_from(["BTC", "ETH", "USDT"]),
    st.builds(AssetBalance, *[st.integers(0, 1000)] * 3),
)


@given(balances)
def test_every_debt_is_paid_or_lost_or_waits_for_another_round(held: dict[str, AssetBalance]) -> None:
    settlement = settle(held, {"BTC": 10, "ETH": 5, "USDT": 1})
    assert {loan.asset for loan in settlement.loans} == {asset for asset, balance in held.items() if balance.debt}
    for loan in settlement.loans:
        balance = held[loan.asset]
        assert 0 <= loan.paid <= balance.held
        if settlement.needs_another_round:
            assert loan.loss == 0
        else:
            assert loan.paid + loan.loss == balance.debt


def test_what_pays_a_debt_of_its_own_asset_is_not_left_to_be_sold() -> None:
    """The account holds 100 of what it owes 100 of, and nothing for its other debt: that is a loss, not a new round."""
    balances = {"USD": AssetBalance(held=100, owed=100), "BTC": AssetBalance(owed=5)}
    assert settle(balances, {"USD": 1}) == DebtSettlement(
        (LoanSettlement("BTC", 0, 5), LoanSettlement("USD", 100, 0)), needs_another_round=False
    )
    balances["USD"] = AssetBalance(held=101, owed=100)
    assert settle(balances, {"USD": 1}).needs_another_round
    assert not settle(balances, {"USD": 2}).needs_another_round
