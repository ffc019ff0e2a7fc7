"""Every kind of difference has a name, and agreement has none."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.accounts import AccountKey
from openspot.reconcile.comparison import (
    compare_acknowledged,
    compare_balances,
    compare_fills,
    compare_orders,
    compare_trades,
)
from openspot.reconcile.records import Difference, OrderFacts, TradeFacts

ORDER = OrderFacts(
    "o1", "u1", "BTC-USD", "buy", Decimal(100), Decimal(2), Decimal("0.5"), Decimal(50), Decimal("1.5"),
    Decimal("0.075"), "partially_filled",
)  # fmt: skip
TRADE = TradeFacts(
    "t1", "BTC-USD", Decimal(100), Decimal("0.5"), "sell", "o2", "o1", "u1", "u2", Decimal("0.125"), Decimal("0.075"),
    "USD",
)  # fmt: skip


def test_equal_balances_agree_however_they_are_written() -> None:
    engine = {AccountKey("u1", "USD"): Decimal("10.50"), AccountKey("u2", "BTC"): Decimal(0)}
    assert (
        compare_balances(engine, {AccountKey("u1", "USD"): Decimal("10.5"), AccountKey("u3", "BTC"): Decimal("0.00")})
        == []
    )


def test_one_unit_of_the_last_digit_is_a_difference() -> None:
    last = Decimal("0.000000000000000001")
    assert compare_balances({AccountKey("u1", "USD"): 10 + last}, {AccountKey("u1", "USD"): Decimal(10)}) == [
        Difference("balance", "u1 USD", "total", "10.000000000000000001", "10")
    ]


def test_an_account_that_one_side_lacks_is_a_difference_if_it_holds_something() -> None:
    engine, ledger = {AccountKey("u1", "USD"): Decimal(1)}, {AccountKey("u2", "BTC"): Decimal(-2)}
    assert [str(difference) for difference in compare_balances(engine, ledger)] == [
        "balance u1 USD: total is 1 in the engine, 0 in the mirror",
        "balance u2 BTC: total is 0 in the engine, -2 in the mirror",
    ]


def test_equal_orders_agree() -> None:
    assert compare_orders({"o1": ORDER}, {"o1": replace(ORDER, fee=Decimal("0.0750"))}) == []


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("filled", Decimal("0.4"), ("0.5", "0.4")),
        ("notional", Decimal(49), ("50", "49")),
        ("remaining", Decimal(0), ("1.5", "0")),
        ("fee", Decimal(0), ("0.075", "0")),
        ("status", "open", ("partially_filled", "open")),
        ("side", "sell", ("buy", "sell")),
        ("user_id", "u2", ("u1", "u2")),
        ("price", Decimal(101), ("100", "101")),
        ("price", None, ("100", "None")),
        ("quantity", Decimal(3), ("2", "3")),
    ],
)
def test_each_field_of_an_order_is_compared(field: str, value: Any, shown: tuple[str, str]) -> None:
    assert compare_orders({"o1": ORDER}, {"o1": replace(ORDER, **{field: value})}) == [
        Difference("order", "o1", field, *shown)
    ]


def test_the_row_of_an_order_without_a_limit_may_say_any_price() -> None:
    assert compare_orders({"o1": replace(ORDER, price=None)}, {"o1": ORDER}) == []


def test_a_missing_row_and_a_row_too_many_are_differences_but_not_a_pre_trade_rejection() -> None:
    extra, refused = replace(ORDER, order_id="o2"), replace(ORDER, order_id="o3", status="rejected")
    assert compare_orders({"o1": ORDER}, {"o2": extra, "o3": refused}) == [
        Difference("order", "o1", "row", "present (partially_filled)", "missing"),
        Difference("order", "o2", "order", "missing", "present (partially_filled)"),
    ]


def test_trades_are_compared_field_by_field_and_in_both_directions() -> None:
    assert compare_trades({"t1": TRADE}, {"t1": TRADE}) == []
    assert compare_trades({"t1": TRADE}, {"t1": replace(TRADE, maker_fee=Decimal(0), buyer_id="u9")}) == [
        Difference("trade", "t1", "buyer_id", "u1", "u9"),
        Difference("trade", "t1", "maker_fee", "0.075", "0"),
    ]
    assert compare_trades({"t1": TRADE}, {"t2": TRADE}) == [
        Difference("trade", "t1", "trade", "present", "missing"),
        Difference("trade", "t2", "trade", "missing", "present"),
    ]


def test_an_orders_fills_are_the_sums_of_its_trades() -> None:
    assert compare_fills({"o1": ORDER}, {"t1": TRADE}) == []
    twice = {"t1": TRADE, "t2": replace(TRADE, trade_id="t2")}
    assert compare_fills({"o1": ORDER}, twice) == [
        Difference("fills", "o1", "filled (sum of the trades)", "1", "0.5"),
        Difference("fills", "o1", "notional (sum of the trades)", "100", "50"),
        Difference("fills", "o1", "fee (sum of the trades)", "0.15", "0.075"),
    ]
    assert len(compare_fills({"o1": ORDER}, {})) == 3


def test_an_order_that_traded_with_itself_counts_both_sides() -> None:
    both = replace(TRADE, taker_order_id="o1")
    order = replace(ORDER, filled=Decimal(1), notional=Decimal(100), fee=Decimal("0.2"))
    assert compare_fills({"o1": order}, {"t1": both}) == []


def test_what_clients_were_told_must_hold_in_the_engine() -> None:
    cancelled = replace(ORDER, order_id="o2", status="cancelled")
    engine = {"o1": ORDER, "o2": cancelled}
    assert compare_acknowledged(engine, {"o1", "o2"}, {"o2"}) == []
    assert compare_acknowledged(engine, {"o1", "o3"}, {"o1"}) == [
        Difference("order", "o3", "order", "missing", "accepted, as its client was told"),
        Difference("order", "o1", "status", "partially_filled", "cancelled, as its client was told"),
    ]
