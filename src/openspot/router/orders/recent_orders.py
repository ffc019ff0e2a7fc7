"""The orders that this process has placed recently, by the id that clients know (Document A 1.4)."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from openspot.router.tracked_order import TrackedOrder


@dataclass(slots=True)
class RecentOrder:
    """An order that this process placed or refused, as of its last reply.

    `placing` is a future that completes when the placement ends; afterwards the field is None. `unknown_since_ms` is
    set if the engine did not respond.
    """

    order: TrackedOrder
    placing: asyncio.Future[None] | None = None
    unknown_since_ms: int | None = None


class RecentOrders:
    """At most `orders_max` orders by their id. The oldest is dropped first."""

    def __init__(self, orders_max: int) -> None:
        self._orders: OrderedDict[str, RecentOrder] = OrderedDict()
        self._orders_max = orders_max

    def get(self, order_id: str) -> RecentOrder | None:
        """The order of that id, if this process still remembers it."""
        return self._orders.get(order_id)

    def put(self, recent: RecentOrder) -> None:
        """Remember an order."""
        self._orders[recent.order.order_id] = recent
        if len(self._orders) > self._orders_max:
            self._orders.popitem(last=False)

    def forget(self, order_id: str) -> None:
        """Drop an order, if it is there."""
        self._orders.pop(order_id, None)
