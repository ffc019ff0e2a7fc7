"""The shape of `orders.submit`: bad input of every field is refused with its name."""

from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.order import OrderType, TimeInForce
from openspot.router.orders.draft import InvalidRequestError, OrderSide, draft_of
from tests.unit.router.orders import submission


@pytest.mark.spec("A2.1-06", "A2.1-07", "A2.1-08", "A2.1-14")
def test_side_type_and_time_in_force_are_taken_in_any_letter_case() -> None:
    draft = draft_of(submission(side="SELL", type="Market", time_in_force="FOK"))
    assert (draft.side, draft.type, draft.time_in_force) == (OrderSide.SELL, OrderType.MARKET, TimeInForce.FOK)


@pytest.mark.spec("A1.2-09", "A1.2-10", "A2.1-09")
@pytest.mark.parametrize("order_type", ["limit", "market", "stop_limit", "stop_market"])
def test_every_type_and_a_margin_mode_pass_the_shape(order_type: str) -> None:
    draft = draft_of(submission(type=order_type, margin_mode="isolated", stop_price="90", client_order_id="mine"))
    assert (draft.type.value, draft.margin_mode, draft.client_order_id) == (order_type, "isolated", "mine")


def test_numbers_are_exact() -> None:
    draft = draft_of(submission(quantity="0.000000000000000001", price="1e3", max_slippage_bps="12.5"))
    assert (draft.quantity, draft.price) == (Decimal("0.000000000000000001"), Decimal(1000))
    assert draft.max_slippage_bps == Decimal("12.5")


NUMBERS = ["", " ", "abc", "NaN", "Infinity", "1,000", "0x10", "1e99", "0.0000000000000000001", "9" * 90]


@pytest.mark.spec("A2.1-06", "A2.1-07", "A2.1-08")
@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        *(("user_id", value, "userId") for value in ("", "a.b", "a b", "*", ">", "x" * 65, "ü")),
        *(("order_id", value, "orderId") for value in ("", "a.b", "a b", "x" * 65, "\n")),
        *(("symbol", value, "symbol") for value in ("", "BTC USD", "x" * 33, "BTC-USD\x00", "B*")),
        *(("side", value, "side") for value in ("", "long", "buy ")),
        *(("type", value, "type") for value in ("", "iceberg", "limit,market")),
        *(("time_in_force", value, "timeInForce") for value in ("", "gtx", "day")),
        *((field, value, named) for field, named in
          (("quantity", "quantity"), ("price", "price"), ("quote_quantity", "quoteQuantity"),
           ("stop_price", "stopPrice")) for value in NUMBERS),
        *(("max_slippage_bps", value, "maxSlippageBps")
          for value in ("-1.0", "10000.1", "1e300", "1e-300", "1.2345678901234567e-05", *NUMBERS)),
        *(("expires_at", value, "expiresAt") for value in ("", "soon", "2090-01-01", "2500-01-01T00:00:00Z")),
        *(("trailing_bps", value, "trailingBps") for value in (0, -1, 10_000)),
        *(("trigger_by", value, "triggerBy") for value in ("", "index")),
        *(("self_trade_prevention", value, "selfTradePrevention") for value in ("", "maybe")),
        *(("margin_mode", value, "marginMode") for value in ("x" * 33, "a\x00b")),
        *(("client_order_id", value, "clientOrderId") for value in ("x" * 129, "a\nb", "\ud800")),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_read_is_named(field: str, value: Any, named: str) -> None:
    with pytest.raises(InvalidRequestError, match=rf"^{named} "):
        draft_of(submission(**{field: value}))


@pytest.mark.parametrize(
    ("field", "named", "choices"),
    [
        ("side", "side", "buy, sell"),
        ("time_in_force", "timeInForce", "gtc, ioc, fok, gtd"),
        ("trigger_by", "triggerBy", "last, mark"),
        ("post_only", "postOnlyMode", "refuse, slide"),
    ],
)
def test_a_choice_that_does_not_exist_is_told_with_those_that_do(field: str, named: str, choices: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        draft_of(submission(**{field: "none"}))
    assert str(refused.value) == f"{named} must be one of {choices}"
