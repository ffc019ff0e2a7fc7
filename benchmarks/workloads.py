"""Workloads for the matching cores and their peers: the same commands for all, from one seed.

`shallow` is the workload that the table of measured Python order books was made with (a book of about 1,200
orders on 99 prices). It needs the standard library alone, so that a peer can be measured in an environment
of its own. `records` turns a workload into this project's command records.
"""

import random
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

BUY, SELL = 1, 2
GTC, IOC = 1, 2
ADD, TAKE, CANCEL = 0, 1, 2

MID_FIRST, MID_LEAST, MID_MOST = 10_000, 9_971, 10_029
MID_EVERY = 10
SYMBOL = 1
BASE, QUOTE = 1, 2
ACCOUNTS = 100
"""Half of them buy, half of them sell: self-trade prevention looks at every fill and never steps in, so that
the trades are the same as those of a peer without it."""
ACCOUNT_FIRST = 1_000
DEPOSIT = 10**34


class Step(NamedTuple):
    """One command of a workload. A CANCEL has the order's own side, and neither price nor quantity."""

    kind: int
    order_id: int
    side: int
    price: int
    quantity: int

    @property
    def account(self) -> int:
        """Whose order it is."""
        half = ACCOUNTS // 2
        return ACCOUNT_FIRST + self.order_id % half + (half if self.side == SELL else 0)


class Outcome(NamedTuple):
    """What a run traded: number of trades, Σ quantity, Σ price × quantity."""

    trades: int
    volume: int
    notional: int


@dataclass(slots=True)
class LiveOrder:
    """An order that rests in the plain book."""

    side: int
    price: int
    remaining: int


class PlainBook:
    """A simple price-time book: it tells which orders live, and what a correct core must have traded."""

    def __init__(self) -> None:
        self.live: dict[int, LiveOrder] = {}
        self._queues: dict[int, dict[int, deque[int]]] = {BUY: {}, SELL: {}}
        self.trades = self.volume = self.notional = 0

    def outcome(self) -> Outcome:
        """What has traded so far."""
        return Outcome(self.trades, self.volume, self.notional)

    def take(self, side: int, price: int, quantity: int) -> list[int]:
        """Match, and return the ids of the filled orders followed by the quantity that remains."""
        queues = self._queues[SELL if side == BUY else BUY]
        gone = []
        while quantity and queues:
            best = min(queues) if side == BUY else max(queues)
            if (best > price) if side == BUY else (best < price):
                break
            queue = queues[best]
            order = self.live[queue[0]]
            traded = min(quantity, order.remaining)
            order.remaining -= traded
            quantity -= traded
            self.trades, self.volume = self.trades + 1, self.volume + traded
            self.notional += traded * best
            if not order.remaining:
                gone.append(queue.popleft())
                del self.live[gone[-1]]
                if not queue:
                    del queues[best]
        return [*gone, quantity]

    def rest(self, order_id: int, side: int, price: int, quantity: int) -> None:
        """Put an order that crosses nothing at the end of its price's queue."""
        self.live[order_id] = LiveOrder(side, price, quantity)
        self._queues[side].setdefault(price, deque()).append(order_id)

    def cancel(self, order_id: int) -> int:
        """Remove an order and return its side."""
        order = self.live.pop(order_id)
        side, price = order.side, order.price
        queue = self._queues[side][price]
        queue.remove(order_id)
        if not queue:
            del self._queues[side][price]
        return side


class LiveOrders:
    """A set of order ids that answers a random one in O(1)."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, order_id: int) -> None:
        """Add an id that is not there."""
        self._places[order_id] = len(self._ids)
        self._ids.append(order_id)

    def remove(self, order_id: int) -> None:
        """Remove an id that is there."""
        place, last = self._places.pop(order_id), self._ids.pop()
        if last != order_id:
            self._ids[place], self._places[last] = last, place

    def choose(self, generator: random.Random) -> int:
        """A random id."""
        return self._ids[generator.randrange(len(self._ids))]


def shallow(commands: int = 300_000, seed: int = 1) -> tuple[list[Step], Outcome]:
    """The shallow workload, and what it must trade.

    60 % limit orders at mid −/+ U{0..20} ticks with quantity U{1..100}, 35 % cancels of a random live order,
    5 % IOC at mid ± 20 with quantity U{1..300}; the mid walks by one tick within [9971, 10029], at every tenth
    command, which is the pace that gives the published 1,200 resting orders.
    """
    generator = random.Random(seed)
    book, live = PlainBook(), LiveOrders()
    mid = MID_FIRST
    steps: list[Step] = []
    for order_id in range(1, commands + 1):
        if order_id % MID_EVERY == 0:
            mid = min(max(mid + generator.choice((-1, 1)), MID_LEAST), MID_MOST)
        chance = generator.random()
        if chance >= 0.65 and len(live):
            victim = live.choose(generator)
            live.remove(victim)
            steps.append(Step(CANCEL, victim, book.cancel(victim), 0, 0))
            continue
        side = generator.choice((BUY, SELL))
        passive = -1 if side == BUY else 1
        if chance < 0.60:
            step = Step(ADD, order_id, side, mid + passive * generator.randint(0, 20), generator.randint(1, 100))
        else:
            step = Step(TAKE, order_id, side, mid - passive * 20, generator.randint(1, 300))
        *gone, rest = book.take(side, step.price, step.quantity)
        for filled in gone:
            live.remove(filled)
        if rest and step.kind == ADD:
            book.rest(order_id, side, step.price, rest)
            live.add(order_id)
        steps.append(step)
    return steps, book.outcome()
