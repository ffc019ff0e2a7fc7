"""Reads each retained event once, in order, for code that polls from time to time."""

import asyncio
from collections.abc import AsyncIterator

from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_log import EventLog

_BATCHES_A_TURN = 64


class EventReader:
    """Continues where the last read ended."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self.next_sequence = 1
        """The first event that was not read yet. Callers may advance it."""

    async def new_batches(self) -> AsyncIterator[EventBatch]:
        """The unread events up to the newest. Skips events that are no longer retained. Raises EventStoreError."""
        self.next_sequence = max(self.next_sequence, self._events.first_sequence)
        batches = 0
        while self.next_sequence <= self._events.last_sequence:
            batch = await self.batch(self.next_sequence)
            if batch is None:
                # The event was just deleted from the store, or the store failed and only events in memory are left.
                first, following = self._events.first_sequence, self.next_sequence + 1
                self.next_sequence = first if first >= following else max(following, self._events.memory_sequence)
                continue
            self.next_sequence = batch.last_sequence + 1
            yield batch
            batches += 1
            if batches % _BATCHES_A_TURN == 0:
                await asyncio.sleep(0)

    async def batch(self, sequence: int) -> EventBatch | None:
        """Events from `sequence` on, from memory or the store. Raises EventStoreError."""
        index = self._events.index_of(sequence)
        batch = await self._events.read(sequence) if index is None else self._events.batch(index)
        return None if batch is None else batch.from_sequence(sequence)
