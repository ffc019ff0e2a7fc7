"""An order with a trigger: fires once, and only at a price that its market had and that reaches its trigger."""

from dataclasses import dataclass

from openspot.engine.core.records import Command, CommandKind, Event, EventType
from tests.simulation.rules.story import Rule, Story, is_change_by_owner, is_listed

_FIXED, _DISTANCE, _BASIS_POINTS = 1, 2, 3
_BY_MARK, _AT_OR_BELOW = 1, 2
_FIRST_KINDS = (CommandKind.TERMS, CommandKind.REPLACE, CommandKind.SET_MARK_PRICE, CommandKind.SET_PHASE)
"""The core remembers prices from the first of these on."""
_CONTINUOUS = 0


@dataclass(slots=True)
class _Waiting:
    symbol: int
    kind: int
    by_mark: bool
    is_below: bool
    value: int
    tick: int
    watermark: int
    limit: int
    anchor: int = 0
    """The trigger's price when the order got its limit."""
    fired_by: int = 0

    @property
    def trigger(self) -> int:
        if self.kind == _FIXED:
            return self.value
        distance = self.value * 10_000 if self.kind == _DISTANCE else self.value * self.watermark
        if self.is_below:
            return (self.watermark * 10_000 - distance) // (10_000 * self.tick) * self.tick
        return -(-(self.watermark * 10_000 + distance) // (10_000 * self.tick)) * self.tick

    @property
    def present_limit(self) -> int:
        return self.limit if self.kind == _FIXED else self.limit + self.trigger - self.anchor

    def is_reached_by(self, price: int) -> bool:
        return price <= self.trigger if self.is_below else price >= self.trigger

    def meet(self, price: int) -> None:
        """A price came: it fires the order, or a trailing trigger follows it."""
        if self.fired_by:
            return
        if self.is_reached_by(price):
            self.fired_by = price
        elif self.kind != _FIXED:
            self.watermark = max(self.watermark, price) if self.is_below else min(self.watermark, price)


class TriggerRule(Rule):
    """Keeps all waiting orders, and compares each price with each of them."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self._waiting: dict[int, _Waiting] = {}
        self._fired: set[int] = set()
        self._prices: dict[tuple[int, bool], int] = {}
        """(symbol, whether it is the mark price) → the newest price."""
        self._phases: dict[int, int] = {}
        self._remembers = False

    def begin(self, command: Command) -> None:
        """A mark price has no event of its own."""
        self._remembers = self._remembers or command.kind in _FIRST_KINDS
        if command.kind == CommandKind.SET_MARK_PRICE and command.symbol in self.story.markets and command.price > 0:
            self._meet(command.symbol, command.price, by_mark=True)

    def take(self, event: Event) -> None:
        """Judge what fires."""
        match event.type:
            case EventType.PHASE:
                self._phases[event.symbol] = event.order_type
            case EventType.TRADE if self._remembers:
                self._meet(event.symbol, event.price, by_mark=False)
            case EventType.WAITING:
                self._wait(event)
            case EventType.TRIGGERED:
                self._fire(event)
            case EventType.REDUCE if not event.remaining:
                self._waiting.pop(event.order_id, None)
            case EventType.MOVED:
                waiting = self._waiting.get(event.order_id)
                command = self.story.commands[event.command_sequence - 1]
                if waiting is not None and is_change_by_owner(command, event):
                    self._change(event, waiting)

    def finish(self, time_ns: int) -> None:
        """Nothing that has fired waits on, where orders match."""
        for order_id, waiting in self._waiting.items():
            if waiting.fired_by and self._phases.get(waiting.symbol, _CONTINUOUS) == _CONTINUOUS:
                self.findings.append(f"stop {order_id} was reached by {waiting.fired_by} and never fired")

    @property
    def present(self) -> dict[int, tuple[int, int, int]]:
        """Order id → its trigger's price, its limit, and the price that has fired it, for each order that waits."""
        return {
            order_id: (waiting.trigger, waiting.present_limit, waiting.fired_by)
            for order_id, waiting in self._waiting.items()
        }

    def _meet(self, symbol: int, price: int, *, by_mark: bool) -> None:
        self._prices[symbol, by_mark] = price
        for waiting in self._waiting.values():
            if (waiting.symbol, waiting.by_mark) == (symbol, by_mark):
                waiting.meet(price)

    def _wait(self, event: Event) -> None:
        terms = self.story.asked[event.order_id].terms
        assert terms is not None, "an order without terms waits"
        by_mark, is_below = bool(terms.flags & _BY_MARK), bool(terms.flags & _AT_OR_BELOW)
        reference = self._prices.get((event.symbol, by_mark), 0)
        tick = self.story.markets[event.symbol].tick
        _, amended = self.story.amended_plans.get(event.order_id, (0, 0))
        value = amended or terms.price
        waiting = _Waiting(event.symbol, terms.side, by_mark, is_below, value, tick, reference, event.price)
        waiting.anchor = waiting.trigger
        if event.maker_remaining != waiting.trigger:
            self.findings.append(f"stop {event.order_id} waits for {event.maker_remaining}, not {waiting.trigger}")
        if reference and waiting.is_reached_by(reference):
            self.demand(is_listed(event), f"stop {event.order_id} was taken though {reference} would fire it at once")
            waiting.fired_by = reference
        self.demand(event.order_id not in self._fired, f"stop {event.order_id} waits again")
        self._waiting[event.order_id] = waiting

    def _change(self, event: Event, waiting: _Waiting) -> None:
        """Its owner gives an order that waits another limit, and another trigger if it is a fixed one."""
        if event.maker_remaining:
            is_fixed = waiting.kind == _FIXED and not waiting.fired_by
            self.demand(is_fixed, f"stop {event.order_id} got a trigger that it cannot have")
            waiting.value = event.maker_remaining
            reference = self._prices.get((event.symbol, waiting.by_mark), 0)
            fires = bool(reference) and waiting.is_reached_by(reference)
            self.demand(not fires, f"stop {event.order_id} was amended though {reference} would fire it at once")
        waiting.limit, waiting.anchor = event.price, waiting.trigger

    def _fire(self, event: Event) -> None:
        name = f"stop {event.order_id}"
        self.demand(event.order_id not in self._fired, f"{name} fired twice")
        self._fired.add(event.order_id)
        waiting = self._waiting.pop(event.order_id, None)
        if waiting is None:
            self.findings.append(f"{name} fired and did not wait")
            return
        self.demand(waiting.fired_by != 0, f"{name} fired although no price reached {waiting.trigger}")
        shown = event.amount, event.maker_remaining, event.price
        real = waiting.fired_by, waiting.trigger, waiting.present_limit
        self.demand(shown == real, f"{name} fired with (price, trigger, limit) {shown}, and {real} is right")
        phase = self._phases.get(event.symbol, _CONTINUOUS)
        self.demand(phase == _CONTINUOUS, f"{name} fired in phase {phase}")
