"""An order's record to begin from: each test changes what it is about."""

from typing import Any

from msgspec import structs

from openspot.contracts.messages import OrderRecord

TIME = "2026-01-02T03:04:05.678Z"

_RECORD = OrderRecord(
    order_id="order1",
    client_order_id=None,
    user_id="u1",
    symbol="BTC-USD",
    side="buy",
    type="limit",
    time_in_force="gtc",
    margin_mode=None,
    price="100",
    quantity="1",
    filled_quantity="0",
    remaining_quantity="1",
    average_price=None,
    fee="0",
    fee_currency="USD",
    status="open",
    reject_reason=None,
    created_at=TIME,
    updated_at=TIME,
)


def order_record(**changes: Any) -> OrderRecord:
    """An open order that buys 1 BTC at 100 USD, but for `changes`."""
    return structs.replace(_RECORD, **changes)
