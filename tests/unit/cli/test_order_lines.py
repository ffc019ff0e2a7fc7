"""What the commands about orders print."""

import json
from datetime import UTC, datetime
from decimal import Decimal

from msgspec.structs import replace

from openspot.cli.order_lines import cancelled_lines, json_line, list_lines, order_line, timer_line, trade_line
from openspot.client import BulkCancel, CancelFailure, CancelTimer, Order, OrderList, OwnTrade

TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ORDER = Order(
    order_id="A1", client_order_id=None, user_id="u", symbol="BTC-USD", side="buy", type="limit", time_in_force="gtc",
    margin_mode=None, price=Decimal("65000.50"), quantity=Decimal("0.015"), filled_quantity=Decimal(0),
    remaining_quantity=Decimal("0.015"), average_price=None, fee=Decimal(0), fee_currency="USD", status="open",
    reject_reason=None, created_at=TIME, updated_at=TIME,
)  # fmt: skip
STOP = replace(
    ORDER, type="stop_market", side="sell", price=None, stop_price=Decimal(60_000), trigger_by="last",
    trigger_status="waiting", trailing_amount=None, trailing_bps=None,
)  # fmt: skip


def test_an_order_is_a_line() -> None:
    assert order_line(ORDER) == "A1  BTC-USD  buy  limit  0.015  at 65000.50  open"
    assert order_line(STOP) == "A1  BTC-USD  sell  stop_market  0.015  trigger 60000 (last, waiting)  open"
    trailing = replace(STOP, type="trailing_stop_market", stop_price=None, trailing_bps=125, trigger_by="mark")
    assert order_line(trailing).split("  ")[5] == "trigger follows by 1.25 % (mark, waiting)"
    fired = replace(trailing, trailing_bps=None, trailing_amount=Decimal("12.5"), stop_price=Decimal(9))
    assert order_line(fired).split("  ")[5] == "trigger 9 by 12.5 (mark, waiting)"
    filled = replace(
        ORDER, status="filled", filled_quantity=Decimal("0.015"), average_price=Decimal("64999.5"),
        fee=Decimal("0.000000001"), time_in_force="gtd", expires_at=TIME, post_only=True, client_order_id="mine",
    )  # fmt: skip
    assert order_line(filled).split("  ")[6:] == [
        "filled", "filled 0.015 at 64999.5, fee 0.000000001 USD", "until 2026-01-02 03:04:05 UTC", "post-only",
        "[mine]",
    ]  # fmt: skip
    assert order_line(replace(ORDER, status="rejected", reject_reason="RISK_NSF")).endswith("rejected  (RISK_NSF)")


def test_json_has_the_names_and_the_texts_of_the_platform() -> None:
    written = json.loads(json_line(ORDER))
    assert (written["orderId"], written["price"], written["clientOrderId"], written["createdAt"]) == (
        "A1",
        "65000.50",
        None,
        "2026-01-02T03:04:05Z",
    )
    # What an order without a trigger does not have is not there.
    assert not {"stopPrice", "triggerStatus", "fills", "postOnly"} & written.keys()
    assert json.loads(json_line(STOP))["stopPrice"] == "60000"


def test_a_list_has_a_line_and_one_for_each_order() -> None:
    exit_ = replace(STOP, list_id="L1", list_type="oto", list_role="stop_loss", list_state="planned")
    iceberg = replace(ORDER, display_quantity=Decimal("0.001"))
    listed = OrderList("L1", "mine", "oto", "BTC-USD", "active", TIME, TIME, [iceberg, exit_])
    assert list_lines(listed) == [
        "L1  BTC-USD  oto  active  [mine]",
        "  A1  BTC-USD  buy  limit  0.015  at 65000.50  open  shows 0.001",
        "  A1  BTC-USD  sell  stop_market  0.015  trigger 60000 (last, waiting)  open  stop loss (planned)",
    ]
    first, second = json.loads(json_line(listed))["orders"]
    assert (first["displayQuantity"], "listRole" in first, second["listRole"]) == ("0.001", False, "stop_loss")


def test_trades_cancellations_and_the_timer_are_lines() -> None:
    trade = OwnTrade(
        "t1", "A1", "BTC-USD", "buy", Decimal(100), Decimal("0.5"), Decimal("-0.01"), "USD", "maker", 7, TIME
    )
    assert trade_line(trade) == "2026-01-02 03:04:05  t1  0.5 at 100  fee -0.01 USD  maker"
    outcome = BulkCancel(["a"], [CancelFailure("b", "no answer")])
    assert cancelled_lines(outcome) == ["a  cancelled", "b  not cancelled: no answer"]
    assert cancelled_lines(BulkCancel([], [])) == ["no order was open"]
    assert timer_line(CancelTimer(0, None, None, None)) == "no timer runs"
    assert timer_line(CancelTimer(60, TIME, TIME, 3)) == (
        "all open orders are cancelled at 2026-01-02 03:04:05 UTC unless you renew it; "
        "it last cancelled 3 orders, at 2026-01-02 03:04:05 UTC"
    )
