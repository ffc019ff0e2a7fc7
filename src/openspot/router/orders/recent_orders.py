"""The orders that this process has placed recently, by order id (facts A1.4-02 to A1.4-04)."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from openspot.router.tracked_order import TrackedOrder


@dataclass(slots=True)
class RecentOrder:
    """An order that this process placed or refused, as of its last reply.

    `placing` completes when the placement ends; afterwards it is None. `unknown_since_ms` is set if the engine did not
    respond.
    """

    order: TrackedOrder
    placing: asyncio.Future[None] | None = None
    unknown_since_ms: int | None = None


class RecentOrders:
    """At most `orders_max` orders, by order id. The oldest is dropped first."""

    def __init__(self, orders_max: int) -> None:
        self._orders: OrderedDict[str, RecentOrder] = OrderedDict()
        self._orders_max = orders_max

    def get(self, order_id: str) -> RecentOrder | None:
        """The order with this id; None if this process does not remember it."""
        return self._orders.get(order_id)

    def put(self, recent: RecentOrder) -> None:
        """Remember an order."""
        self._orders[recent.order.order_id] = recent
        if len(self._orders) > self._orders_max:
            self._orders.popitem(last=False)

    def forget(self, order_id: str) -> None:
        """Forget an order. Does nothing if it is unknown."""
        self._orders.pop(order_id, None)
