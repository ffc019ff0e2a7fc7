"""Ticks that wait for the bus: a bounded queue that never makes the venue's connection wait.

Ticks leave in the order in which they came. While the queue is full, a new quote replaces the waiting quote of its
symbol, and a new trade is dropped.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.venue.metrics import DropReason, TickKind

OnDrop = Callable[[TickKind, DropReason], None]


@dataclass(slots=True)
class PendingTick:
    """A tick that waits. `venue_ms` is the time that the venue gave it, if it gave one."""

    kind: TickKind
    message: VenueBookTicker | VenueTrade
    venue_ms: int | None


class TickOutbox:
    """Holds at most `ticks_max` ticks, plus one quote for each symbol."""

    def __init__(self, ticks_max: int, on_drop: OnDrop) -> None:
        self._ticks_max = ticks_max
        self._on_drop = on_drop
        self._ticks: deque[PendingTick] = deque()
        self._quotes: dict[str, PendingTick] = {}
        self._has_ticks = asyncio.Event()

    def __len__(self) -> int:
        return len(self._ticks)

    def put_quote(self, message: VenueBookTicker, venue_ms: int | None) -> None:
        """Add a quote. If the queue is full, it replaces the symbol's waiting quote."""
        waiting = self._quotes.get(message.symbol)
        if waiting is not None and len(self._ticks) >= self._ticks_max:
            waiting.message, waiting.venue_ms = message, venue_ms
            self._on_drop(TickKind.BOOK_TICKER, DropReason.REPLACED)
            return
        tick = self._quotes[message.symbol] = PendingTick(TickKind.BOOK_TICKER, message, venue_ms)
        self._append(tick)

    def put_trade(self, message: VenueTrade) -> None:
        """Add a trade, or drop it if the queue is full."""
        if len(self._ticks) >= self._ticks_max:
            self._on_drop(TickKind.TRADE, DropReason.QUEUE_FULL)
            return
        self._append(PendingTick(TickKind.TRADE, message, message.timestamp))

    def _append(self, tick: PendingTick) -> None:
        self._ticks.append(tick)
        self._has_ticks.set()

    async def wait(self) -> None:
        """Return once there is a tick to take."""
        await self._has_ticks.wait()

    def take(self, ticks_max: int) -> list[PendingTick]:
        """Remove and return the oldest ticks, at most `ticks_max`."""
        taken = [self._ticks.popleft() for _ in range(min(ticks_max, len(self._ticks)))]
        for tick in taken:
            if self._quotes.get(tick.message.symbol) is tick:
                del self._quotes[tick.message.symbol]
        if not self._ticks:
            self._has_ticks.clear()
        return taken
