"""Two open orders of an account never have the same client order id, and no order outlives its time."""

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Event, EventType
from tests.simulation.rules.story import Rule, Story, is_listed

_GRACE_NS = 1_000_000_000
"""An order that expired so shortly before the end may be on its way out."""


class ClientIdRule(Rule):
    """Who holds which client order id."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self._holders: dict[tuple[int, str], int] = {}
        self._keys: dict[int, tuple[int, str]] = {}

    def take(self, event: Event) -> None:
        """Orders take ids when they come in, and give them back at their end. An exit that is planned has come in."""
        match event.type:
            case EventType.LISTED:
                self._hold(event)
            case EventType.ACCEPTED | EventType.WAITING if not is_listed(event):
                self._hold(event)
            case EventType.TRADE:
                self._release(event.order_id, event.remaining)
                self._release(event.maker_order_id, event.maker_remaining)
            case EventType.REDUCE:
                self._release(event.order_id, event.remaining)

    def _hold(self, event: Event) -> None:
        client_order_id = self.story.asked[event.order_id].client_order_id
        if client_order_id:
            key = event.account, client_order_id
            first = self._holders.get(key)
            self.demand(first is None, f"open orders {first} and {event.order_id} have the same client order id {key}")
            self._holders[key], self._keys[event.order_id] = event.order_id, key

    def _release(self, order_id: int, remaining: int) -> None:
        key = None if remaining else self._keys.pop(order_id, None)
        if key is not None and self._holders.get(key) == order_id:
            del self._holders[key]


class ExpiryRule(Rule):
    """When orders end for their time."""

    def take(self, event: Event) -> None:
        """No order expires before its time."""
        if event.type == EventType.REDUCE and event.code == ResultCode.ORDER_EXPIRED:
            # A planned exit ends with its list, for its list's reason.
            order = self.story.live[event.order_id]
            is_over = 0 < order.expiry <= event.timestamp
            self.demand(is_over, f"order {event.order_id} expired before its time {order.expiry}")

    def finish(self, time_ns: int) -> None:
        """No order is left whose time is over."""
        for order in self.story.live.values():
            is_over = 0 < order.expiry <= time_ns - _GRACE_NS
            self.demand(not is_over, f"order {order.order_id} is open although it expired at {order.expiry}")
