"""The alternative names of order states (fact A3.2-01), as in the execution reports of other trading systems.

The spec gives the names but no transitions; this file defines them. Each name is derived from the order's state, so
the two never disagree. Only Expired needs more than the state: it is a cancelled order that could not rest (market,
ioc, fok). Nobody cancelled it; its remainder found no counterparty.
"""

from enum import StrEnum

from openspot.domain.order import TRANSITIONS, OrderStatus


class OrderName(StrEnum):
    """An alternative name of an order's state."""

    PENDING_NEW = "PendingNew"
    NEW = "New"
    PARTIALLY_FILLED = "PartiallyFilled"
    FILLED = "Filled"
    CANCELLED = "Cancelled"
    REJECTED = "Rejected"
    EXPIRED = "Expired"


_NAMES = {
    OrderStatus.PENDING: OrderName.PENDING_NEW,
    OrderStatus.OPEN: OrderName.NEW,
    OrderStatus.PARTIALLY_FILLED: OrderName.PARTIALLY_FILLED,
    OrderStatus.FILLED: OrderName.FILLED,
    OrderStatus.CANCELLED: OrderName.CANCELLED,
    OrderStatus.REJECTED: OrderName.REJECTED,
}


def order_name(status: OrderStatus, *, may_rest: bool) -> OrderName:
    """The alternative name of a state. `may_rest` tells whether the order can rest in the book."""
    if status is OrderStatus.CANCELLED and not may_rest:
        return OrderName.EXPIRED
    return _NAMES[status]


NAME_TRANSITIONS: frozenset[tuple[OrderName, OrderName]] = frozenset(
    (order_name(before, may_rest=may_rest), order_name(after, may_rest=may_rest))
    for (before, _), after in TRANSITIONS.items()
    for may_rest in (True, False)
)
"""All possible changes from one name to another."""
