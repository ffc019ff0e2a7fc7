"""Lists of orders: what one exit does, the other cannot, and exits never sell more than their entry has bought.

An owner may give one order another price: it is placed with that, and no exit meets its own entry.
"""

from openspot.engine.core.records import Event, EventType
from tests.simulation.rules.story import ListStory, Rule, Story, is_change_by_owner, list_of

_NO_TRIGGER = 0


class ListRule(Rule):
    """Adds up what the orders of each list were given and have filled."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.lists: dict[int, ListStory] = {}
        self._of: dict[int, int] = {}
        """Order id → the id of its list."""
        self._given: dict[int, int] = {}
        """Exit → the quantity that it was placed with, and got since."""
        self._touched: set[int] = set()

    def take(self, event: Event) -> None:
        """Follow the orders of the lists."""
        match event.type:
            case EventType.LISTED:
                list_of(self.lists, event)
                self._of[event.order_id] = event.maker_amount
            case EventType.LIST_ENDED:
                self.demand(not self.lists[event.order_id].is_ended, f"list {event.order_id} ended twice")
                self.lists[event.order_id].is_ended = True
                self._touched.add(event.order_id)
            case EventType.ACCEPTED | EventType.WAITING:
                self._give(event.order_id, event.quantity, is_first=True)
                limit, _ = self.story.amended_plans.get(event.order_id, (event.price, 0))
                self.demand(event.price == limit, f"exit {event.order_id} was placed at {event.price}, not {limit}")
            case EventType.MOVED if is_change_by_owner(self.story.commands[event.command_sequence - 1], event):
                self._raise(event)
            case EventType.MOVED:
                self._give(event.order_id, event.amount, is_first=False)
            case EventType.TRADE:
                self._fill(event.order_id, event.quantity)
                self._fill(event.maker_order_id, event.quantity)
            case EventType.REDUCE | EventType.TRIGGERED if event.order_id in self._of:
                self._touched.add(self._of[event.order_id])

    def end(self, number: int) -> None:
        """Between two commands the two exits of a list have the same left, or one of them is gone."""
        for list_id in self._touched:
            found, live = self.lists[list_id], self.story.live
            left = [live[order_id].remaining for order_id in found.exits if order_id in live]
            if len(found.exits) > 1 and len(left) == 2:
                self.demand(left[0] == left[1], f"exits of list {list_id} have {left} left after command {number}")
                self.demand(not found.is_ended, f"both exits of list {list_id}, which has ended, are open")
            if len(found.exits) > 1 and len(left) == 1:
                self.demand(found.is_ended, f"one exit of list {list_id} is gone, and the list goes on")
        self._touched.clear()

    def pair_of(self, order_id: int) -> int | None:
        """The list in which an open order is one of two open exits that depend on each other."""
        list_id = self._of.get(order_id)
        if list_id is None or self.lists[list_id].is_ended:
            return None
        exits = self.lists[list_id].exits
        return list_id if order_id in exits and sum(each in self.story.live for each in exits) == 2 else None

    def _give(self, order_id: int, quantity: int, *, is_first: bool) -> None:
        list_id = self._of.get(order_id)
        if list_id is None:
            return
        found = self.lists[list_id]
        self._touched.add(list_id)
        if order_id == found.entry:
            return
        if is_first:
            self.demand(order_id not in self._given, f"exit {order_id} of list {list_id} was placed twice")
        self._given[order_id] = self._given.get(order_id, 0) + quantity
        if found.entry:
            bought = found.filled.get(found.entry, 0)
            is_covered = self._given[order_id] <= bought
            given = self._given[order_id]
            self.demand(is_covered, f"exit {order_id} of list {list_id} got {given}, and its entry filled {bought}")

    def _raise(self, event: Event) -> None:
        """An owner who makes an order larger that its list has left to itself wants more than the list."""
        list_id = self._of.get(event.order_id)
        if list_id is None:
            return
        found = self.lists[list_id]
        keeps = found.is_ended or not event.amount
        self.demand(keeps, f"order {event.order_id} got another quantity inside list {list_id}")
        found.raised += max(event.amount, 0)
        if not found.is_ended and found.entry:
            self._keep_apart(event, list_id)

    def _keep_apart(self, event: Event, list_id: int) -> None:
        """Behind an entry no exit without a trigger would trade with it, after one of them has moved."""
        found, story = self.lists[list_id], self.story
        entry = story.live.get(found.entry)
        if entry is None:
            return
        limit = event.price if event.order_id == found.entry else entry.limit
        for order_id in found.exits:
            asked, live = story.asked[order_id], story.live.get(order_id)
            if asked.terms is None or asked.terms.side != _NO_TRIGGER:
                continue
            planned, _ = story.amended_plans.get(order_id, (asked.command.price, 0))
            price = event.price if order_id == event.order_id else live.limit if live else planned
            is_apart = price > limit if entry.is_buy else price < limit
            self.demand(is_apart, f"exit {order_id} of list {list_id} at {price} would meet its entry at {limit}")

    def _fill(self, order_id: int, quantity: int) -> None:
        list_id = self._of.get(order_id)
        if list_id is None:
            return
        found = self.lists[list_id]
        self._touched.add(list_id)
        found.filled[order_id] = found.filled.get(order_id, 0) + quantity
        left = sum(found.filled.get(exit_id, 0) for exit_id in found.exits)
        bought = found.filled.get(found.entry, 0) if found.entry else found.quantity
        bought += found.raised
        self.demand(left <= bought, f"exits of list {list_id} filled {left} of {bought}")
