"""The events of the running engine: the newest in memory, all retained ones in the event store.

The engine adds batches, and consumers follow them by sequence (transport/event_stream.py). Batches in memory have
consecutive indices, so a consumer that is up to date finds the next batch at once. A consumer that asks for older
events reads them from the store until it has caught up.
"""

import asyncio
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor

from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_store import EventStore
from openspot.kit.log import get_logger

log = get_logger("event_log")

_WRITE_PAUSE_S = 0.1
"""Writes to the store are this far apart, so that events share a transaction."""
_WRITE_EVENTS = 4096
"""When this many events wait, they are written without the pause."""


class EventLog:
    """Events by sequence, in memory and on disk."""

    def __init__(
        self, store: EventStore, last_sequence: int, *, memory_events: int, retention: int, behind_max: int
    ) -> None:
        """`last_sequence` is the newest event so far. `behind` is true above `behind_max` unwritten events."""
        self._store = store
        self._memory_events = memory_events
        self._retention = retention
        self._behind_max = behind_max
        self._batches: dict[int, EventBatch] = {}
        self._oldest = 0
        self._next = 0
        self._events_in_memory = 0
        self._unwritten: list[EventBatch] = []
        self._events_unwritten = 0
        self._last_sequence = last_sequence
        self._first_added = last_sequence + 1
        self._arrival: asyncio.Future[None] | None = None
        self._write_wanted = asyncio.Event()
        self._written: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(2, "event-store")
        self._read_turn = asyncio.Lock()
        self.fault: str = ""
        """Why events are no longer written to the store; empty while they are."""

    def start(self) -> None:
        """Start writing to the store."""
        self._writer = asyncio.create_task(self._write_on())

    async def close(self) -> None:
        """Write the waiting events and close the store."""
        await self.stored(self._last_sequence)
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        self._threads.shutdown()
        self._store.close()

    @property
    def first_sequence(self) -> int:
        """The oldest retained event; one above the newest if there is none."""
        if self._store.first_sequence or not self.fault:
            # Events that are not stored yet will be.
            return self._store.first_sequence or self._first_added
        return self.memory_sequence

    @property
    def memory_sequence(self) -> int:
        """The oldest event in memory; one above the newest if there is none."""
        return self._batches[self._oldest].first_sequence if self._batches else self._last_sequence + 1

    @property
    def last_sequence(self) -> int:
        """The newest event."""
        return self._last_sequence

    @property
    def behind(self) -> bool:
        """Whether too many events wait to be written, so that the engine must refuse commands."""
        return self._events_unwritten > self._behind_max

    # Adding

    def add(self, batch: EventBatch) -> None:
        """Add the next events and wake the waiting consumers."""
        if not len(batch):
            return
        assert batch.first_sequence == self._last_sequence + 1, "events are consecutive"
        self._batches[self._next] = batch
        self._next += 1
        self._last_sequence = batch.last_sequence
        self._events_in_memory += len(batch)
        while self._events_in_memory - len(self._batches[self._oldest]) >= self._memory_events:
            self._events_in_memory -= len(self._batches.pop(self._oldest))
            self._oldest += 1
        if not self.fault:
            self._unwritten.append(batch)
            self._events_unwritten += len(batch)
            self._write_wanted.set()
        if self._arrival is not None:
            self._arrival.set_result(None)
            self._arrival = None

    async def _write_on(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._write_wanted.wait()
            if self._events_unwritten < _WRITE_EVENTS:
                await asyncio.sleep(_WRITE_PAUSE_S)
            self._write_wanted.clear()
            batches, self._unwritten = self._unwritten, []
            try:
                await loop.run_in_executor(self._threads, self._store.append, batches, self._retention)
            except Exception as error:
                log.exception("failed to store events, and stopped storing them")
                self.fault = f"{error}; a restart recreates the missing events from the journal"
                self._unwritten = []
                self._events_unwritten = 0
            else:
                self._events_unwritten -= sum(map(len, batches))
            if self._written is not None:
                self._written.set_result(None)
                self._written = None

    async def stored(self, sequence: int) -> None:
        """Wait until the store has the events up to `sequence`, or writing has failed."""
        while self._store.last_sequence < sequence and not self.fault:
            if self._written is None:
                self._written = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._written)

    # Following

    def index_of(self, sequence: int) -> int | None:
        """The index of the batch that contains `sequence`, or None if it is no longer in memory.

        For the event after the newest, the index that the next batch will get.
        """
        if sequence > self._last_sequence:
            return self._next
        indices = range(self._oldest, self._next)
        following = bisect_right(indices, sequence, key=lambda index: self._batches[index].first_sequence)
        return indices[following - 1] if following else None

    def batch(self, index: int) -> EventBatch | None:
        """The batch with this index, or None if it is no longer or not yet in memory."""
        return self._batches.get(index)

    def has_left(self, index: int) -> bool:
        """Whether the batch with this index is no longer in memory."""
        return index < self._oldest

    async def wait(self) -> None:
        """Wait for the next events."""
        if self._arrival is None:
            self._arrival = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._arrival)

    async def read(self, sequence: int) -> EventBatch | None:
        """Events from `sequence` on, read from the store; None if it lacks them. Raises EventStoreError."""
        # An event can leave memory just before it is written.
        await self.stored(min(sequence, self._last_sequence))
        async with self._read_turn:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._store.read, sequence)
