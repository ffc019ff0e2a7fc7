"""An independent model of orders that wait for a trigger, for the auditor of a core (core_auditor.py).

It trusts only commands and events. Trailing triggers are computed with fractions, so a mistake in the integer
arithmetic of a core would show.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from openspot.domain.order import TriggerKind
from openspot.engine.core.records import ACTIVATIONS_MAX, TERMS_AT_OR_BELOW, TERMS_BY_MARK, Command, Event


@dataclass(slots=True)
class Waiter:
    """An order that waits. `best` is the best price since it was placed, `anchor` the trigger when it got its limit."""

    order_id: int
    symbol: int
    kind: int
    flags: int
    value: int
    tick: int
    best: int
    limit: int
    placement: int
    anchor: int = 0

    @property
    def fires_below(self) -> bool:
        """Whether it fires at or below its trigger."""
        return bool(self.flags & TERMS_AT_OR_BELOW)

    @property
    def trigger(self) -> int:
        """The price that fires it now."""
        if self.kind == TriggerKind.FIXED:
            return self.value
        distance = Fraction(self.value)
        if self.kind == TriggerKind.TRAILING_BASIS_POINTS:
            distance = Fraction(self.best * self.value, 10_000)
        if self.fires_below:
            return floor((self.best - distance) / self.tick) * self.tick
        return ceil((self.best + distance) / self.tick) * self.tick

    def is_fired_by(self, price: int) -> bool:
        """Whether a price fires it."""
        return price <= self.trigger if self.fires_below else price >= self.trigger

    @property
    def present_limit(self) -> int:
        """The limit that it would match with now."""
        return self.limit if self.kind == TriggerKind.FIXED else self.limit + self.trigger - self.anchor


class WaitingAudit:
    """Follows prices, fires triggers and checks that activations come in their order and are not forgotten."""

    def __init__(self) -> None:
        self.tracks = False
        self.terms: Command | None = None
        """The TERMS that was the last command."""
        self.waiters: dict[int, Waiter] = {}
        self.queues: dict[int, list[tuple[int, int]]] = {}
        """Symbol → (order id, the price that fired it) of the orders to activate next."""
        self.last: dict[int, int] = {}
        self.mark: dict[int, int] = {}
        self._placements = 0
        self._activated = 0

    def begin(self) -> None:
        """A command begins."""
        self._activated = 0

    def wait(self, event: Event, tick: int) -> None:
        """Follow a WAITING event."""
        assert self.terms is not None, "an order waits without terms"
        terms = self.terms
        assert (event.maker_order_id, event.flags, event.amount) == (terms.side, terms.flags, terms.amount)
        reference = (self.mark if terms.flags & TERMS_BY_MARK else self.last).get(event.symbol, 0)
        self._placements += 1
        waiter = Waiter(
            event.order_id,
            event.symbol,
            terms.side,
            terms.flags,
            terms.price,
            tick,
            reference,
            event.price,
            self._placements,
        )
        if waiter.kind != TriggerKind.FIXED:
            assert reference, "a trailing trigger follows nothing"
            waiter.anchor = waiter.trigger
        assert event.maker_remaining == waiter.trigger
        assert event.maker_account == (0 if waiter.kind == TriggerKind.FIXED else waiter.value)
        assert not reference or not waiter.is_fired_by(reference), "an order waits whose trigger was reached"
        self.waiters[event.order_id] = waiter

    def meet(self, symbol: int, price: int, *, by_mark: bool) -> None:
        """Follow a price of the last trade, or a mark price."""
        if not self.tracks:
            return
        (self.mark if by_mark else self.last)[symbol] = price
        queue = self.queues.setdefault(symbol, [])
        queued = {order_id for order_id, _ in queue}
        fired = []
        for waiter in self.waiters.values():
            if waiter.symbol != symbol or bool(waiter.flags & TERMS_BY_MARK) != by_mark or waiter.order_id in queued:
                continue
            if waiter.is_fired_by(price):
                fired.append(waiter)
            elif waiter.kind != TriggerKind.FIXED:
                waiter.best = max(waiter.best, price) if waiter.fires_below else min(waiter.best, price)
        fired.sort(
            key=lambda waiter: (
                waiter.fires_below,
                -waiter.trigger if waiter.fires_below else waiter.trigger,
                waiter.kind,
                waiter.value,
                waiter.placement,
            )
        )
        queue += [(waiter.order_id, price) for waiter in fired]

    def trigger(self, event: Event) -> Waiter:
        """Follow a TRIGGERED event; return the order, which no longer waits."""
        assert self.queues[event.symbol].pop(0) == (event.order_id, event.amount), "another order was to be activated"
        self._activated += 1
        assert self._activated <= ACTIVATIONS_MAX, "a command activates too many orders"
        waiter = self.waiters.pop(event.order_id)
        assert (event.maker_remaining, event.price) == (waiter.trigger, waiter.present_limit)
        assert (event.maker_order_id, event.flags) == (waiter.kind, waiter.flags)
        return waiter

    def end_order(self, order_id: int) -> None:
        """An order that waited has ended."""
        waiter = self.waiters.pop(order_id)
        queue = self.queues.get(waiter.symbol, [])
        self.queues[waiter.symbol] = [fired for fired in queue if fired[0] != order_id]

    def check_end(self, symbol: int | None) -> None:
        """A command that activates the orders of a symbol has ended: none is left unless it reached its bound."""
        if symbol is not None and self.queues.get(symbol):
            assert self._activated == ACTIVATIONS_MAX, "a fired order was not activated"
