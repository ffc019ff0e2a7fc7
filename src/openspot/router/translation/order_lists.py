"""What the events of order lists say of orders: rules without clock and IO.

A list is known from its open orders alone, so a restart needs nothing but their rows. LISTED comes first, for each
order. ACCEPTED or WAITING follows at once for an entry and for the exits of an OCO. The other exits are planned until
their entry fills.
"""

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from openspot.contracts.engine_events import AcceptedEvent, ListedEvent, UnarmedEvent, WaitingEvent
from openspot.contracts.messages import SendNotification
from openspot.domain.accounts import user_of_account
from openspot.domain.order import OrderType
from openspot.domain.order_list import ListState, ListType, engine_list_id, role_of
from openspot.domain.result_code import ResultCode
from openspot.router.tracked_order import TrackedOrder

_WHY_UNARMED = {
    ResultCode.RISK_NSF.name: "your account does not have the funds that they need",
    ResultCode.PARTICIPANT_INACTIVE.name: "your account is not active",
}
_replace = msgspec.structs.replace


class FollowedLists:
    """The open orders of each list that binds them, by the engine's number of the list."""

    def __init__(self, orders: Iterable[TrackedOrder]) -> None:
        self._orders: dict[int, dict[int, str]] = {}
        for order in orders:
            self.note(order)

    def note(self, order: TrackedOrder) -> None:
        """Take a new state of an order."""
        if order.list_id is None or order.engine_order_id is None:
            return
        number = engine_list_id(order.list_id)
        if order.is_in_a_list:
            self._orders.setdefault(number, {})[order.engine_order_id] = order.list_id
            return
        orders = self._orders.get(number, {})
        orders.pop(order.engine_order_id, None)
        if not orders:
            self._orders.pop(number, None)

    def orders_of(self, number: str) -> list[int]:
        """The engine's ids of the open orders of a list."""
        return sorted(self._orders.get(int(number), ()))

    def id_of(self, number: str) -> str:
        """The id of a list as its owner knows it."""
        return next(iter(self._orders.get(int(number), {}).values()), number)


def first_state(list_type: ListType, place: int) -> ListState:
    """The state of the order at `place`, from 1, as it is listed."""
    return ListState.PLANNED if list_type.has_entry and place > 1 else ListState.ACTIVE


def listed(order: TrackedOrder, event: ListedEvent) -> TrackedOrder:
    """The order of a LISTED event with what the event says of its list. The router's own id of the list stays."""
    list_type = ListType(event.list_type.lower())
    return _replace(
        order,
        list_id=order.list_id or event.list_id,
        list_type=list_type.value,
        list_role=role_of(list_type, event.list_place, OrderType(order.type)).value,
        list_state=first_state(list_type, event.list_place).value,
    )


def placed(order: TrackedOrder, event: AcceptedEvent | WaitingEvent) -> TrackedOrder:
    """An order of a list that is placed. An exit gets the quantity that its entry has filled."""
    return _replace(
        order,
        price=None if order.price is None else Decimal(event.price),
        quantity=Decimal(event.quantity),
        remaining_quantity=Decimal(event.quantity),
        list_state=ListState.ACTIVE.value,
        last_sequence=event.seq,
        updated_ms=event.timestamp,
    )


def alone(order: TrackedOrder, sequence: int, timestamp: int) -> TrackedOrder:
    """An open order whose list has ended."""
    return _replace(order, list_state=ListState.ENDED.value, last_sequence=sequence, updated_ms=timestamp)


def without_its_list(order: TrackedOrder) -> TrackedOrder:
    """The order of a list that was refused because another list has its id: the rows of that one stay apart."""
    return _replace(order, list_id=None, client_list_id=None, list_type=None, list_role=None, list_state=None)


def unarmed_notification(epoch: str, event: UnarmedEvent, list_id: str) -> SendNotification:
    """Tell the owner of a list that a position has no exits."""
    base = event.symbol.partition("-")[0]
    why = _WHY_UNARMED.get(event.reason, event.reason)
    return SendNotification(
        f"order.list_not_armed:{epoch}-{event.seq}",
        user_of_account(event.participant_id),
        "order.list_not_armed",
        f"Position without its exits: {event.symbol}",
        f"The entry of your order list {list_id} has filled {event.quantity} {base} for which its exits could not be "
        f"placed: {why}. What was left of the entry is cancelled. Look whether this position needs other orders.",
        event.timestamp,
    )
