"""The queues of a book: the oldest order of the best price trades first, and icebergs show a slice at a time.

Of an iceberg a book shows at most one slice, which is at most its displayed quantity and what remains of it. While it
rests it trades no more than it shows. Then the next slice joins the end of the queue. What leaves it without a trade
leaves what it hides first.
"""

from dataclasses import dataclass

from openspot.engine.core.protocol import DepthLevel
from openspot.engine.core.records import EVENT_AUCTION, EVENT_ICEBERG, EVENT_WAITS, Event, EventType
from tests.simulation.rules.holds import Shown
from tests.simulation.rules.story import POST_ONLY, Rule, Story

_RESTING = (1, POST_ONLY)

Queues = dict[tuple[int, bool], dict[int, dict[int, int]]]
"""(symbol, whether it is a buy) → price → order → what it shows, the oldest first."""


@dataclass(slots=True)
class _Place:
    symbol: int
    is_buy: bool
    price: int


class QueueRule(Rule):
    """Makes the queues of all books from the events, and compares their sums with the depth that the engine showed."""

    def __init__(self, story: Story, shown: list[Shown]) -> None:
        super().__init__(story)
        self._shown = {each.sequence: each.depths for each in shown}
        self._queues: Queues = {}
        self._places: dict[int, _Place] = {}
        """The orders that rest, and where."""
        self._slices: dict[int, int] = {}
        """Icebergs → how much each displays at a time."""
        self._due: set[int] = set()
        """Icebergs that may have to show their next slice."""

    def depth(self, symbol: int) -> tuple[list[DepthLevel], list[DepthLevel]]:
        """(bids, asks) of a symbol, best first."""
        sides = []
        for is_buy in (True, False):
            levels = self._queues.get((symbol, is_buy), {})
            prices = sorted(levels, reverse=is_buy)
            sides.append([DepthLevel(price, sum(levels[price].values()), len(levels[price])) for price in prices])
        return sides[0], sides[1]

    def take(self, event: Event) -> None:
        """Follow the orders that rest."""
        match event.type:
            case EventType.ACCEPTED:
                self._accept(event)
            case EventType.TRIGGERED if event.order_type in _RESTING:
                self._join(event, event.remaining)
            case EventType.SHOWN:
                self._show(event)
            case EventType.TRADE:
                self._trade(event)
            case EventType.REDUCE if not event.flags & EVENT_WAITS:
                self._reduce(event)
            case EventType.MOVED if not event.flags & EVENT_WAITS:
                self._move(event)

    def end(self, number: int) -> None:
        """No iceberg hides all that is left of it, and the engine shows these queues."""
        for order_id in self._due:
            is_hidden = order_id in self.story.live and order_id not in self._places
            self.demand(not is_hidden, f"iceberg {order_id} shows nothing after command {number}")
        self._due.clear()
        for symbol, shown in self._shown.get(number, {}).items():
            right = self.depth(symbol)
            self.demand(shown == right, f"depth of {symbol} after command {number} is {shown}, and {right} is right")

    def _accept(self, event: Event) -> None:
        order_id, terms = event.order_id, self.story.asked[event.order_id].terms
        display = 0 if terms is None else terms.quantity
        self.demand(event.maker_remaining == display, f"order {order_id} displays {event.maker_remaining}")
        if display:
            self._slices[order_id] = display
            self._due.add(order_id)
        elif event.order_type in _RESTING:
            # It is no part of the other side's queues, so it may join before its own trades.
            self._join(event, event.remaining)

    def _show(self, event: Event) -> None:
        order_id = event.order_id
        live, display = self.story.live.get(order_id), self._slices.get(order_id, 0)
        remaining = live.remaining if live is not None else 0
        slice_right = min(display, remaining)
        shown = event.quantity, event.remaining
        self.demand(shown == (slice_right, remaining), f"iceberg {order_id} shows {shown}, and {slice_right} is right")
        self.demand(order_id not in self._places, f"iceberg {order_id} shows more before its slice is gone")
        self._leave(order_id)
        self._join(event, event.quantity)

    def _trade(self, event: Event) -> None:
        orders = [(event.maker_order_id, event.maker_remaining)]
        if event.flags & EVENT_AUCTION:
            # Both of them rested.
            orders.append((event.order_id, event.remaining))
        elif event.order_id in self._places:
            self._lose(event.order_id, event.quantity, event.remaining)
        for order_id, remaining in orders:
            place = self._places.get(order_id)
            if place is None:
                self.findings.append(f"order {order_id} traded from a book in which it shows nothing")
                continue
            levels = self._queues[place.symbol, place.is_buy]
            best = max(levels) if place.is_buy else min(levels)
            first = next(iter(levels[best]))
            self.demand(first == order_id, f"order {order_id} traded before {first}, whose turn it was")
            shown = levels[place.price][order_id]
            self.demand(event.quantity <= shown, f"order {order_id} traded {event.quantity} of the {shown} it shows")
            self._lose(order_id, event.quantity, remaining)

    def _lose(self, order_id: int, quantity: int, remaining: int) -> None:
        place = self._places[order_id]
        queue = self._queues[place.symbol, place.is_buy][place.price]
        queue[order_id] -= quantity
        if queue[order_id] <= 0 or not remaining:
            self._leave(order_id)
            self._due.add(order_id)

    def _reduce(self, event: Event) -> None:
        order_id, place = event.order_id, self._places.get(event.order_id)
        if place is None:
            return
        queue = self._queues[place.symbol, place.is_buy][place.price]
        before = queue[order_id]
        queue[order_id] = min(before, event.remaining)
        if order_id in self._slices:
            shown, right = event.maker_remaining, before - queue[order_id]
            is_told = bool(event.flags & EVENT_ICEBERG) and shown == right
            self.demand(is_told, f"iceberg {order_id} shows {shown} less, and {right} is right")
        if not event.remaining:
            self._leave(order_id)

    def _move(self, event: Event) -> None:
        order_id, place = event.order_id, self._places.get(event.order_id)
        if order_id in self._slices:
            before = 0 if place is None else self._queues[place.symbol, place.is_buy][place.price][order_id]
            told, right = (event.maker_remaining, event.maker_amount), (self._slices[order_id], before)
            self.demand(told == right, f"iceberg {order_id} moved with (displayed, shown) {told}, not {right}")
        self._leave(order_id)
        if order_id in self._slices:
            self._due.add(order_id)
        else:
            self._join(event, event.remaining)

    def _join(self, event: Event, shown: int) -> None:
        place = self._places[event.order_id] = _Place(event.symbol, event.side == 1, event.price)
        side = self._queues.setdefault((place.symbol, place.is_buy), {})
        side.setdefault(place.price, {})[event.order_id] = shown

    def _leave(self, order_id: int) -> None:
        place = self._places.pop(order_id, None)
        if place is None:
            return
        side = self._queues[place.symbol, place.is_buy]
        del side[place.price][order_id]
        if not side[place.price]:
            del side[place.price]
