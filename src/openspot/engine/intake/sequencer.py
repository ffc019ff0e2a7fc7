"""The sequencer puts all commands in one order and responds to none before it is durable.

    submit → wait → commit all waiting commands (bounded) → apply to the state machine → resolve the futures

This is group commit: while one commit is in flight, the next batch gathers; while a batch is applied, the next one
is committed. Only the committing thread uses the journal. Everything else runs on the event loop, and nothing runs
while there are no commands.

If the journal certainly did not store a batch (disk full), its callers get an error and the sequencer stops: the
process must end once there is space again (`is_short_of_space`). If the journal may have stored it, `fault` is set: the
process must end at once, because only a replay can tell.
"""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from openspot.engine import metrics
from openspot.engine.core.records import RESULT_SIZE, CommandKind
from openspot.engine.journal.journal import Journal, JournalError
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine, has_command, placed_engine_order_ids
from openspot.kit import tracing
from openspot.kit.clock import Clock
from openspot.kit.log import get_logger

log = get_logger("sequencer")

GATHER_S = 0.003
GATHER_RATE_MIN = 3500.0
"""Above this many commands a second, a commit that several callers share starts GATHER_S after the one before."""
_RATE_WEIGHT = 0.1
_RATE_SPAN_MIN_S = 0.0001


class EngineBusyError(Exception):
    """The queue is full. No command of the call was submitted."""


class EngineStoppedError(Exception):
    """The engine accepts no commands; the message says why."""


class NotStoredError(EngineStoppedError):
    """The engine accepts no commands, and this one is certainly not stored: it may be sent again."""


class CommandOutcome(NamedTuple):
    """The outcome of one submission.

    `results` are its result records. Its events start at `event_index` in the events of `applied`, the whole batch.
    """

    results: bytes
    applied: AppliedBatch
    event_index: int
    commit: tuple[int, int] = (0, 0)
    """When the commit to the journal began and ended, in ns since 1970, if orders are traced."""

    @property
    def events_before(self) -> int:
        """The sequence of the last event before those of this submission."""
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
    """Sequences the commands of one engine. Belongs to the event loop in which it was created."""

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
        refusal: Callable[[], str] = str,
    ) -> None:
        """`on_applied` sees each batch before its callers do.

        While `blocked()` is true, `admit` refuses because the engine is busy. While `refusal()` is not empty, `admit`
        refuses for this reason.
        """
        self._machine = machine
        self._journal = journal
        self._clock = clock
        self._batch_max = batch_max
        self._queue_max = queue_max
        self._on_applied = on_applied
        self._blocked = blocked
        self._refusal = refusal
        self._loop = asyncio.get_running_loop()
        self._time_ns = journal.time_ns
        self._next_sequence = journal.last_sequence + 1
        self.checksum = journal.checksum
        """The journal's checksum after the last applied command."""
        self._waiting: deque[_Submission] = deque()
        self._waiting_count = 0
        self._in_flight: _Batch | None = None
        self._commit_scheduled = False
        self._commit_started = time.monotonic()
        self._arrived = 0
        self._smoothed_rate = 0.0
        self._was_shared = False
        self._commits: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run_commits, name="journal", daemon=True)
        self._thread.start()
        self._stopped: EngineStoppedError | None = None
        self._failed = False
        self.stopped = asyncio.Event()
        """Set when the journal or the state machine has failed."""
        self.is_short_of_space = False
        """Whether the journal refused a batch. The engine can go on from its journal, once there is space again."""
        self.fault: asyncio.Future[None] = self._loop.create_future()
        """Fails with EngineStoppedError when the process must end."""

    # Submitting

    @property
    def depth(self) -> int:
        """How many commands wait for a commit."""
        return self._waiting_count

    @property
    def failed(self) -> bool:
        """Whether the journal or the state machine failed."""
        return self._failed

    @property
    def has_ended(self) -> bool:
        """Whether no command is accepted any more: it failed, or is closed. What `refusal` says passes."""
        return self._stopped is not None

    def now(self) -> int:
        """The engine's time in nanoseconds since 1970. It is monotonic, even if the system's clock goes back."""
        self._time_ns = max(self._time_ns, self._clock())
        return self._time_ns

    def admit(self, count: int) -> None:
        """Raise EngineBusyError or EngineStoppedError unless `count` more commands can be submitted now."""
        self.check()
        if self._waiting_count + count > self._queue_max or self._blocked():
            raise EngineBusyError

    def submit(self, commands: bytes, notes: Sequence[Note]) -> asyncio.Future[CommandOutcome]:
        """Submit commands to be committed together, in order. The future resolves when they are durable and applied.

        Call `admit` first, then register the names of the commands, and await nothing in between. The future fails
        with EngineStoppedError if the commands were not stored, or if that is unknown.
        """
        future: asyncio.Future[CommandOutcome] = self._loop.create_future()
        self._waiting.append(_Submission(commands, notes, future))
        self._waiting_count += len(notes)
        self._arrived += len(notes)
        if self._in_flight is None and not self._commit_scheduled:
            self._commit_scheduled = True
            # Deferred, so that other commands of this turn of the event loop join the commit.
            delay = self._gathering_s()
            if delay > 0:
                self._loop.call_later(delay, self._commit_waiting)
            else:
                self._loop.call_soon(self._commit_waiting)
        return future

    async def settle(self) -> None:
        """Wait until all commands submitted so far are durable and applied. Raises EngineStoppedError."""
        if self._stopped is not None:
            raise self._stopped
        await self.submit(b"", ())

    def pending_engine_order_ids(self) -> set[int]:
        """The ids of the orders that are submitted but not applied."""
        return {engine_order_id for part in self._pending() for engine_order_id in placed_engine_order_ids(part)}

    def is_pending(self, kind: CommandKind, symbol: int) -> bool:
        """Whether a command of this kind and symbol is submitted but not applied."""
        return any(has_command(part, kind, symbol) for part in self._pending())

    def _pending(self) -> list[bytes]:
        commands = [submission.commands for submission in self._waiting]
        if self._in_flight is not None:
            commands.append(self._in_flight.commands)
        return commands

    def check(self) -> None:
        """Raise EngineStoppedError if the engine accepts no commands."""
        if self._stopped is not None:
            raise self._stopped
        if reason := self._refusal():
            raise NotStoredError(f"the engine accepts no commands: {reason}")

    # Committing

    def _gathering_s(self) -> float:
        """How long the next commit waits for more commands, in seconds. Zero or less means that it does not wait.

        A commit takes about as much processor time as a call. When commands arrive fast from several callers, a
        commit starts GATHER_S after the one before, so that more of them share it. A single caller would gain
        nothing: it would wait for itself.
        """
        if not self._was_shared or self._smoothed_rate <= GATHER_RATE_MIN or self._waiting_count >= self._batch_max:
            return 0.0
        return self._commit_started + GATHER_S - time.monotonic()

    def _commit_waiting(self) -> None:
        self._commit_scheduled = False
        if not self._waiting:
            return
        now = time.monotonic()
        arrival_rate = self._arrived / max(now - self._commit_started, _RATE_SPAN_MIN_S)
        self._smoothed_rate += (arrival_rate - self._smoothed_rate) * _RATE_WEIGHT
        self._commit_started, self._arrived = now, 0
        self._was_shared = len(self._waiting) > 1
        submissions: list[_Submission] = []
        notes: list[Note] = []
        # A submission larger than the bound is committed alone, because its caller asked for one commit.
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

    def _run_commits(self) -> None:
        """Commit batches until the end; runs in the committing thread."""
        while (batch := self._commits.get()) is not None:
            error: Exception | None = None
            checksum = self._journal.checksum
            commit_began = tracing.begin()
            if batch.notes:
                started = time.perf_counter()
                try:
                    checksum = self._journal.append(batch.first_sequence, batch.time_ns, batch.commands, batch.notes)
                except Exception as failure:
                    error = failure
                metrics.COMMIT_SECONDS.observe(time.perf_counter() - started)
            commit = (commit_began, tracing.begin())
            self._loop.call_soon_threadsafe(self._committed, batch, checksum, error, commit)

    def _committed(self, batch: _Batch, checksum: bytes, error: Exception | None, commit: tuple[int, int]) -> None:
        self._in_flight = None
        if error is None:
            # A batch before this one could not be applied, so this one cannot be either.
            error = self._stopped if self._failed else None
        if error is not None:
            self._stop_accepting(batch, error)
            return
        if self._waiting and not self._commit_scheduled:
            delay = self._gathering_s()
            if delay > 0:
                self._commit_scheduled = True
                self._loop.call_later(delay, self._commit_waiting)
            else:
                # Start the next commit now: it runs while this batch is applied.
                self._commit_waiting()
        try:
            self.checksum = checksum
            self._apply(batch, commit)
        except Exception as failure:
            log.exception("a durable batch could not be applied")
            self._stop_accepting(batch, failure)

    def _apply(self, batch: _Batch, commit: tuple[int, int]) -> None:
        applied = self._machine.apply(batch.commands, batch.notes)
        if batch.notes:
            self._journal.acknowledge(batch.first_sequence + len(batch.notes) - 1, applied.events.last_sequence)
        metrics.note_batch(applied.results)
        self._on_applied(applied)
        results, position, event_index = applied.results, 0, 0
        for submission in batch.submissions:
            end = position + len(submission.notes) * RESULT_SIZE
            own = results[position:end]
            if not submission.future.done():
                submission.future.set_result(CommandOutcome(own, applied, event_index, commit))
            event_index += metrics.event_count(own)
            position = end

    def _stop_accepting(self, batch: _Batch, error: Exception) -> None:
        """Refuse all further commands and fail the waiting ones."""
        certain = isinstance(error, JournalError)
        reason = f"the engine accepts no commands: {error}"
        if certain:
            reason += ". Free the disk; restart the engine if it does not then start anew by itself"
        self._stopped = NotStoredError(reason) if certain else EngineStoppedError(reason)
        self._failed = True
        self.is_short_of_space = certain
        self.stopped.set()
        log.error(reason)
        for submission in (*batch.submissions, *self._waiting):
            if not submission.future.done():
                submission.future.set_exception(self._stopped)
        self._waiting.clear()
        self._waiting_count = 0
        if not certain and not self.fault.done():
            self.fault.set_exception(self._stopped)

    async def close(self) -> None:
        """Refuse further commands, finish the submitted ones, and end the committing thread."""
        if self._stopped is None:
            self._stopped = EngineStoppedError("the engine is stopping")
            await self.submit(b"", ())
        self._commits.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        if not self.fault.done():
            self.fault.cancel()
