"""The engine's view, made out of its events."""

from decimal import Decimal
from typing import Any

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
from openspot.reconcile.projection import EngineProjection


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
        "seq": 1, "timestamp": 1, "symbol": "BTC-USD", "trade_id": trade_id, "taker_order_id": "2",
        "maker_order_id": "1", "taker_external_id": "taker", "maker_external_id": "maker", "taker_participant_id": "u2",
        "maker_participant_id": "u1", "taker_side": "SELL", "price": "100.5", "quantity": "0.5",
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
        ((trade("t", maker_external_id="a"), reduced("a", "0", completed=True)), "cancelled", 0),
        ((trade("t", maker_external_id="a"),), "partially_filled", Decimal("1.5")),
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


def test_events_of_orders_from_before_are_taken_without_them() -> None:
    balance = BalanceEvent(1, 1, "DEPOSIT", "u1", "USD", "1", "1", "r")
    moved = MovedEvent(1, 1, "BTC-USD", "1", "old", "u1", "BUY", "99.5", "2")
    view = projection(balance, moved, reduced("old", "0", completed=True), trade("t1"))
    assert not view.orders
    assert list(view.trades) == ["t1"]
