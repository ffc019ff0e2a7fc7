"""The engine's view, made out of its events."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.engine_events import (
    AcceptedEvent,
    BalanceEvent,
    EngineEvent,
    MovedEvent,
    ReduceEvent,
    RejectEvent,
    TradeEvent,
)
from openspot.reconcile.projection import EngineProjection, movements


def accepted(order_id: str, user: str = "u1", side: str = "BUY", order_type: str = "GTC") -> AcceptedEvent:
    return AcceptedEvent(1, 1, "BTC-USD", "1", order_id, user, side, order_type, "100.5", "2", "{}")


def rejected(order_id: str) -> RejectEvent:
    return RejectEvent(1, 1, "BTC-USD", "1", order_id, "u1", "BUY", "GTC", "100", "2", "RISK_NSF", "{}")


def reduced(order_id: str, remaining: str, completed: bool) -> ReduceEvent:
    return ReduceEvent(
        1, 1, "BTC-USD", "1", order_id, "u1", "BUY", "100", "1", remaining, completed, "CANCELLED_BY_USER"
    )


def trade(trade_id: str, **changes: Any) -> TradeEvent:
    fields: dict[str, Any] = {
        "seq": 1, "timestamp": 1, "symbol": "BTC-USD", "trade_id": trade_id, "taker_engine_order_id": "2",
        "maker_engine_order_id": "1", "taker_order_id": "taker", "maker_order_id": "maker",
        "taker_participant_id": "u2", "maker_participant_id": "u1", "taker_side": "SELL",
        "price": "100.5", "quantity": "0.5",
        "is_taker_completed": False, "is_maker_completed": False, "taker_remaining": "1.5", "maker_remaining": "1.5",
        "taker_fee_amount": "0.125625", "taker_fee_bps": 25, "maker_fee_amount": "-0.01005", "maker_fee_bps": -2,
        "maker_is_rebate": True, "fee_currency": "USD",
    }  # fmt: skip
    return TradeEvent(**(fields | changes))


def projection(*events: EngineEvent) -> EngineProjection:
    made = EngineProjection()
    made.apply_all(events)
    return made


def test_fills_add_up_exactly_on_both_orders() -> None:
    view = projection(
        accepted("maker"),
        accepted("taker", "u2", "SELL"),
        trade("t1"),
        trade("t2", taker_remaining="1", maker_remaining="0", is_maker_completed=True),
    )
    maker, taker = view.orders["maker"], view.orders["taker"]
    assert (maker.status, maker.filled, maker.notional, maker.remaining) == ("filled", 1, Decimal("100.5"), 0)
    assert maker.fee == Decimal("-0.0201")
    assert (taker.status, taker.remaining, taker.fee) == ("partially_filled", 1, Decimal("0.25125"))
    assert (view.trades["t1"].buyer_id, view.trades["t1"].seller_id) == ("u1", "u2")
    assert view.trades["t1"].taker_side == "sell"


def test_a_taker_that_buys_is_the_buyer() -> None:
    view = projection(trade("t1", taker_side="BUY"))
    assert (view.trades["t1"].buyer_id, view.trades["t1"].seller_id) == ("u2", "u1")


@pytest.mark.parametrize(
    ("events", "status", "remaining"),
    [
        ((), "open", 2),
        ((reduced("a", "1", completed=False),), "open", 1),
        ((reduced("a", "0", completed=True),), "cancelled", 0),
        ((trade("t", maker_order_id="a"), reduced("a", "0", completed=True)), "cancelled", 0),
        ((trade("t", maker_order_id="a"),), "partially_filled", Decimal("1.5")),
        ((rejected("a"),), "rejected", 0),
    ],
)
def test_an_order_ends_as_its_events_say(events: tuple[EngineEvent, ...], status: str, remaining: Decimal) -> None:
    order = projection(accepted("a"), *events).orders["a"]
    assert (order.status, order.remaining, order.quantity) == (status, remaining, 2)


def test_a_rejected_order_is_known_as_such() -> None:
    order = projection(rejected("a")).orders["a"]
    assert (order.status, order.remaining, order.filled) == ("rejected", 0, 0)


def test_a_moved_order_has_its_new_price_and_an_immediate_one_has_none() -> None:
    moved = MovedEvent(1, 1, "BTC-USD", "1", "a", "u1", "BUY", "99.5", "2")
    assert projection(accepted("a"), moved).orders["a"].price == Decimal("99.5")
    assert projection(accepted("a", order_type="IOC")).orders["a"].price is None


def test_an_amended_order_has_its_new_quantity() -> None:
    more = MovedEvent(1, 1, "BTC-USD", "1", "a", "u1", "BUY", "99.5", "2.5", quantity="2.5", previous_remaining="2")
    order = projection(accepted("a"), more).orders["a"]
    assert (order.price, order.quantity, order.remaining) == (Decimal("99.5"), Decimal("2.5"), Decimal("2.5"))
    less = msgspec.structs.replace(reduced("a", "1", completed=False), quantity="1", reason="AMENDED_BY_USER")
    order = projection(accepted("a"), less).orders["a"]
    assert (order.quantity, order.remaining) == (1, 1)
    removed = msgspec.structs.replace(less, reason="STP_DECREMENT")
    assert projection(accepted("a"), removed).orders["a"].quantity == 2


def test_events_of_orders_from_before_are_taken_without_them() -> None:
    balance = BalanceEvent(1, 1, "DEPOSIT", "u1", "USD", "1", "1", "r")
    moved = MovedEvent(1, 1, "BTC-USD", "1", "old", "u1", "BUY", "99.5", "2")
    view = projection(balance, moved, reduced("old", "0", completed=True), trade("t1"))
    assert not view.orders
    assert list(view.trades) == ["t1"]


def test_what_has_ended_is_handed_over_once_and_what_is_open_stays() -> None:
    view = projection(accepted("a"), accepted("b"), accepted("c"), reduced("a", "0", completed=True), rejected("d"))
    view.apply_all([trade("t1", maker_order_id="b", is_maker_completed=True)])
    orders, trades = view.take_finished()
    assert [(order.order_id, order.status) for order in orders] == [
        ("a", "cancelled"),
        ("d", "rejected"),
        ("b", "filled"),
    ]
    assert [fact.trade_id for fact in trades] == ["t1"]
    assert list(view.orders) == ["c"]
    assert view.take_finished() == ([], [])


def test_a_second_placing_says_nothing_about_the_order_that_stands() -> None:
    repeated = msgspec.structs.replace(rejected("a"), reason="DUPLICATE_ORDER_ID")
    assert projection(accepted("a"), repeated).orders["a"].status == "open"
    ended = projection(accepted("a"), reduced("a", "0", completed=True))
    ended.take_finished()
    ended.apply_all([repeated])
    assert ended.take_finished() == ([], [])


def test_an_order_without_an_id_of_a_client_has_the_engines() -> None:
    view = projection(accepted(""), trade("t1", maker_order_id="", taker_order_id=""))
    assert (view.orders["1"].order_id, view.orders["1"].status) == ("1", "partially_filled")
    assert (view.trades["t1"].maker_order_id, view.trades["t1"].taker_order_id) == ("1", "2")
    view.apply_all([msgspec.structs.replace(reduced("", "0", completed=True))])
    assert view.orders["1"].status == "cancelled"


@pytest.mark.spec("A1-04")
@pytest.mark.parametrize("taker_side", ["BUY", "SELL"])
def test_the_movements_of_a_trade_sum_to_zero_in_each_asset(taker_side: str) -> None:
    sums: dict[str, Decimal] = {}
    for (_, asset), amount in movements(trade("t1", taker_side=taker_side)):
        sums[asset] = sums.get(asset, Decimal(0)) + amount
    assert sums == {"BTC": 0, "USD": 0}


def test_money_moves_totals_and_a_hold_does_not() -> None:
    def moved(kind: str, amount: str) -> list[tuple[tuple[str, str], Decimal]]:
        return movements(BalanceEvent(1, 1, kind, "u1", "USD", amount, "1", "r"))

    assert moved("ADJUST", "-1.5") == moved("COMMIT", "-1.5") == [(("u1", "USD"), Decimal("-1.5"))]
    assert moved("RESERVE", "5") == moved("RELEASE", "5") == movements(accepted("a")) == []
