"""The terms of an order on their way to the engine, into rows and back."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.contracts.messages import OrderRequest, SubmitOrder
from openspot.domain.order import SelfTradePrevention, TriggerSource
from openspot.domain.order_terms import OrderTerms
from openspot.router.orders.draft import OrderDraft, draft_of
from openspot.router.orders.engine_terms import add_terms, kept_terms, terms_of, tracked_terms
from openspot.router.tracked_order import TrackedOrder
from tests.unit.router.orders import accepted, waiting
from tests.unit.router.test_order_state_machine import after, only_order

NOTHING = {
    "expires_at_ms": 0, "self_trade_prevention": 0, "trigger": 0, "trigger_source": 0, "trigger_direction": 0,
    "trigger_value": 0, "display_quantity": 0, "has_limit": False,
}  # fmt: skip


def draft(order_type: str, side: str = "buy", **fields: Any) -> OrderDraft:
    price = "100" if order_type.endswith("limit") else None
    request = OrderRequest("o1", "BTC-USD", side, order_type, "1", price, **fields)
    return draft_of(SubmitOrder("alice", request))


def sent(order: OrderDraft, scaled: int = 0, display: int = 0) -> dict[str, int]:
    """The fields of the request that the terms have set."""
    request = pb.PlaceOrderRequest()
    add_terms(request, order, scaled, display)
    return {name: getattr(request, name) for name in NOTHING}


@pytest.mark.parametrize(
    ("order_type", "side", "direction"),
    [
        ("stop_market", "buy", pb.TRIGGER_AT_OR_ABOVE),
        ("stop_limit", "sell", pb.TRIGGER_AT_OR_BELOW),
        ("take_profit_market", "buy", pb.TRIGGER_AT_OR_BELOW),
        ("take_profit_limit", "sell", pb.TRIGGER_AT_OR_ABOVE),
    ],
)
def test_a_stop_is_sent_with_its_direction_and_its_price(order_type: str, side: str, direction: int) -> None:
    fixed = {"trigger": pb.TRIGGER_FIXED, "trigger_value": 10_500, "trigger_direction": direction}
    fixed["has_limit"] = order_type.endswith("limit")
    order = draft(order_type, side, stop_price="105")
    assert sent(order, 10_500) == NOTHING | fixed | {"trigger_source": pb.TRIGGER_LAST_TRADE}
    by_mark = draft(order_type, side, stop_price="105", trigger_by="mark")
    assert sent(by_mark, 10_500) == NOTHING | fixed | {"trigger_source": pb.TRIGGER_MARK_PRICE}


def test_a_trailing_stop_is_sent_with_its_distance_in_prices_or_in_basis_points() -> None:
    below = {"trigger_direction": pb.TRIGGER_AT_OR_BELOW}
    amount = draft("trailing_stop_market", "sell", trailing_amount="2.5")
    distance = {"trigger": pb.TRIGGER_TRAILING_DISTANCE, "trigger_value": 250}
    assert sent(amount, 250) == NOTHING | below | distance
    bps = draft("trailing_stop_limit", "sell", trailing_bps=75)
    points = {"trigger": pb.TRIGGER_TRAILING_BASIS_POINTS, "trigger_value": 75, "has_limit": True}
    assert sent(bps, 0) == NOTHING | below | points


@pytest.mark.parametrize("mode", [None, *SelfTradePrevention])
def test_expiry_and_mode_are_sent_with_and_without_a_trigger(mode: SelfTradePrevention | None) -> None:
    numbers = [None, *SelfTradePrevention]
    expiry = {
        "time_in_force": "gtd",
        "expires_at": "2090-01-01T00:00:00Z",
        "self_trade_prevention": mode and mode.value,
    }
    wanted = {"expires_at_ms": 3_786_912_000_000, "self_trade_prevention": numbers.index(mode)}
    assert sent(draft("limit", **expiry), 7) == NOTHING | wanted
    stop = sent(draft("stop_limit", stop_price="105", **expiry), 10_500)
    assert {name: stop[name] for name in wanted} == wanted


def test_a_displayed_quantity_is_sent_with_and_without_a_trigger_and_kept() -> None:
    iceberg = draft("limit", display_quantity="0.250")
    assert sent(iceberg, 7, 2_500) == NOTHING | {"display_quantity": 2_500}
    assert (
        sent(draft("stop_limit", stop_price="105", display_quantity="0.250"), 10_500, 2_500)["display_quantity"]
        == 2_500
    )
    assert tracked_terms(iceberg)["display_quantity"] == Decimal("0.250")
    assert kept_terms(iceberg)["display_quantity"] == "0.25"


TERMS = {
    "stop_price": Decimal("105.50"), "trigger_by": "last", "trailing_amount": None, "trailing_bps": None,
    "expires_ms": 3_786_912_000_000, "self_trade_prevention": "cancel_both", "display_quantity": None,
    "max_slippage_bps": None,
}  # fmt: skip


def test_a_row_and_the_engines_metadata_keep_all_terms() -> None:
    full = draft(
        "stop_limit",
        stop_price="105.50",
        time_in_force="gtd",
        expires_at="2090-01-01T00:00:00Z",
        self_trade_prevention="cancel_both",
    )
    assert tracked_terms(full) == TERMS
    assert kept_terms(full) == {
        "stop_price": "105.5", "trigger_by": "last", "trailing_amount": None, "trailing_bps": None,
        "expires_at_ms": 3_786_912_000_000, "self_trade_prevention": "cancel_both", "display_quantity": None,
        "max_slippage_bps": None,
    }  # fmt: skip
    trailing = draft("trailing_stop_limit", "sell", trailing_amount="2.50", trigger_by="mark")
    assert tracked_terms(trailing) == {
        "stop_price": None, "trigger_by": "mark", "trailing_amount": Decimal("2.50"), "trailing_bps": None,
        "expires_ms": None, "self_trade_prevention": None, "display_quantity": None,
        "max_slippage_bps": None,
    }  # fmt: skip
    assert kept_terms(trailing)["trailing_amount"] == "2.5"
    by_points = draft("trailing_stop_market", "sell", trailing_bps=75)
    assert (tracked_terms(by_points)["trailing_bps"], kept_terms(by_points)["trailing_bps"]) == (75, 75)
    bounded = draft("trailing_stop_market", "sell", trailing_bps=75, max_slippage_bps="12.50")
    assert (tracked_terms(bounded)["max_slippage_bps"], kept_terms(bounded)["max_slippage_bps"]) == (
        Decimal("12.50"),
        "12.5",
    )
    # What has no trigger has matched at once.
    assert tracked_terms(draft("market", max_slippage_bps="12.5"))["max_slippage_bps"] is None
    assert set(tracked_terms(draft("limit")).values()) == {None}
    assert set(kept_terms(draft("limit")).values()) == {None}


def tracked(**fields: Any) -> TrackedOrder:
    _, translated = after(waiting(1, 1) if "trigger_by" in fields else accepted(1, 1))
    return msgspec.structs.replace(only_order(translated), **fields)


def test_an_order_has_its_terms_until_its_trigger_fires() -> None:
    shown = Decimal("0.25")
    order = tracked(**TERMS | {"trailing_amount": Decimal("2.5"), "trailing_bps": 75, "display_quantity": shown})
    lasting = OrderTerms(
        expires_ms=3_786_912_000_000,
        self_trade_prevention=SelfTradePrevention.CANCEL_BOTH,
        display_quantity=shown,
    )
    assert terms_of(order) == OrderTerms(
        Decimal("105.50"),
        TriggerSource.LAST,
        Decimal("2.5"),
        75,
        3_786_912_000_000,
        SelfTradePrevention.CANCEL_BOTH,
        shown,
    )
    assert terms_of(msgspec.structs.replace(order, triggered_ms=5)) == lasting
    assert terms_of(tracked()) == OrderTerms()
