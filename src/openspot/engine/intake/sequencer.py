"""The sequencer: one order for all commands, and nothing answered before it is durable.

    submit → waiting → one commit of all that wait (bounded) → applied to the state machine → callers answered

While a commit is in flight the next batch gathers: group commit. A batch is applied while the next one is
being committed. The committing thread is the only one that touches the journal; everything else happens on
the event loop. Nothing runs while there is nothing to do.

If the journal refuses a batch for certain (disk full), its callers get an error and no further command is
taken. If it cannot be known whether a batch is in the journal, `fault` is set: the process must end, since
only a replay can tell what was taken.
"""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from openspot.engine import metrics
from openspot.engine.core.records import RESULT_SIZE
from openspot.engine.journal.journal import Journal, JournalError
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine, placed_order_ids
from openspot.kit.clock import Clock
from openspot.kit.log import get_logger

log = get_logger("sequencer")

GATHER_S = 0.003
GATHER_RATE_MIN = 3500.0
"""Commands a second beyond which commits that several callers share are held back for more of them."""
_RATE_WEIGHT = 0.1
_RATE_SPAN_MIN_S = 0.0001


class EngineBusyError(Exception):
    """The queue is full: nothing of the call was taken."""


class EngineStoppedError(Exception):
    """The engine takes no commands; the message says why."""


class CommandOutcome(NamedTuple):
    """What became of a submission.

    `results` are its result records; its events are those of `applied` from the one at `event_index`.
    """

    results: bytes
    applied: AppliedBatch
    event_index: int

    @property
    def events_before(self) -> int:
        """The sequence of the last event before its own."""
        return self.applied.events.first_sequence + self.event_index - 1


class _Submission(NamedTuple):
    commands: bytes
    notes: Sequence[Note]
    future: asyncio.Future[CommandOutcome]


class _Batch(NamedTuple):
    first_sequence: int
    time_ns: int
    commands: bytes
    notes: list[Note]
    submissions: list[_Submission]


class Sequencer:
    """Takes commands on the event loop of the thread that starts it."""

    def __init__(
        self,
        machine: StateMachine,
        journal: Journal,
        clock: Clock,
        *,
        batch_max: int,
        queue_max: int,
        on_applied: Callable[[AppliedBatch], None],
        blocked: Callable[[], bool],
    ) -> None:
        """`on_applied` gets each batch's outcome before its callers; while `blocked()` nothing is taken."""
        self._machine = machine
        self._journal = journal
        self._clock = clock
        self._batch_max = batch_max
        self._queue_max = queue_max
        self._on_applied = on_applied
        self._blocked = blocked
        self._loop = asyncio.get_running_loop()
        self._time_ns = journal.time_ns
        self._next_sequence = journal.last_sequence + 1
        self.checksum = journal.checksum
        """The journal's checksum behind the newest command that was applied."""
        self._waiting: deque[_Submission] = deque()
        self._waiting_count = 0
        self._in_flight: _Batch | None = None
        self._commit_scheduled = False
        self._commit_started = time.monotonic()
        self._arrived = 0
        # Commands a second, smoothed.
        self._rate = 0.0
        self._was_shared = False
        self._commits: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._commit_on, name="journal", daemon=True)
        self._thread.start()
        self._stopped: EngineStoppedError | None = None
        self._failed = False
        self.fault: asyncio.Future[None] = self._loop.create_future()
        """Fails when the process must end."""

    # Taking

    @property
    def depth(self) -> int:
        """Commands that wait for a commit."""
        return self._waiting_count

    @property
    def failed(self) -> bool:
        """Whether the journal or the state machine failed."""
        return self._failed

    def now(self) -> int:
        """The engine's time in nanoseconds: the clock's, but never before an earlier answer's."""
        self._time_ns = max(self._time_ns, self._clock())
        return self._time_ns

    def admit(self, count: int) -> None:
        """Raise EngineBusyError or EngineStoppedError unless `count` more commands can be taken now."""
        if self._stopped is not None:
            raise self._stopped
        if self._waiting_count + count > self._queue_max or self._blocked():
            raise EngineBusyError

    def submit(self, commands: bytes, notes: Sequence[Note]) -> asyncio.Future[CommandOutcome]:
        """Take commands, in order and in one commit; the future is done when they are durable and applied.

        The caller has called `admit` and registered their names since without awaiting anything. The future
        fails with EngineStoppedError if they were not taken, or if that is not known.
        """
        future: asyncio.Future[CommandOutcome] = self._loop.create_future()
        self._waiting.append(_Submission(commands, notes, future))
        self._waiting_count += len(notes)
        self._arrived += len(notes)
        if self._in_flight is None and not self._commit_scheduled:
            self._commit_scheduled = True
            # Not at once: what else arrives in this turn of the loop joins the commit.
            delay = self._gathering_s()
            if delay > 0:
                self._loop.call_later(delay, self._commit_waiting)
            else:
                self._loop.call_soon(self._commit_waiting)
        return future

    async def settle(self) -> None:
        """Wait until everything that was submitted so far is durable and applied. Raises EngineStoppedError."""
        if self._stopped is not None:
            raise self._stopped
        await self.submit(b"", ())

    def pending_order_ids(self) -> set[int]:
        """The orders that were submitted and are not applied."""
        commands = [submission.commands for submission in self._waiting]
        if self._in_flight is not None:
            commands.append(self._in_flight.commands)
        return {order_id for part in commands for order_id in placed_order_ids(part)}

    def check(self) -> None:
        """Raise EngineStoppedError if no commands are taken."""
        if self._stopped is not None:
            raise self._stopped

    # Committing

    def _gathering_s(self) -> float:
        """How long the next commit should wait for more to join; not positive: not at all.

        A commit costs about as much processor time as a call. When commands come fast and from several callers, so
        that more of them can share it, it begins GATHER_S after the one before. A caller that is alone would only
        wait for itself.
        """
        if not self._was_shared or self._rate <= GATHER_RATE_MIN or self._waiting_count >= self._batch_max:
            return 0.0
        return self._commit_started + GATHER_S - time.monotonic()

    def _commit_waiting(self) -> None:
        self._commit_scheduled = False
        if not self._waiting:
            return
        now = time.monotonic()
        arrival_rate = self._arrived / max(now - self._commit_started, _RATE_SPAN_MIN_S)
        self._rate += (arrival_rate - self._rate) * _RATE_WEIGHT
        self._commit_started, self._arrived = now, 0
        self._was_shared = len(self._waiting) > 1
        submissions: list[_Submission] = []
        notes: list[Note] = []
        # A submission beyond the bound goes alone: it is one commit by its caller's wish.
        while self._waiting and (not notes or len(notes) + len(self._waiting[0].notes) <= self._batch_max):
            submission = self._waiting.popleft()
            submissions.append(submission)
            notes.extend(submission.notes)
        self._waiting_count -= len(notes)
        commands = b"".join([submission.commands for submission in submissions])
        batch = _Batch(self._next_sequence, self._time_ns, commands, notes, submissions)
        self._next_sequence += len(notes)
        self._in_flight = batch
        self._commits.put(batch)

    def _commit_on(self) -> None:
        """The committing thread."""
        while (batch := self._commits.get()) is not None:
            error: Exception | None = None
            checksum = self._journal.checksum
            if batch.notes:
                started = time.perf_counter()
                try:
                    checksum = self._journal.append(batch.first_sequence, batch.time_ns, batch.commands, batch.notes)
                except Exception as failure:
                    error = failure
                metrics.COMMIT_SECONDS.observe(time.perf_counter() - started)
            self._loop.call_soon_threadsafe(self._committed, batch, checksum, error)

    def _committed(self, batch: _Batch, checksum: bytes, error: Exception | None) -> None:
        self._in_flight = None
        if error is None:
            # Nothing can be applied behind a batch that could not be.
            error = self._stopped if self._failed else None
        if error is not None:
            self._stop_taking(batch, error)
            return
        if self._waiting and not self._commit_scheduled:
            delay = self._gathering_s()
            if delay > 0:
                self._commit_scheduled = True
                self._loop.call_later(delay, self._commit_waiting)
            else:
                # The next commit runs while this batch is applied.
                self._commit_waiting()
        try:
            self.checksum = checksum
            self._apply(batch)
        except Exception as failure:
            log.exception("a durable batch could not be applied")
            self._stop_taking(batch, failure)

    def _apply(self, batch: _Batch) -> None:
        applied = self._machine.apply(batch.commands, batch.notes)
        metrics.note_batch(applied.results)
        self._on_applied(applied)
        results, position, event_index = applied.results, 0, 0
        for submission in batch.submissions:
            end = position + len(submission.notes) * RESULT_SIZE
            own = results[position:end]
            if not submission.future.done():
                submission.future.set_result(CommandOutcome(own, applied, event_index))
            event_index += metrics.event_count(own)
            position = end

    def _stop_taking(self, batch: _Batch, error: Exception) -> None:
        """No command is taken from here on; whoever waits gets an error."""
        certain = isinstance(error, JournalError)
        reason = f"the engine takes no commands: {error}"
        if certain:
            reason += ". Free the disk, then restart the engine"
        log.error(reason)
        self._stopped = EngineStoppedError(reason)
        self._failed = True
        for submission in (*batch.submissions, *self._waiting):
            if not submission.future.done():
                submission.future.set_exception(self._stopped)
        self._waiting.clear()
        self._waiting_count = 0
        if not certain and not self.fault.done():
            self.fault.set_exception(self._stopped)

    async def close(self) -> None:
        """Take no more, wait for the commit in flight, and end the thread."""
        if self._stopped is None:
            self._stopped = EngineStoppedError("the engine is stopping")
            await self.submit(b"", ())
        self._commits.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        if not self.fault.done():
            self.fault.cancel()
