"""The events of order lists: rows, bus events and what a restart knows of a list."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.engine_events import EngineEvent, ListedEvent, ListEndedEvent, MovedEvent, UnarmedEvent
from openspot.contracts.messages import OrderEvent, SendNotification
from openspot.domain.order import OrderStatus
from openspot.domain.order_list import engine_list_id
from openspot.reconcile.projection import EngineProjection
from openspot.router.tracked_order import TrackedOrder
from openspot.router.translation.order_state_machine import OrderStateMachine, TranslatedEvent
from tests.unit.router.orders import accepted, reduced, rejected, trade, triggered, waiting

LIST_ID = "7mWpLQxT28sVbnC4"
NUMBER = str(engine_list_id(LIST_ID))
STOP = {"triggerBy": "last", "stopPrice": "95"}


def metadata(role: str, order_type: str = "limit", list_type: str = "bracket", **fields: Any) -> str:
    """What the router sends with an order of a list."""
    given = {
        "type": order_type, "timeInForce": "gtc", "listId": LIST_ID, "clientListId": "mine", "listType": list_type,
        "listRole": role,
    }  # fmt: skip
    return json.dumps(given | fields)


def listed(seq: int, engine_order_id: int, place: int, **fields: Any) -> ListedEvent:
    """An order of a bracket of 3 at 100 by alice was taken."""
    role, side, trigger = ("entry", "buy", "NONE"), ("take_profit", "sell", "NONE"), ("stop_loss", "sell", "FIXED")
    name, its_side, kind = (role, side, trigger)[place - 1]
    event = ListedEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side=its_side,
        list_id=NUMBER,
        list_type="BRACKET",
        list_place=place,
        order_type="GTC",
        price="100",
        quantity="3",
        metadata=metadata(name, "stop_limit", **STOP) if kind == "FIXED" else metadata(name),
        trigger_kind=kind,
        trigger_source="last",
        trigger_direction="atOrBelow",
        trigger_price="95" if kind == "FIXED" else "0",
        expires_at=0,
    )
    return msgspec.structs.replace(event, **fields)


def list_ended(seq: int, reason: str, **fields: Any) -> ListEndedEvent:
    event = ListEndedEvent(seq, 1_000 + seq, "BTC-USD", NUMBER, "BRACKET", "alice", reason)
    return msgspec.structs.replace(event, **fields)


def unarmed(seq: int, reason: str) -> UnarmedEvent:
    return UnarmedEvent(seq, 1_000 + seq, "BTC-USD", NUMBER, "BRACKET", "alice", reason, "1.5")


PLACED = (
    listed(1, 11, 1),
    listed(2, 12, 2),
    listed(3, 13, 3),
    accepted(4, 11, quantity="3", metadata=""),
)
ARMED = (
    trade(5, 31, 11, "1", is_maker_completed=False, maker_remaining="2"),
    accepted(6, 12, side="sell", price="105", quantity="1", metadata=""),
    waiting(7, 13, side="sell", quantity="1", metadata="", trigger_direction="atOrBelow", trigger_price="95"),
)


def after(*events: EngineEvent) -> tuple[OrderStateMachine, dict[int, TrackedOrder], TranslatedEvent]:
    """The machine, the newest state of each order, and the outcome of the last event."""
    machine, orders, translated = OrderStateMachine("epoch", []), {}, TranslatedEvent()
    for event in events:
        translated = machine.apply(event)
        orders |= {order.engine_order_id: order for order in translated.orders if order.engine_order_id}
    return machine, orders, translated


def published(translated: TranslatedEvent) -> list[tuple[str, str, str | None, str]]:
    """Subject, message id, reason and state in the list of each order event."""
    found = []
    for targets, message in translated.publications:
        assert isinstance(message, OrderEvent)
        found.append((targets[0].subject, targets[0].message_id, message.reason, str(message.order.list_state)))
    return found


def test_an_entry_is_pending_until_it_is_accepted_and_its_exits_are_open_as_planned() -> None:
    _, orders, last = after(*PLACED)
    assert {number: (order.status, order.list_state, order.list_role) for number, order in orders.items()} == {
        11: (OrderStatus.OPEN, "active", "entry"),
        12: (OrderStatus.OPEN, "planned", "take_profit"),
        13: (OrderStatus.OPEN, "planned", "stop_loss"),
    }
    assert {(order.list_id, order.client_list_id, order.list_type) for order in orders.values()} == {
        (LIST_ID, "mine", "bracket")
    }
    assert (orders[11].last_sequence, orders[11].created_ms) == (4, 1_001)
    assert (orders[13].type, orders[13].trigger_by, orders[13].stop_price) == ("stop_limit", "last", Decimal(95))
    assert published(last) == [("orders.created", "epoch-4-created", None, "active")]
    assert after(*PLACED[:1])[2].publications == []
    assert after(*PLACED[:1])[1][11].status is OrderStatus.PENDING
    assert published(after(*PLACED[:3])[2]) == [("orders.created", "epoch-3-created", None, "planned")]


def test_a_fill_of_the_entry_gives_its_exits_the_quantity_that_they_cover() -> None:
    _, orders, last = after(*PLACED, *ARMED)
    for number in (12, 13):
        assert (orders[number].quantity, orders[number].remaining_quantity) == (1, 1)
        assert (orders[number].status, orders[number].list_state) == (OrderStatus.OPEN, "active")
    assert published(last) == [("orders.updated", "epoch-7-updated", "ARMED", "active")]
    more = MovedEvent(8, 1_008, "BTC-USD", "12", "ext12", "alice", "sell", "105", "3", "3", "1")
    _, orders, last = after(*PLACED, *ARMED, more)
    assert (orders[12].quantity, orders[12].remaining_quantity) == (3, 3)


def test_the_end_of_a_planned_exit_is_a_cancel() -> None:
    ended = reduced(5, 13, reason="LIST_EXIT_ENDED", quantity="3", is_waiting=True)
    _, orders, last = after(*PLACED, ended)
    assert (orders[13].status, orders[13].list_state, orders[13].remaining_quantity) == (
        OrderStatus.CANCELLED, "planned", 0,
    )  # fmt: skip
    assert published(last) == [("orders.cancelled", "epoch-5-cancelled", "LIST_EXIT_ENDED", "planned")]


def test_an_order_that_is_open_when_its_list_ends_goes_on_alone() -> None:
    fired = triggered(8, 13, side="sell", quantity="1", remaining="1", trigger_price="95")
    gone = [reduced(9, 11, reason="LIST_EXIT_TRIGGERED"), reduced(10, 12, reason="LIST_EXIT_TRIGGERED")]
    machine, orders, last = after(*PLACED, *ARMED, fired, *gone, list_ended(11, "LIST_EXIT_TRIGGERED"))
    assert {number: order.list_state for number, order in orders.items()} == {
        11: "active", 12: "active", 13: "ended",
    }  # fmt: skip
    assert (orders[13].last_sequence, orders[13].updated_ms) == (11, 1_011)
    assert published(last) == [("orders.updated", "epoch-11-alone-13", "LIST_ENDED", "ended")]
    # Another list may get the number later: this order is no part of it.
    assert machine.apply(list_ended(12, "SUCCESS")).orders == []


def test_a_restart_between_any_two_events_changes_nothing() -> None:
    fired = triggered(8, 13, side="sell", quantity="1", remaining="1", trigger_price="95")
    events = [*PLACED, *ARMED, fired, reduced(9, 11), reduced(10, 12), list_ended(11, "LIST_EXIT_TRIGGERED")]
    _, expected, _ = after(*events)
    for cut in range(len(events)):
        _, rows, _ = after(*events[:cut])
        machine = OrderStateMachine("epoch", [order for order in rows.values() if not order.has_ended])
        for event in events[cut:]:
            rows |= {order.engine_order_id or 0: order for order in machine.apply(event).orders}
        assert rows == expected, cut


def test_a_position_without_its_exits_is_told_to_its_owner() -> None:
    _, _, last = after(*PLACED, unarmed(5, "RISK_NSF"))
    ((targets, message),) = last.publications
    assert (targets[0].subject, targets[0].message_id) == ("notifications.send", "epoch-5-unarmed")
    assert message == SendNotification(
        "order.list_not_armed:epoch-5",
        "alice",
        "order.list_not_armed",
        "Position without its exits: BTC-USD",
        f"The entry of your order list {LIST_ID} has filled 1.5 BTC for which its exits could not be placed: "
        "your account does not have the funds that they need. What was left of the entry is cancelled. Look whether "
        "this position needs other orders.",
        1_005,
    )
    (publication,) = after(*PLACED, unarmed(5, "PARTICIPANT_INACTIVE"))[2].publications
    assert isinstance(publication.message, SendNotification)
    assert "could not be placed: your account is not active." in publication.message.text


@pytest.mark.parametrize(("place", "state"), [(1, "active"), (2, "planned")])
def test_the_orders_of_a_refused_list_are_rejected_with_it(place: int, state: str) -> None:
    refused = rejected(1, 11, reason="LIST_EXIT_WOULD_FILL", metadata=listed(1, 11, place).metadata)
    _, orders, _ = after(refused)
    assert (orders[11].status, orders[11].list_id, orders[11].list_state) == (OrderStatus.REJECTED, LIST_ID, state)


def test_orders_that_were_refused_for_the_id_of_another_list_are_none_of_it() -> None:
    refused = rejected(1, 41, reason="DUPLICATE_LIST_ID", metadata=metadata("entry"))
    _, orders, _ = after(refused)
    order = orders[41]
    assert (order.status, order.reject_reason) == (OrderStatus.REJECTED, "DUPLICATE_LIST_ID")
    assert {order.list_id, order.client_list_id, order.list_type, order.list_role, order.list_state} == {None}


def test_a_list_that_no_router_placed_has_the_number_of_the_engine() -> None:
    events = [
        listed(seq, 10 + seq, place, metadata="", list_id="17")
        for seq, place in ((1, 1), (2, 2), (3, 3))
    ]  # fmt: skip
    machine, orders, _ = after(*events)
    assert {order.list_id for order in orders.values()} == {"17"}
    assert [order.list_role for order in orders.values()] == ["entry", "take_profit", "take_profit"]
    assert (orders[12].trigger_by, orders[13].trigger_by, orders[13].stop_price) == (None, "last", Decimal(95))
    machine.apply(accepted(4, 11, quantity="3", metadata=""))
    ended = machine.apply(list_ended(5, "SUCCESS", list_id="17"))
    assert [(order.engine_order_id, order.list_state) for order in ended.orders] == [
        (11, "ended"), (12, "ended"), (13, "ended"),
    ]  # fmt: skip
    assert len({message_id for _, message_id, *_ in published(ended)}) == 3


def test_the_comparison_with_the_engine_knows_planned_exits_and_what_they_become() -> None:
    projection = EngineProjection()
    projection.apply_all(PLACED)
    assert (projection.orders["ext12"].status, projection.orders["ext12"].quantity) == (OrderStatus.OPEN, 3)
    projection.apply_all(ARMED)
    assert (projection.orders["ext13"].remaining, projection.orders["ext12"].quantity) == (1, 1)
    assert (projection.orders["ext11"].filled, projection.orders["ext11"].remaining) == (1, 2)
    projection.apply_all([reduced(8, 13, reason="LIST_EXIT_ENDED")])
    assert projection.orders["ext13"].status is OrderStatus.CANCELLED
