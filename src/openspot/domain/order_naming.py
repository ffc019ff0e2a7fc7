"""The alternative names of order states (Document A 3.2), those of trading systems that speak of execution reports.

The spec names the states and leaves the transitions open; they are decided here. A name follows from the order's
own state, so that the two can never disagree. The one distinction more: an order that may not rest (market, ioc,
fok) and whose remainder nobody took has not been cancelled by anyone, it has Expired.
"""

from enum import StrEnum

from openspot.domain.order import TRANSITIONS, OrderStatus


class OrderName(StrEnum):
    """The alternative names."""

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
    """The alternative name of a state; `may_rest` is whether the order could wait in the book."""
    if status is OrderStatus.CANCELLED and not may_rest:
        return OrderName.EXPIRED
    return _NAMES[status]


NAME_TRANSITIONS: frozenset[tuple[OrderName, OrderName]] = frozenset(
    (order_name(before, may_rest=may_rest), order_name(after, may_rest=may_rest))
    for (before, _), after in TRANSITIONS.items()
    for may_rest in (True, False)
)
"""Every step from one name to the next."""
