"""The phases of a market: what each takes, that nothing matches where it must not, and the price of an auction."""

from collections.abc import Callable

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_AUCTION, Command, CommandKind, Event, EventType
from tests.simulation.rules.story import POST_ONLY, LiveOrder, Rule, Story

CONTINUOUS, HALTED, CANCEL_ONLY, POSTS, AUCTION, UNCROSSING = range(6)
_CLOSED = (HALTED, CANCEL_ONLY, UNCROSSING)
_RESTING = (1, POST_ONLY)
_SHRUNK_BY_OWNER = (ResultCode.REDUCED_BY_USER, ResultCode.AMENDED_BY_USER)


class PhaseRule(Rule):
    """Follows the phase of each market, and the orders that an auction collects."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.phases: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._marks: dict[int, int] = {}
        self._remembers = False
        self._price: dict[int, int] = {}
        """Symbol → the price of its auction."""
        self._left: dict[int, int] = {}
        """Symbol → what its auction still has to trade at that price."""
        self._is_disturbed: set[int] = set()
        """Auctions in which an order lost quantity without a trade, so that less is traded."""
        self._changed: set[int] = set()
        self._command: Command | None = None

    def begin(self, command: Command) -> None:
        """The core remembers prices from the first command on that needs them."""
        self._command = command
        kinds = (CommandKind.TERMS, CommandKind.REPLACE, CommandKind.SET_MARK_PRICE, CommandKind.SET_PHASE)
        self._remembers = self._remembers or command.kind in kinds
        if command.kind == CommandKind.SET_MARK_PRICE and command.price > 0:
            self._marks[command.symbol] = command.price

    def take(self, event: Event) -> None:
        """Judge an event by the phase."""
        phase = self.phases.get(event.symbol, CONTINUOUS)
        name = f"order {event.order_id} in phase {phase}"
        match event.type:
            case EventType.PHASE:
                self._enter(event)
                return
            case EventType.TRADE:
                self._trade(event, phase)
            case EventType.ACCEPTED | EventType.WAITING | EventType.LISTED:
                waits = event.type == EventType.WAITING or (event.type == EventType.LISTED and event.maker_order_id > 0)
                self.demand(_takes(phase, event.order_type, waits=waits), f"{name} was taken")
            case EventType.TRIGGERED:
                self.demand(phase == CONTINUOUS, f"{name} was activated")
            case EventType.MOVED:
                self.demand(phase not in _CLOSED, f"{name} was moved")
            case EventType.REDUCE:
                self.demand(phase != HALTED or event.code not in _SHRUNK_BY_OWNER, f"{name} was made smaller")
                self._is_disturbed.add(event.symbol)
            case _:
                return
        self._changed.add(event.symbol)

    def end(self, number: int) -> None:
        """No book is crossed where orders match, or where makers were promised not to."""
        for symbol in self._changed:
            if self.phases.get(symbol, CONTINUOUS) in (CONTINUOUS, POSTS):
                bids, asks = sides(self.story, symbol)
                is_crossed = bool(bids and asks) and max(bids)[0] >= min(asks)[0]
                self.demand(not is_crossed, f"command {number} left the book of {symbol} crossed")
        self._changed.clear()

    def reference(self, symbol: int) -> int:
        """The price that an auction is near to among equal ones, or 0."""
        return self._last.get(symbol, 0) or self._marks.get(symbol, 0)

    def _enter(self, event: Event) -> None:
        symbol, command = event.symbol, self._command
        before = self.phases.get(symbol, CONTINUOUS)
        self.phases[symbol] = event.order_type
        if before != UNCROSSING and command is not None and command.kind != CommandKind.SET_PHASE:
            ends = self._ends.get(symbol, 0)
            self.demand(0 < ends <= event.timestamp, f"phase {before} of {symbol} ended before its time {ends}")
        if event.order_type == UNCROSSING:
            self._begin_auction(event)
            return
        if before == UNCROSSING:
            self._end_auction(symbol)
        if command is not None and command.kind == CommandKind.SET_PHASE:
            self.demand(event.order_type == command.order_type, f"{symbol} entered phase {event.order_type} unasked")
        self._ends[symbol] = event.maker_order_id
        self._changed.add(symbol)

    def _begin_auction(self, event: Event) -> None:
        symbol = event.symbol
        if symbol in self._price:
            self._end_auction(symbol)
        self._ends[symbol] = 0
        price, volume = event.price, event.amount
        right = clearing(*sides(self.story, symbol), self.story.markets[symbol].tick, self.reference(symbol))
        self.demand((price, volume) == right, f"auction of {symbol} has (price, volume) {(price, volume)}, not {right}")
        self._price[symbol], self._left[symbol] = price, volume
        self._is_disturbed.discard(symbol)

    def _end_auction(self, symbol: int) -> None:
        left = self._left.pop(symbol, 0)
        self._price.pop(symbol, None)
        if symbol not in self._is_disturbed:
            self.demand(left == 0, f"auction of {symbol} left {left} of its volume")

    def _trade(self, event: Event, phase: int) -> None:
        symbol, live = event.symbol, self.story.live
        if self._remembers:
            self._last[symbol] = event.price
        if not event.flags & EVENT_AUCTION:
            self.demand(phase == CONTINUOUS, f"event {event.sequence} is a trade in phase {phase}")
        else:
            self.demand(phase == UNCROSSING, f"event {event.sequence} is a trade of an auction in phase {phase}")
            price = self._price.get(symbol, 0)
            self.demand(
                event.price == price, f"event {event.sequence} trades at {event.price} in an auction at {price}"
            )
            self._left[symbol] = self._left.get(symbol, 0) - event.quantity
            self.demand(self._left[symbol] >= 0, f"event {event.sequence} trades more than the auction's volume")
            taker = live[event.order_id]
            self.demand(taker.order_type != POST_ONLY, f"post-only order {event.order_id} took in an auction")
        for order_id in (event.order_id, event.maker_order_id):
            order = live[order_id]
            is_within = event.price <= order.limit if order.is_buy else event.price >= order.limit
            # The limit of an order with a budget is its budget.
            is_within = is_within or not order.limit
            self.demand(is_within, f"order {order_id} traded at {event.price}, beyond its limit {order.limit}")


def _takes(phase: int, order_type: int, *, waits: bool) -> bool:
    if phase in _CLOSED:
        return False
    if phase == POSTS:
        return waits or order_type == POST_ONLY
    return phase != AUCTION or waits or order_type in _RESTING


def sides(story: Story, symbol: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(price, remaining) of the bids and of the asks in the book."""

    def of(is_wanted: Callable[[LiveOrder], bool]) -> list[tuple[int, int]]:
        return [
            (order.limit, order.remaining)
            for order in story.live.values()
            if order.symbol == symbol and not order.waits and is_wanted(order)
        ]

    return of(lambda order: order.is_buy), of(lambda order: not order.is_buy)


def clearing(bids: list[tuple[int, int]], asks: list[tuple[int, int]], tick: int, reference: int) -> tuple[int, int]:
    """(price, volume) of an auction, by trying every tick at which anything trades."""
    best: list[tuple[int, int, int]] = []
    if not bids or not asks or max(bids)[0] < min(asks)[0]:
        return 0, 0
    for price in range(min(ask for ask, _ in asks), max(bid for bid, _ in bids) + 1, tick):
        bought = sum(quantity for bid, quantity in bids if bid >= price)
        sold = sum(quantity for ask, quantity in asks if ask <= price)
        best.append((-min(bought, sold), abs(bought - sold), price))
    volume, surplus, _ = min(best)
    prices = [price for each_volume, each_surplus, price in best if (each_volume, each_surplus) == (volume, surplus)]
    wanted = (reference or (prices[0] + prices[-1]) // 2) // tick * tick
    return min(prices, key=lambda price: abs(price - wanted)), -volume
