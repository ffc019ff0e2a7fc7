"""What the engine is sent for an order, and what its answer means."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import OrderFill
from openspot.domain.order import OrderStatus
from openspot.router.orders.engine_orders import (
    cancelled_order,
    found_order,
    order_in_response,
    pending_order,
    place_request,
    placed_record,
    refused_order,
    status_of,
)
from openspot.router.orders.pre_trade import Candidate, first_failure
from openspot.router.tracked_order import OrderMetadata, TrackedOrder, record_of
from tests.unit.router.orders import SPEC, candidate

NOW_MS = 1_700_000_000_000


def checked(reference: str | None = None, **fields: object) -> Candidate:
    given = candidate(reference, **fields)
    assert first_failure(given) is None
    return given


def sent(given: Candidate, *, honour: bool = False) -> orders_pb2.PlaceOrderRequest:
    return place_request(given, 42, honour_time_in_force=honour)


@pytest.mark.spec("A1.2-07", "A1.2-12", "A1.2-13", "A1.2-14")
@pytest.mark.parametrize("time_in_force", ["gtc", "ioc", "fok"])
def test_a_limit_order_is_sent_as_gtc_whatever_its_time_in_force(time_in_force: str) -> None:
    assert sent(checked(time_in_force=time_in_force)).type == orders_pb2.GTC


@pytest.mark.spec("A1.2-13", "A1.2-14")
@pytest.mark.parametrize(
    ("time_in_force", "sent_type"), [("gtc", orders_pb2.GTC), ("ioc", orders_pb2.IOC), ("fok", orders_pb2.FOK)]
)
def test_a_limit_order_is_sent_as_it_says_where_that_is_honoured(time_in_force: str, sent_type: int) -> None:
    assert sent(checked(time_in_force=time_in_force), honour=True).type == sent_type


def test_a_limit_order_of_a_liquidation_never_rests() -> None:
    order = sent(checked(time_in_force="ioc", is_immediate=True))
    assert (order.type, order.price) == (orders_pb2.IOC, 10000)


@pytest.mark.spec("A1.2-08", "A1.2-15")
@pytest.mark.parametrize("time_in_force", ["gtc", "ioc", "fok"])
def test_a_market_order_is_sent_as_ioc_with_a_bound(time_in_force: str) -> None:
    order = sent(checked("100", type="market", price=None, time_in_force=time_in_force))
    assert (order.type, order.price, order.reserve_price) == (orders_pb2.IOC, 10200, 10200)


@pytest.mark.spec("A1.2-15")
def test_a_market_order_is_fok_only_where_time_in_force_is_honoured() -> None:
    given = checked("100", type="market", price=None, time_in_force="fok")
    assert sent(given, honour=True).type == orders_pb2.FOK


@pytest.mark.spec("A1.3-27", "A1.3-28", "A1.3-29")
def test_an_order_is_sent_in_scaled_integers_with_a_reserve_price_on_buys_only() -> None:
    buy, sell = sent(checked(price="99.95", quantity="1.5")), sent(checked(side="sell"))
    assert (buy.price, buy.quantity, buy.reserve_price, buy.side) == (9995, 15000, 9995, orders_pb2.BUY)
    assert (sell.price, sell.quantity, sell.reserve_price, sell.side) == (10000, 10000, 0, orders_pb2.SELL)


def test_both_ids_and_what_the_engine_need_not_know_go_with_the_order() -> None:
    order = sent(checked(client_order_id="mine", margin_mode="cross", time_in_force="FOK"))
    assert (order.order_id, order.external_id, order.participant_id, order.symbol) == (42, "o1", "u1", "BTC-USD")
    metadata = msgspec.json.decode(order.metadata, type=OrderMetadata)
    assert metadata == OrderMetadata("limit", "fok", "mine", "cross")


def answer(status: int, **fields: object) -> orders_pb2.PlaceOrderResponse:
    given = {"order_id": 42, "result_code": "SUCCESS", "sequence": 9, "timestamp": NOW_MS + 5}
    return orders_pb2.PlaceOrderResponse(status=status, **(given | fields))


@pytest.mark.spec("A3.1-01", "A3.1-02", "A3.1-04")
@pytest.mark.parametrize(
    ("given", "status", "filled", "remaining"),
    [
        (answer(orders_pb2.ACCEPTED, remaining_quantity=10_000), OrderStatus.OPEN, "0", "1"),
        (answer(orders_pb2.ACCEPTED, filled_quantity=4_000, remaining_quantity=6_000, notional="40", fee="0.1"),
         OrderStatus.PARTIALLY_FILLED, "0.4", "0.6"),
        (answer(orders_pb2.ACCEPTED, filled_quantity=10_000, notional="100", fee="0.25", is_order_completed=True),
         OrderStatus.FILLED, "1", "0"),
        # Self-trade prevention took a part off, a fill the rest.
        (answer(orders_pb2.ACCEPTED, filled_quantity=4_000, notional="40", fee="0.1", is_order_completed=True),
         OrderStatus.FILLED, "0.4", "0"),
        # An IOC that filled in part: the rest is gone.
        (answer(orders_pb2.ACCEPTED, filled_quantity=4_000, notional="40", fee="0.1"),
         OrderStatus.CANCELLED, "0.4", "0"),
        (answer(orders_pb2.CANCELLED, result_code="IOC_REMAINDER"), OrderStatus.CANCELLED, "0", "0"),
        (answer(orders_pb2.REJECTED, result_code="RISK_NSF", remaining_quantity=10_000),
         OrderStatus.REJECTED, "0", "0"),
    ],
)  # fmt: skip
def test_the_answer_gives_the_real_state(
    given: orders_pb2.PlaceOrderResponse, status: OrderStatus, filled: str, remaining: str
) -> None:
    pending = pending_order(checked(), 42, NOW_MS)
    assert pending.status is OrderStatus.PENDING
    order = order_in_response(pending, SPEC, given)
    assert (order.status, order.last_sequence, order.created_ms) == (status, 9, NOW_MS + 5)
    record = record_of(order)
    assert (record.filled_quantity, record.remaining_quantity) == (filled, remaining)
    assert record.reject_reason == ("RISK_NSF" if status is OrderStatus.REJECTED else None)


def test_average_price_and_fee_come_from_the_engine() -> None:
    order = order_in_response(
        pending_order(checked(), 42, NOW_MS),
        SPEC,
        answer(orders_pb2.ACCEPTED, filled_quantity=3_000, remaining_quantity=7_000, notional="29.99", fee="0.074975"),
    )
    record = record_of(order)
    assert (record.average_price, record.fee, record.fee_currency) == ("99.966666666666666667", "0.074975", "USD")


@pytest.mark.spec("A3.1-03")
def test_a_refused_order_shows_its_reason_and_has_no_engine_id() -> None:
    record = record_of(refused_order(candidate(quantity=None).draft, "quantity is required", NOW_MS))
    assert (record.status, record.reject_reason, record.quantity) == ("rejected", "quantity is required", "0")
    assert record.created_at == "2023-11-14T22:13:20.000Z"


def test_a_refused_order_is_shown_with_its_margin_mode() -> None:
    order = refused_order(candidate(margin_mode="isolated").draft, "no", NOW_MS)
    assert order.margin_mode == "isolated"


def test_a_market_order_is_shown_without_price() -> None:
    given = checked("100", type="market", price="77")
    assert record_of(pending_order(given, 42, NOW_MS)).price is None


def test_a_cancelled_order_keeps_its_fills_and_has_nothing_left() -> None:
    partial = order_in_response(
        pending_order(checked(), 42, NOW_MS),
        SPEC,
        answer(orders_pb2.ACCEPTED, filled_quantity=4_000, remaining_quantity=6_000, notional="40", fee="0.1"),
    )
    order = cancelled_order(partial, 12, NOW_MS + 9)
    assert (order.status, order.filled_quantity, order.remaining_quantity) == (
        OrderStatus.CANCELLED,
        Decimal("0.4"),
        Decimal(0),
    )
    assert (order.last_sequence, order.updated_ms) == (12, NOW_MS + 9)


@pytest.mark.parametrize(
    ("status", "remaining", "filled"),
    [("OPEN", 10_000, "0"), ("PARTIALLY_FILLED", 6_000, "0.4"), ("FILLED", 0, "1"), ("CANCELLED", 6_000, "0")],
)
def test_an_order_that_only_the_engine_knows_is_shown_by_what_it_knows(
    status: str, remaining: int, filled: str
) -> None:
    found = orders_pb2.GetOrderResponse(
        found=True, order_id=42, external_id="o1", participant_id="u1", symbol="BTC-USD", side=orders_pb2.SELL,
        status=status, price=10_000, quantity=10_000, remaining_quantity=remaining,
    )  # fmt: skip
    record = record_of(found_order(found, SPEC, NOW_MS))
    assert (record.status, record.filled_quantity, record.side) == (status.lower(), filled, "sell")
    assert record.remaining_quantity == ("0" if status in ("FILLED", "CANCELLED") else str(Decimal(remaining) / 10_000))


FIXED_BELOW = {
    "trigger": orders_pb2.TRIGGER_FIXED, "trigger_direction": orders_pb2.TRIGGER_AT_OR_BELOW, "trigger_price": 9_500,
}  # fmt: skip
FIXED_ABOVE = FIXED_BELOW | {"trigger_direction": orders_pb2.TRIGGER_AT_OR_ABOVE}
BY_DISTANCE = {"trigger": orders_pb2.TRIGGER_TRAILING_DISTANCE, "trigger_value": 50, "trigger_price": 9_500}
BY_POINTS = BY_DISTANCE | {"trigger": orders_pb2.TRIGGER_TRAILING_BASIS_POINTS}


@pytest.mark.parametrize(
    ("side", "order_type", "trigger", "shown"),
    [
        ("SELL", "GTC", FIXED_BELOW, {"type": "stop_limit", "stop_price": "95", "price": "94"}),
        (
            "SELL",
            "IOC",
            FIXED_BELOW,
            {"type": "stop_market", "stop_price": "95", "price": None, "time_in_force": "ioc"},
        ),
        ("SELL", "GTC", FIXED_ABOVE, {"type": "take_profit_limit", "stop_price": "95"}),
        ("BUY", "IOC", FIXED_BELOW, {"type": "take_profit_market", "stop_price": "95"}),
        (
            "SELL",
            "IOC",
            FIXED_BELOW | {"has_limit": True},
            {"type": "stop_limit", "stop_price": "95", "price": "94", "time_in_force": "ioc"},
        ),
        ("BUY", "FOK", FIXED_BELOW | {"has_limit": True}, {"type": "take_profit_limit", "time_in_force": "fok"}),
        ("SELL", "IOC", BY_POINTS | {"has_limit": True}, {"type": "trailing_stop_limit", "trailing_bps": 50}),
        ("BUY", "GTC", FIXED_ABOVE, {"type": "stop_limit", "stop_price": "95"}),
        ("SELL", "GTC", BY_DISTANCE, {"type": "trailing_stop_limit", "trailing_amount": "0.5", "stop_price": None}),
        ("SELL", "IOC", BY_POINTS, {"type": "trailing_stop_market", "trailing_bps": 50, "trailing_amount": None}),
        (
            "SELL",
            "GTC",
            FIXED_BELOW | {"trigger_source": orders_pb2.TRIGGER_MARK_PRICE},
            {"type": "stop_limit", "trigger_by": "mark"},
        ),
    ],
)
def test_an_order_that_waits_is_shown_as_what_it_is_before_it_has_a_row(
    side: str, order_type: str, trigger: dict[str, Any], shown: dict[str, Any]
) -> None:
    found = orders_pb2.GetOrderResponse(
        found=True, order_id=42, external_id="o1", participant_id="u1", symbol="BTC-USD",
        side=orders_pb2.Side.Value(side), status="WAITING", price=9_300, quantity=10_000, remaining_quantity=10_000,
        trigger_limit=9_400, type=orders_pb2.OrderType.Value(order_type), **trigger,
    )  # fmt: skip
    record = record_of(found_order(found, SPEC, NOW_MS))
    wanted = {"status": "open", "trigger_status": "waiting", "trigger_by": "last", "remaining_quantity": "1"} | shown
    assert {name: getattr(record, name) for name in wanted} == wanted


def test_an_exit_that_is_planned_and_one_that_never_takes_are_open() -> None:
    found = orders_pb2.GetOrderResponse(
        found=True, order_id=42, external_id="o1", participant_id="u1", symbol="BTC-USD", side=orders_pb2.SELL,
        status="PLANNED", price=10_000, quantity=10_000, remaining_quantity=10_000, type=orders_pb2.GTC,
        post_only=orders_pb2.REFUSE,
    )  # fmt: skip
    record = record_of(found_order(found, SPEC, NOW_MS))
    assert (record.status, record.type, record.remaining_quantity, record.post_only) == ("open", "limit", "1", True)


def complete(reference: str | None = None, **fields: object) -> Candidate:
    given = candidate(reference, **fields)
    given.has_complete_rules = True
    assert first_failure(given) is None
    return given


@pytest.mark.parametrize(("side", "bound"), [("buy", 10_200), ("sell", 9_800)])
def test_an_amount_in_quote_is_the_engines_to_fit_under_the_complete_rules(side: str, bound: int) -> None:
    given = complete("100", type="market", price=None, quantity=None, quote_quantity="50.5", side=side)
    order = sent(given, honour=True)
    assert (order.type, order.price, order.budget) == (orders_pb2.IOC, bound, "50.5")
    # The market's largest quantity; the metadata has the most that the amount pays for at the bound.
    assert order.quantity == 10 * SPEC.base_scale_k
    metadata = msgspec.json.decode(order.metadata, type=OrderMetadata)
    assert metadata.quantity == {"buy": "0.495", "sell": "0.515"}[side]
    assert pending_order(given, 42, NOW_MS).quantity == Decimal(metadata.quantity)


def test_an_amount_in_quote_is_the_routers_to_fit_under_the_other_rules() -> None:
    order = sent(checked("100", type="market", price=None, quantity=None, quote_quantity="50.5"))
    assert (order.quantity, order.budget) == (4_950, "")


def test_only_the_complete_rules_ask_for_a_client_order_id_of_its_own_and_for_fills() -> None:
    plain, asked = sent(checked(client_order_id="mine")), sent(complete(client_order_id="mine"))
    assert (plain.client_order_id, plain.with_fills, plain.budget) == ("", False, "")
    assert (asked.client_order_id, asked.with_fills, asked.budget) == ("mine", True, "")
    assert plain.metadata == asked.metadata


def test_an_order_is_shown_as_the_engine_accepted_it() -> None:
    pending = pending_order(complete(post_only="slide"), 42, NOW_MS)
    answer = orders_pb2.PlaceOrderResponse(
        status=orders_pb2.ACCEPTED, remaining_quantity=10_000, accepted_price=9_990, sequence=7, timestamp=NOW_MS
    )
    order = order_in_response(pending, SPEC, answer)
    assert (order.price, order.quantity, order.status, order.post_only) == (
        Decimal("99.9"), Decimal(1), OrderStatus.OPEN, True,
    )  # fmt: skip


def test_the_fills_are_shown_in_units_of_the_assets() -> None:
    order = pending_order(complete(), 42, NOW_MS)
    answer = orders_pb2.PlaceOrderResponse(
        fills=[orders_pb2.PlacementFill(trade_id="t1", price=9_995, quantity=12_340, fee="0.3")], fills_truncated=True
    )
    shown = placed_record(order, SPEC, answer, with_fills=True)
    assert (shown.fills, shown.fills_truncated) == ([OrderFill("t1", "99.95", "1.234", "0.3", "USD")], True)
    assert placed_record(order, SPEC, answer, with_fills=False) == record_of(order)


def limit_order(**fields: Any) -> TrackedOrder:
    """The limit buy of 1 BTC at 100 USD that the tests begin from, but for `fields`, as the router follows it."""
    order = TrackedOrder(
        order_id="o1", engine_order_id=42, client_order_id=None, user_id="u1", symbol="BTC-USD", side="buy",
        type="limit", time_in_force="gtc", margin_mode=None, price=Decimal(100), quantity=Decimal(1),
        filled_quantity=Decimal(0), filled_notional=Decimal(0), remaining_quantity=Decimal(1), fee=Decimal(0),
        fee_currency="USD", status=OrderStatus.PENDING, reject_reason=None, last_sequence=0, created_ms=NOW_MS,
        updated_ms=NOW_MS,
    )  # fmt: skip
    return msgspec.structs.replace(order, **fields)


ICEBERG = {"display_quantity": "0.25", "self_trade_prevention": "cancel_both", "post_only": "refuse"}
TERMS_OF_ICEBERG = {"display_quantity": Decimal("0.25"), "self_trade_prevention": "cancel_both", "post_only": True}


def test_an_order_that_is_sent_has_what_its_user_asked_for_and_nothing_else() -> None:
    named = {"client_order_id": "mine", "margin_mode": "cross", "time_in_force": "ioc"}
    assert pending_order(checked(), 42, NOW_MS) == limit_order()
    assert pending_order(checked(**named, side="sell"), 42, NOW_MS) == limit_order(**named, side="sell")
    assert pending_order(complete(**ICEBERG), 42, NOW_MS) == limit_order(**TERMS_OF_ICEBERG)


def test_a_refused_order_is_kept_with_what_its_user_asked_for_and_its_reason() -> None:
    refused = {
        "engine_order_id": None,
        "status": OrderStatus.REJECTED,
        "remaining_quantity": Decimal(0),
        "reject_reason": "no",
    }
    draft = candidate(client_order_id="mine", side="sell", **ICEBERG).draft
    shown = limit_order(client_order_id="mine", side="sell", post_only=True, **refused)
    assert refused_order(draft, "no", NOW_MS) == shown
    shown = msgspec.structs.replace(shown, **TERMS_OF_ICEBERG)
    assert refused_order(draft, "no", NOW_MS, has_complete_rules=True) == shown


def test_the_terms_of_an_order_are_sent_under_the_complete_rules_alone() -> None:
    order = sent(complete(**ICEBERG))
    assert (order.display_quantity, order.post_only, order.self_trade_prevention) == (
        2_500, orders_pb2.REFUSE, orders_pb2.SELF_TRADE_PREVENTION_CANCEL_BOTH,
    )  # fmt: skip
    assert msgspec.json.decode(order.metadata, type=OrderMetadata) == OrderMetadata(
        "limit", "gtc", self_trade_prevention="cancel_both", display_quantity="0.25"
    )
    stop = sent(complete(type="stop_limit", stop_price="105", client_order_id=None))
    assert (stop.trigger, stop.trigger_value, stop.has_limit, stop.client_order_id) == (
        orders_pb2.TRIGGER_FIXED, 10_500, True, "",
    )  # fmt: skip
    # A stop price beside another type was always ignored here.
    ignored = sent(checked(stop_price="105"))
    assert ignored == sent(checked())
    assert (ignored.trigger, ignored.display_quantity, ignored.post_only) == (0, 0, orders_pb2.MAY_TAKE)


def test_an_order_that_slides_is_sent_as_one() -> None:
    assert sent(complete(post_only="slide")).post_only == orders_pb2.SLIDE


def test_an_order_with_an_end_rests_until_then() -> None:
    until = {"time_in_force": "gtd", "expires_at": "2090-01-01T00:00:00Z"}
    order = sent(complete(**until), honour=True)
    assert (order.type, order.expires_at_ms) == (orders_pb2.GTC, 3_786_912_000_000)


def test_an_order_is_kept_with_all_that_the_engine_answers() -> None:
    given = answer(
        orders_pb2.ACCEPTED, filled_quantity=2_000, remaining_quantity=3_000, accepted_quantity=5_000,
        accepted_price=9_990, notional="19.9", fee="0.05",
    )  # fmt: skip
    later = {"last_sequence": 9, "created_ms": NOW_MS + 5, "updated_ms": NOW_MS + 5}
    assert order_in_response(pending_order(checked(), 42, NOW_MS), SPEC, given) == limit_order(
        **later, price=Decimal("99.9"), quantity=Decimal("0.5"), filled_quantity=Decimal("0.2"),
        filled_notional=Decimal("19.9"), remaining_quantity=Decimal("0.3"), fee=Decimal("0.05"),
        status=OrderStatus.PARTIALLY_FILLED,
    )  # fmt: skip
    untold = orders_pb2.PlaceOrderResponse(status=orders_pb2.REJECTED, result_code="RISK_NSF", remaining_quantity=7)
    assert order_in_response(pending_order(checked(), 42, NOW_MS), SPEC, untold) == limit_order(
        status=OrderStatus.REJECTED, reject_reason="RISK_NSF", remaining_quantity=Decimal(0)
    )


def test_a_market_order_has_no_price_whatever_the_engine_accepted() -> None:
    pending = pending_order(checked("100", type="market", price=None), 42, NOW_MS)
    accepted = answer(orders_pb2.ACCEPTED, filled_quantity=10_000, accepted_price=10_200, is_order_completed=True)
    assert order_in_response(pending, SPEC, accepted).price is None


def test_a_cancelled_order_keeps_the_later_one_of_sequences_and_times() -> None:
    order = limit_order(status=OrderStatus.OPEN, last_sequence=20, updated_ms=NOW_MS + 50)
    ended = {"status": OrderStatus.CANCELLED, "remaining_quantity": Decimal(0)}
    assert cancelled_order(order, 12, NOW_MS) == msgspec.structs.replace(order, **ended)
    assert cancelled_order(order, 21, NOW_MS + 51) == msgspec.structs.replace(
        order, **ended, last_sequence=21, updated_ms=NOW_MS + 51
    )


@pytest.mark.parametrize(
    ("order_type", "time_in_force"),
    [("GTC", "gtc"), ("IOC", "ioc"), ("FOK", "fok"), ("FOK_BUDGET", "fok")],
)
def test_an_order_without_a_row_is_kept_with_all_that_the_engine_knows(order_type: str, time_in_force: str) -> None:
    found = orders_pb2.GetOrderResponse(
        found=True, order_id=42, external_id="o1", participant_id="u1", symbol="BTC-USD", side=orders_pb2.BUY,
        status="PARTIALLY_FILLED", price=10_000, quantity=10_000, remaining_quantity=6_000,
        type=orders_pb2.OrderType.Value(order_type),
    )  # fmt: skip
    assert found_order(found, SPEC, NOW_MS) == limit_order(
        time_in_force=time_in_force, status=OrderStatus.PARTIALLY_FILLED, filled_quantity=Decimal("0.4"),
        filled_notional=Decimal(40), remaining_quantity=Decimal("0.6"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("PLANNED", OrderStatus.OPEN),
        ("WAITING", OrderStatus.OPEN),
        ("OPEN", OrderStatus.OPEN),
        ("PARTIALLY_FILLED", OrderStatus.PARTIALLY_FILLED),
        ("FILLED", OrderStatus.FILLED),
        ("CANCELLED", OrderStatus.CANCELLED),
        ("REJECTED", OrderStatus.REJECTED),
    ],
)
def test_a_name_of_the_engine_is_a_status(name: str, status: OrderStatus) -> None:
    assert status_of(orders_pb2.GetOrderResponse(status=name)) is status
