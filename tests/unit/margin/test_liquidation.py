"""The liquidation sequence: its order, its resumption after a kill, and the settlement of the debts."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance
from openspot.margin.liquidation import (
    ROUNDS_MAX,
    Liquidation,
    LiquidationError,
    LiquidationOrder,
    LiquidationStep,
    LoanSettlement,
    another_round,
    finish_step,
    liquidation_orders,
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
    with pytest.raises(LiquidationError, match="is done"):
        replace(FRESH, step=None).message_id("order-1")


def test_another_round_begins_from_the_settlement_only_and_not_for_ever() -> None:
    with pytest.raises(LiquidationError, match="from the settlement only"):
        another_round(FRESH)
    settling = replace(FRESH, step=S.SETTLE_LOANS)
    again = another_round(settling)
    assert (again.step, again.round) == (S.LIQUIDATION_ORDERS, 2)
    # What the first round finished late changes nothing in the second.
    assert finish_step(again, S.SETTLE_LOANS, 1) == again
    with pytest.raises(LiquidationError, match=f"{ROUNDS_MAX} rounds"):
        another_round(replace(settling, round=ROUNDS_MAX))


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
    assert settlement.loans == (LoanSettlement("USDT", paid=320, loss=0),)
    assert not settlement.needs_another_round


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
