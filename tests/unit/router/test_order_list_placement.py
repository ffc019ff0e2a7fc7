"""A list on its way to the engine and back: what its orders ask for, and what the response says of them."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.domain.order import OrderStatus
from openspot.domain.order_list import ListType
from openspot.router.orders.draft import draft_of
from openspot.router.orders.engine_orders import Listing, listed_order, orders_of_list, pending_order, place_request
from openspot.router.orders.pre_trade import BEFORE_BALANCE, Candidate, Reference, first_failure
from openspot.router.tracked_order import OrderMetadata, TrackedOrder
from tests.unit.router.orders import MARKETS, SPEC, submission

NOW_MS = 1_700_000_000_000


def complete(entry: Candidate | None = None, **fields: Any) -> Candidate:
    """A limit buy of 1 at 100 under the complete rules, but for the fields, while the last trade is at 100."""
    draft = draft_of(submission(**fields))
    return Candidate(draft, MARKETS, Reference(Decimal(100)), has_complete_rules=True, entry=entry)


def pending(*candidates: Candidate, list_type: ListType = ListType.BRACKET) -> list[TrackedOrder]:
    orders = []
    for place, candidate in enumerate(candidates, 1):
        assert first_failure(candidate, BEFORE_BALANCE) is None
        listing = Listing("list1", "mine", list_type, place)
        orders.append(listed_order(pending_order(candidate, 40 + place, NOW_MS), candidate.draft, listing))
    return orders


def response(**fields: Any) -> orders_pb2.PlaceOrderListResponse:
    given = {"status": orders_pb2.ACCEPTED, "result_code": "SUCCESS", "sequence": 9, "timestamp": NOW_MS + 5}
    return orders_pb2.PlaceOrderListResponse(**given | fields)


def entry_and_exit() -> list[TrackedOrder]:
    entry, exit_ = pending(complete(), complete(side="sell", price="105", quantity="0.5"), list_type=ListType.OTO)
    return [entry, msgspec.structs.replace(exit_, created_ms=NOW_MS + 1)]


@pytest.mark.parametrize(
    ("filled", "remaining", "notional", "status"),
    [
        (0, 10_000, "", OrderStatus.OPEN),
        (4_000, 6_000, "40", OrderStatus.PARTIALLY_FILLED),
        (10_000, 0, "100", OrderStatus.FILLED),
        (5_000, 0, "50", OrderStatus.CANCELLED),
        (0, 0, "", OrderStatus.CANCELLED),
    ],
)
def test_the_response_tells_what_the_entry_has_filled(
    filled: int, remaining: int, notional: str, status: OrderStatus
) -> None:
    given = response(filled_quantity=filled, remaining_quantity=remaining, notional=notional)
    before = entry_and_exit()
    entry, exit_ = orders_of_list(before, ListType.OTO, SPEC, given)
    common = {"last_sequence": 9, "created_ms": NOW_MS + 5, "updated_ms": NOW_MS + 5}
    assert entry == msgspec.structs.replace(
        before[0], **common, status=status, filled_quantity=Decimal(filled) / 10_000,
        filled_notional=Decimal(notional or 0), remaining_quantity=Decimal(remaining) / 10_000,
    )  # fmt: skip
    assert exit_ == msgspec.structs.replace(before[1], **common, status=OrderStatus.OPEN)
    assert exit_.list_state == "planned"


def test_both_exits_of_an_oco_are_open() -> None:
    exits = pending(
        complete(side="sell", price="105"),
        complete(side="sell", type="stop_limit", price="95", stop_price="95"),
        list_type=ListType.OCO,
    )
    for order in orders_of_list(exits, ListType.OCO, SPEC, response(remaining_quantity=10_000)):
        assert (order.status, order.list_state, order.remaining_quantity) == (OrderStatus.OPEN, "active", 1)


def test_a_refused_list_has_rejected_orders_alone() -> None:
    given = response(status=orders_pb2.REJECTED, result_code="LIST_EXIT_WOULD_FILL", sequence=0, timestamp=0)
    for order in orders_of_list(entry_and_exit(), ListType.OTO, SPEC, given):
        assert (order.status, order.reject_reason, order.remaining_quantity) == (
            OrderStatus.REJECTED, "LIST_EXIT_WOULD_FILL", 0,
        )  # fmt: skip
        # The orders of a list have one time.
        assert (order.created_ms, order.updated_ms) == (NOW_MS, NOW_MS)


def test_the_engine_keeps_the_list_with_each_order() -> None:
    candidate = complete(side="sell", type="stop_market", price=None, stop_price="95")
    assert first_failure(candidate, BEFORE_BALANCE) is None
    listing = Listing("list1", None, ListType.BRACKET, 3)
    sent = place_request(candidate, 42, honour_time_in_force=True, listing=listing)
    kept = msgspec.json.decode(sent.metadata, type=OrderMetadata)
    assert (kept.list_id, kept.client_list_id, kept.list_type, kept.list_role) == (
        "list1",
        None,
        "bracket",
        "stop_loss",
    )
    alone = place_request(candidate, 42, honour_time_in_force=True)
    assert msgspec.json.decode(alone.metadata, type=OrderMetadata).list_id is None


@pytest.mark.parametrize(
    ("list_type", "place", "role", "state"),
    [
        (ListType.OCO, 1, "take_profit", "active"),
        (ListType.OCO, 2, "take_profit", "active"),
        (ListType.OTO, 1, "entry", "active"),
        (ListType.OTO, 2, "take_profit", "planned"),
        (ListType.BRACKET, 3, "take_profit", "planned"),
    ],
)
def test_an_order_is_kept_with_its_list_and_its_part_in_it(
    list_type: ListType, place: int, role: str, state: str
) -> None:
    candidate = complete(side="sell", price="105")
    assert first_failure(candidate, BEFORE_BALANCE) is None
    order, draft = pending_order(candidate, 42, NOW_MS), candidate.draft
    listed = listed_order(order, draft, Listing("list1", "mine", list_type, place))
    assert listed == msgspec.structs.replace(
        order, list_id="list1", client_list_id="mine", list_type=list_type.value, list_role=role, list_state=state
    )
    kept = Listing("list1", "mine", list_type, place).kept(draft)
    assert kept == {"list_id": "list1", "client_list_id": "mine", "list_type": list_type.value, "list_role": role}


def test_an_exit_of_an_entry_that_waits_is_compared_with_its_trigger() -> None:
    waits = complete(type="stop_limit", price="120", stop_price="120")
    assert first_failure(waits, BEFORE_BALANCE) is None
    near, far = (complete(waits, side="sell", price=price, quantity="1") for price in ("125", "140"))
    assert first_failure(near, BEFORE_BALANCE) is None
    failure = first_failure(far, BEFORE_BALANCE)
    assert failure is not None
    assert failure.reason.startswith(
        "price 140 deviates from the price of its entry's trigger 120 by more than 1000 bps"
    )
    # An entry that does not wait may fill now: its exit is compared with the last trade.
    at_once = complete(complete(), side="sell", price="125")
    refused = first_failure(at_once, BEFORE_BALANCE)
    assert refused is not None
    assert refused.reason.startswith("price 125 deviates from the last trade price 100")
