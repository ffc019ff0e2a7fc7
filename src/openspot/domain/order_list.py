"""Order lists: up to three orders that depend on each other, and the rules of which orders fit together. Pure.

The matching core decides on a list as a whole (docs/protocol/matching.md, "Order lists"). These rules say beforehand,
in words, which order does not fit and why; none of them is stricter than the core.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.order import (
    TAKE_PROFIT_TYPES,
    TRAILING_TYPES,
    TRIGGER_TYPES,
    OrderListType,
    OrderType,
    PostOnlyMode,
    TimeInForce,
)

LIST_ORDERS_MAX = 3
ENGINE_LIST_ID_MAX = 2**63 - 1
_ENGINE_DIGITS_MAX = 20


class ListType(StrEnum):
    """How the orders of a list depend on each other."""

    OCO = "oco"
    """Two exits of one position: one cancels the other."""
    OTO = "oto"
    """An entry, which triggers one exit."""
    BRACKET = "bracket"
    """An entry, which triggers two exits, of which one cancels the other."""

    @property
    def number(self) -> OrderListType:
        """The type as the engine's records have it."""
        return OrderListType[self.name]

    @property
    def has_entry(self) -> bool:
        """Whether the first order triggers the others."""
        return self is not ListType.OCO

    @property
    def size(self) -> int:
        """How many orders such a list has."""
        return LIST_ORDERS_MAX if self is ListType.BRACKET else 2


class ListRole(StrEnum):
    """What an order is in its list."""

    ENTRY = "entry"
    TAKE_PROFIT = "take_profit"
    """An exit with a limit alone, or with the trigger of a take profit."""
    STOP_LOSS = "stop_loss"
    """An exit with the trigger of a stop, also of a trailing one."""


class ListState(StrEnum):
    """What its list means for an order."""

    PLANNED = "planned"
    """An exit whose entry has not filled anything yet: it holds no funds, and is neither in the book nor waits."""
    ACTIVE = "active"
    """What happens to one order of the list happens to the others."""
    ENDED = "ended"
    """The list ended while the order was open: it went on alone, as an order like any other."""


BOUND_STATES = frozenset({ListState.PLANNED, ListState.ACTIVE})
"""While an order has one of these, the engine changes it only together with its list."""


class ListedOrder(NamedTuple):
    """What the rules look at in an order of a list. `quantity` is in the base asset."""

    symbol: str
    is_buy: bool
    type: OrderType
    time_in_force: TimeInForce
    quantity: Decimal | None
    quote_quantity: Decimal | None
    post_only: PostOnlyMode | None
    client_order_id: str | None

    @property
    def has_trigger(self) -> bool:
        """Whether it waits for a price before it matches."""
        return self.type in TRIGGER_TYPES


def role_of(list_type: ListType, place: int, order_type: OrderType) -> ListRole:
    """The role of the order at `place`, from 1."""
    if list_type.has_entry and place == 1:
        return ListRole.ENTRY
    is_stop = order_type in TRIGGER_TYPES and order_type not in TAKE_PROFIT_TYPES
    return ListRole.STOP_LOSS if is_stop else ListRole.TAKE_PROFIT


def engine_list_id(list_id: str) -> int:
    """The engine's number of a list. A list that no router placed has its number as its id.

    The numbers of two lists are the same only by chance, once in 2^63. Then the engine refuses the second one while the
    first one lasts.
    """
    if list_id.isascii() and list_id.isdigit() and len(list_id) <= _ENGINE_DIGITS_MAX:
        return int(list_id)
    digest = hashlib.sha256(list_id.encode()).digest()
    return int.from_bytes(digest[:8], "big") % ENGINE_LIST_ID_MAX + 1


def list_fault(list_type: ListType, orders: Sequence[ListedOrder]) -> str | None:
    """Why the orders are no list of this type, with the place of the order, from 0, and its field; None if they are."""
    if len(orders) != list_type.size:
        parts = "the entry, then its exits" if list_type.has_entry else "the two exits"
        return f"orders must have {list_type.size} entries for a list of type {list_type}: {parts}"
    first, first_exit = orders[0], 1 if list_type.has_entry else 0
    client_ids: set[str] = set()
    for place, order in enumerate(orders):
        fault = _common_fault(first, order) or (
            _exit_fault(list_type, first, order) if place >= first_exit else _entry_fault(order)
        )
        if fault is None and order.client_order_id is not None and order.client_order_id in client_ids:
            fault = "clientOrderId is that of another order of the list"
        if fault is not None:
            return f"orders.{place}.{fault}"
        client_ids.add(order.client_order_id or "")
    exits = orders[first_exit:]
    if len(exits) > 1 and not any(order.has_trigger for order in exits):
        return f"orders.{len(orders) - 1}.type: of two exits at least one must have a trigger"
    return None


def _common_fault(first: ListedOrder, order: ListedOrder) -> str | None:
    if order.symbol != first.symbol:
        return f"symbol must be {first.symbol}: a list is on one market"
    if order.quote_quantity is not None:
        return "quoteQuantity must not be given in a list: give quantity"
    if order.quantity is None:
        return "quantity is required"
    if order.quantity != first.quantity:
        return "quantity must be that of the first order: a list is about one position"
    if order.post_only is PostOnlyMode.SLIDE:
        return "postOnlyMode slide does not go with a list"
    return None


def _entry_fault(order: ListedOrder) -> str | None:
    return f"type {order.type} is not for an entry" if order.type in TRAILING_TYPES else None


def _exit_fault(list_type: ListType, first: ListedOrder, order: ListedOrder) -> str | None:
    if order.is_buy is not (first.is_buy is not list_type.has_entry):
        side = "buy" if first.is_buy is not list_type.has_entry else "sell"
        return f"side must be {side}: " + ("an exit reverses its entry" if list_type.has_entry else "both are exits")
    if order.type is OrderType.MARKET:
        return "type market is not for an exit: it needs a price or a trigger"
    if order.type in TRAILING_TYPES and list_type.has_entry:
        return f"type {order.type} is not for an exit of an entry: no price is known that it could follow"
    if order.time_in_force is TimeInForce.FOK:
        return "timeInForce fok does not go with an exit"
    if order.time_in_force is TimeInForce.IOC and not order.has_trigger:
        return "timeInForce ioc does not go with an exit that has no trigger"
    if order.time_in_force is TimeInForce.GTD and list_type.has_entry:
        return "timeInForce gtd is not for an exit of an entry: its time could pass before the entry fills"
    if order.post_only is not None and list_type.has_entry:
        return "postOnly is not for an exit of an entry"
    return None
