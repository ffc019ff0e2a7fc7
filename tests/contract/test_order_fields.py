"""What a client says about an order arrives where it is shown: no place on the way lacks a field.

The edge, the router, the engine's metadata and the client each name the fields. Most of them may be left out, so a
place that forgot one would lose it without a fault.
"""

import inspect
from decimal import Decimal

import pytest

from openspot.archive.kinds import ORDERS as ORDER_KIND
from openspot.client.order_calls import OrderCalls, order_fields
from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import OrderRecord, OrderRequest, SubmitOrder, SubmitOrderList
from openspot.domain.order_list import ListType
from openspot.rest_edge.orders.list_schemas import OrderListBody
from openspot.rest_edge.orders.schemas import OrderBody
from openspot.rest_edge.orders.store import ORDER_COLUMNS as EDGE_COLUMNS
from openspot.router.order_columns import ORDER_COLUMNS
from openspot.router.orders.draft import draft_of
from openspot.router.orders.engine_orders import Listing, listed_order, pending_order, place_request
from openspot.router.orders.pre_trade import Candidate, Reference, first_failure
from openspot.router.tracked_order import TrackedOrder, record_of
from openspot.router.translation.order_state_machine import OrderStateMachine
from tests.unit.router.orders import MARKETS, accepted, waiting
from tests.unit.router.test_order_list_events import listed

LIMIT = {
    "symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "1.5", "price": "99.95", "timeInForce": "ioc",
    "marginMode": "cross", "maxSlippageBps": "12.5", "clientOrderId": "mine",
}  # fmt: skip
"""Every field of a limit order, with a value that no default has."""
TERMS = {"stopPrice", "triggerBy", "trailingAmount", "trailingBps", "expiresAt", "selfTradePrevention"}
NOT_OF_THIS_ORDER = {"quoteQuantity", "postOnly", "postOnlyMode", "displayQuantity"} | TERMS
"""Post-only orders and those with terms have other types or times in force: they are tested apart."""
TERMS_SHOWN = {"stop_price", "trigger_by", "trailing_amount", "trailing_bps", "expires_at", "self_trade_prevention"}
SHOWN = (
    ({*OrderRequest.__struct_fields__} & {*OrderRecord.__struct_fields__})
    - TERMS_SHOWN
    - {"post_only", "display_quantity", "max_slippage_bps"}
)


def request() -> OrderRequest:
    """The order as the edge sends it to the router."""
    return OrderBody.model_validate(LIMIT).to_request("o1")


def checked() -> Candidate:
    """The order as the router sends it to the engine."""
    candidate = Candidate(draft_of(SubmitOrder("u1", request())), MARKETS, Reference(Decimal(100)))
    assert first_failure(candidate) is None
    return candidate


def test_the_order_of_this_test_has_every_field_of_a_limit_order() -> None:
    fields = {field.alias or name for name, field in OrderBody.model_fields.items()}
    assert fields - LIMIT.keys() == NOT_OF_THIS_ORDER


def test_the_edge_sends_every_field_to_the_router() -> None:
    aliases = {name: field.alias or name for name, field in OrderBody.model_fields.items()}
    sent = request()
    assert {alias: getattr(sent, name) for name, alias in aliases.items() if alias in LIMIT} == LIMIT
    assert {*OrderRequest.__struct_fields__} - aliases.keys() == {"order_id"}


def test_the_answer_shows_every_field() -> None:
    record = record_of(pending_order(checked(), 42, 1_700_000_000_000))
    assert {name: getattr(record, name) for name in SHOWN} == {name: getattr(request(), name) for name in SHOWN}


def test_the_order_that_the_engine_reports_has_every_field() -> None:
    placed = place_request(checked(), 42, honour_time_in_force=False)
    event = accepted(1, 42, order_id=placed.external_id, side="sell", price="99.95", quantity="1.5",
                     metadata=placed.metadata)  # fmt: skip
    (order,) = OrderStateMachine("epoch", []).apply(event).orders
    record = record_of(order)
    assert {name: getattr(record, name) for name in SHOWN} == {name: getattr(request(), name) for name in SHOWN}


@pytest.mark.parametrize(("mode", "sent"), [("refuse", orders_pb2.REFUSE), ("slide", orders_pb2.SLIDE)])
def test_a_post_only_order_stays_one_along_the_whole_way(mode: str, sent: int) -> None:
    body = {"symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "1.5", "price": "99.95"}
    wanted = OrderBody.model_validate(body | {"postOnly": True, "postOnlyMode": mode}).to_request("o1")
    candidate = Candidate(
        draft_of(SubmitOrder("u1", wanted)), MARKETS, Reference(Decimal(100)), has_complete_rules=True
    )
    assert first_failure(candidate) is None
    assert record_of(pending_order(candidate, 42, 1_700_000_000_000)).post_only is True
    placed = place_request(candidate, 42, honour_time_in_force=True)
    assert (placed.type, placed.post_only) == (orders_pb2.GTC, sent)
    event = accepted(1, 42, order_id=placed.external_id, order_type="POST_ONLY", metadata=placed.metadata)
    (order,) = OrderStateMachine("epoch", []).apply(event).orders
    assert record_of(order).post_only is True


def test_an_order_that_shows_a_part_shows_it_along_the_whole_way() -> None:
    body = {"symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "1.5", "price": "99.95"}
    wanted = OrderBody.model_validate(body | {"displayQuantity": "0.25"}).to_request("o1")
    candidate = Candidate(
        draft_of(SubmitOrder("u1", wanted)), MARKETS, Reference(Decimal(100)), has_complete_rules=True
    )
    assert first_failure(candidate) is None
    assert record_of(pending_order(candidate, 42, 1_700_000_000_000)).display_quantity == "0.25"
    placed = place_request(candidate, 42, honour_time_in_force=True)
    assert placed.display_quantity == candidate.market.spec.base_scale_k // 4
    event = accepted(1, 42, order_id=placed.external_id, metadata=placed.metadata)
    (order,) = OrderStateMachine("epoch", []).apply(event).orders
    assert record_of(order).display_quantity == "0.25"


def test_what_an_order_that_waits_may_slip_stays_along_the_whole_way() -> None:
    body = {"symbol": "BTC-USD", "side": "sell", "type": "trailing_stop_market", "quantity": "1.5", "trailingBps": 70}
    wanted = OrderBody.model_validate(body | {"maxSlippageBps": "12.5"}).to_request("o1")
    candidate = Candidate(
        draft_of(SubmitOrder("u1", wanted)), MARKETS, Reference(Decimal(100)), has_complete_rules=True
    )
    assert first_failure(candidate) is None
    assert record_of(pending_order(candidate, 42, 1_700_000_000_000)).max_slippage_bps == "12.5"
    placed = place_request(candidate, 42, honour_time_in_force=True)
    (order,) = OrderStateMachine("epoch", []).apply(waiting(1, 42, metadata=placed.metadata)).orders
    assert record_of(order).max_slippage_bps == "12.5"


@pytest.mark.parametrize(
    ("terms", "sent"),
    [
        (
            {"type": "stop_limit", "stopPrice": "100.1", "triggerBy": "mark"},
            (orders_pb2.TRIGGER_FIXED, orders_pb2.TRIGGER_MARK_PRICE, orders_pb2.TRIGGER_AT_OR_BELOW, 10_010),
        ),
        (
            {"type": "take_profit_limit", "stopPrice": "100.1", "triggerBy": "last"},
            (orders_pb2.TRIGGER_FIXED, orders_pb2.TRIGGER_LAST_TRADE, orders_pb2.TRIGGER_AT_OR_ABOVE, 10_010),
        ),
        (
            {"type": "trailing_stop_limit", "trailingAmount": "0.5", "triggerBy": "last"},
            (
                orders_pb2.TRIGGER_TRAILING_DISTANCE,
                orders_pb2.TRIGGER_LAST_TRADE,
                orders_pb2.TRIGGER_AT_OR_BELOW,
                50,
            ),
        ),
        (
            {"type": "trailing_stop_limit", "trailingBps": 70, "triggerBy": "last"},
            (
                orders_pb2.TRIGGER_TRAILING_BASIS_POINTS,
                orders_pb2.TRIGGER_LAST_TRADE,
                orders_pb2.TRIGGER_AT_OR_BELOW,
                70,
            ),
        ),
    ],
)
def test_the_terms_of_an_order_stay_along_the_whole_way(terms: dict[str, object], sent: tuple[int, ...]) -> None:
    order = {"symbol": "BTC-USD", "side": "sell", "quantity": "1.5", "price": "99.95"} | terms
    order |= {"timeInForce": "gtd", "expiresAt": "2090-01-02T03:04:05.678Z", "selfTradePrevention": "cancel_both"}
    wanted = OrderBody.model_validate(order).to_request("o1")
    candidate = Candidate(
        draft_of(SubmitOrder("u1", wanted)), MARKETS, Reference(Decimal(100)), has_complete_rules=True
    )
    assert first_failure(candidate) is None
    placed = place_request(candidate, 42, honour_time_in_force=True)
    assert (placed.trigger, placed.trigger_source, placed.trigger_direction, placed.trigger_value) == sent
    assert (placed.expires_at_ms, placed.self_trade_prevention) == (
        3_787_009_445_678, orders_pb2.SELF_TRADE_PREVENTION_CANCEL_BOTH,
    )  # fmt: skip
    pending = record_of(pending_order(candidate, 42, 1_700_000_000_000))
    (order_of_event,) = OrderStateMachine("epoch", []).apply(waiting(1, 42, metadata=placed.metadata)).orders
    for record in (pending, record_of(order_of_event)):
        assert {name: getattr(record, name) for name in TERMS_SHOWN} == {
            name: getattr(wanted, name) for name in TERMS_SHOWN
        }
        assert (record.trigger_status, record.type, record.time_in_force) == ("waiting", order["type"], "gtd")


def test_the_list_of_an_order_stays_along_the_whole_way() -> None:
    order = {"symbol": "BTC-USD", "side": "sell", "quantity": "1.5", "type": "stop_limit", "stopPrice": "95"}
    body = OrderListBody.model_validate(
        {"type": "oto", "clientListId": "mine", "orders": [
            {"symbol": "BTC-USD", "side": "buy", "quantity": "1.5", "type": "limit", "price": "99.95"},
            order | {"price": "94.95", "clientOrderId": "exit"},
        ]}
    )  # fmt: skip
    list_id = body.list_id("u1", "operation")
    sent = SubmitOrderList("u1", list_id, body.type.value, body.to_requests(list_id), body.client_list_id)
    wanted = {
        "list_id": list_id, "client_list_id": "mine", "list_type": "oto", "list_role": "stop_loss",
        "list_state": "planned",
    }  # fmt: skip
    assert wanted.keys() == {name for name in OrderRecord.__struct_fields__ if "list_" in name}
    candidate = Candidate(
        draft_of(SubmitOrder("u1", sent.orders[1])), MARKETS, Reference(Decimal(100)), has_complete_rules=True
    )
    assert first_failure(candidate) is None
    listing = Listing(list_id, sent.client_list_id, ListType(sent.type), 2)
    placed = place_request(candidate, 42, honour_time_in_force=True, listing=listing)
    pending = listed_order(pending_order(candidate, 42, 1_700_000_000_000), candidate.draft, listing)
    event = listed(1, 42, 3, list_type="OTO", list_place=2, list_id="9", metadata=placed.metadata)
    (order_of_event,) = OrderStateMachine("epoch", []).apply(event).orders
    for tracked in (pending, order_of_event):
        record = record_of(tracked)
        assert {name: getattr(record, name) for name in wanted} == wanted
        assert (record.client_order_id, record.stop_price) == ("exit", "95")
    assert ORDER_KIND.columns.keys() == {*ORDER_COLUMNS}
    assert all(name in EDGE_COLUMNS for name in wanted)


def test_a_row_has_a_column_for_every_field() -> None:
    assert [name.removesuffix("_at") for name in ORDER_COLUMNS] == [
        name.removesuffix("_ms") for name in TrackedOrder.__struct_fields__
    ]


@pytest.mark.parametrize("call", [order_fields, OrderCalls.place_order])
def test_the_client_can_say_every_field(call: object) -> None:
    assert callable(call)
    named = {"order_type": "type"}
    said = {named.get(name, name) for name in inspect.signature(call).parameters}
    assert {*OrderBody.model_fields} <= said
