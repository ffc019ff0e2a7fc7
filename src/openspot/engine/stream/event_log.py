"""The events of the running engine: the newest in memory, all retained ones in the store behind it.

The sequencer adds batches; consumers follow by sequence (event_stream.py). Batches in memory are numbered
consecutively, so that a consumer that is up to date finds the next one at once. One that asks for older
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
"""Between two writes to the store: what came meanwhile shares a transaction."""
_WRITE_EVENTS = 4096
"""So many waiting events are written without that pause."""


class EventLog:
    """Events by sequence, in memory and on disk."""

    def __init__(
        self, store: EventStore, last_sequence: int, *, memory_events: int, retention: int, behind_max: int
    ) -> None:
        """`last_sequence` is the newest event so far. Beyond `behind_max` unwritten ones no more should come."""
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
        """Why the store no longer follows, empty if it does."""

    def start(self) -> None:
        """Begin to write to the store."""
        self._writer = asyncio.create_task(self._write_on())

    async def close(self) -> None:
        """Write what waits, and close the store."""
        await self.stored(self._last_sequence)
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        self._threads.shutdown()
        self._store.close()

    @property
    def first_sequence(self) -> int:
        """The oldest event that can be replayed; one above the newest if there is none."""
        if self._store.first_sequence or not self.fault:
            # What the store does not have yet, it will have.
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
        """Whether so many events wait to be written that no more should be made."""
        return self._events_unwritten > self._behind_max

    # Adding

    def add(self, batch: EventBatch) -> None:
        """Add the events that follow the newest ones, and wake those who wait for them."""
        if not len(batch):
            return
        assert batch.first_sequence == self._last_sequence + 1, "no gap between events"
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
                log.exception("events are no longer kept on disk")
                self.fault = f"{error}; events of this time can be replayed after a restart"
                self._unwritten = []
                self._events_unwritten = 0
            else:
                self._events_unwritten -= sum(map(len, batches))
            if self._written is not None:
                self._written.set_result(None)
                self._written = None

    async def stored(self, sequence: int) -> None:
        """Wait until the events up to `sequence` are in the store, or writing has failed."""
        while self._store.last_sequence < sequence and not self.fault:
            if self._written is None:
                self._written = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._written)

    # Following

    def index_of(self, sequence: int) -> int | None:
        """The number of the batch in memory that holds `sequence` (the next one's for the next event).

        None if it has left memory.
        """
        if sequence > self._last_sequence:
            return self._next
        indices = range(self._oldest, self._next)
        following = bisect_right(indices, sequence, key=lambda index: self._batches[index].first_sequence)
        return indices[following - 1] if following else None

    def batch(self, index: int) -> EventBatch | None:
        """A batch in memory, or None if it has left or is still to come."""
        return self._batches.get(index)

    def has_left(self, index: int) -> bool:
        """Whether a batch has left memory."""
        return index < self._oldest

    async def wait(self) -> None:
        """Wait for the next events."""
        if self._arrival is None:
            self._arrival = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._arrival)

    async def read(self, sequence: int) -> EventBatch | None:
        """Events from `sequence` on, out of the store; None if it is not there. Raises EventStoreError."""
        # It may have left memory a moment before it is written.
        await self.stored(min(sequence, self._last_sequence))
        async with self._read_turn:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._store.read, sequence)
