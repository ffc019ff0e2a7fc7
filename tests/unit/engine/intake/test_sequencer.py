"""The sequencer: one order of commands, and no response before a command is durable."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from openspot.engine.core.records import RESULT_SIZE, decode_results
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.intake.sequencer import EngineBusyError, EngineStoppedError, NotStoredError, Sequencer
from openspot.engine.journal.journal import FIRST_CHECKSUM, Journal, JournalError, JournalUncertainError
from openspot.engine.journal.mark import MARK, Mark, read_mark
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine
from tests.support.engine_state import SEED, Commands, cancel, deposit, new_machine, place, together


class WatchedJournal(Journal):
    """A journal that counts its commits and fails on demand."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.commits = 0
        self.failure: Exception | None = None

    def append(self, first_sequence: int, time_ns: int, commands: bytes, notes: Sequence[Note]) -> bytes:
        if self.failure:
            raise self.failure
        self.commits += 1
        return super().append(first_sequence, time_ns, commands, notes)


class Setup:
    """A sequencer with a new journal and a manual clock."""

    def __init__(self, folder: Path, batch_max: int = 100, queue_max: int = 200) -> None:
        self.journal = WatchedJournal(folder / "journal.sqlite")
        self.machine: StateMachine = new_machine()
        self.applied: list[AppliedBatch] = []
        self.time_ns = 100
        self.blocked = False
        self.refusal = ""
        self.sequencer = Sequencer(
            self.machine,
            self.journal,
            lambda: self.time_ns,
            batch_max=batch_max,
            queue_max=queue_max,
            on_applied=self.applied.append,
            blocked=lambda: self.blocked,
            refusal=lambda: self.refusal,
        )

    def submit(self, batch: Commands) -> asyncio.Future:
        commands, notes = batch
        self.sequencer.admit(len(notes))
        self.machine.register(commands, notes)
        return self.sequencer.submit(commands, notes)


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Setup]:
    one = Setup(tmp_path)
    yield one
    await one.sequencer.close()
    one.journal.close()


async def test_an_acknowledged_command_is_durable_and_applied(setup: Setup) -> None:
    outcome = await setup.submit(together(SEED, deposit(2, "alice", 100)))
    assert setup.journal.last_sequence == setup.machine.core.command_sequence == 20
    assert [result.code for result in decode_results(outcome.results)] == [0] * 20
    assert (outcome.events_before, outcome.event_index, len(setup.applied)) == (0, 0, 1)


async def test_callers_of_one_turn_share_a_commit_and_get_their_own_results(setup: Setup) -> None:
    await setup.submit(together(SEED, deposit(2, "alice", 1000)))
    commits = setup.journal.commits
    futures = [setup.submit(place(number, 2 if number % 2 else 9)) for number in range(1, 11)]
    outcomes = await asyncio.gather(*futures)
    assert setup.journal.commits == commits + 1
    codes = [next(decode_results(outcome.results)).code for outcome in outcomes]
    assert codes == [0, 1] * 5
    assert [outcome.event_index for outcome in outcomes] == list(range(10))


async def test_a_batch_has_at_most_its_bound_and_order_is_kept(tmp_path: Path) -> None:
    setup = Setup(tmp_path, batch_max=30, queue_max=1000)
    await setup.submit(SEED)
    futures = [setup.submit(together(*(cancel(number * 100 + n) for n in range(20)))) for number in range(10)]
    await asyncio.gather(*futures)
    rows = list(setup.journal.read(0, FIRST_CHECKSUM))
    assert [row.command_count for row in rows] == [19] + [20] * 10
    assert rows[-1].commands == together(*(cancel(900 + n) for n in range(20)))[0]
    await setup.sequencer.close()
    setup.journal.close()


async def test_a_full_queue_or_a_blocked_engine_is_busy(setup: Setup) -> None:
    first = setup.submit(together(SEED, *(cancel(number) for number in range(150))))
    with pytest.raises(EngineBusyError):
        setup.sequencer.admit(32)
    setup.sequencer.admit(31)
    setup.blocked = True
    with pytest.raises(EngineBusyError):
        setup.sequencer.admit(1)
    setup.blocked = False
    assert setup.sequencer.depth == 169
    # It is larger than a batch, so it is committed alone.
    assert len((await first).results) == 169 * RESULT_SIZE


async def test_time_never_goes_back_not_even_across_a_restart(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    assert setup.sequencer.now() == 100
    setup.time_ns = 50
    assert setup.sequencer.now() == 100
    await setup.submit(SEED)
    await setup.sequencer.close()
    setup.journal.close()
    again = Setup(tmp_path)
    again.time_ns = 7
    assert again.sequencer.now() == 100
    await again.sequencer.close()
    again.journal.close()


async def test_a_refused_commit_acknowledges_nothing_and_stops_the_engine(setup: Setup) -> None:
    await setup.submit(SEED)
    setup.journal.failure = JournalError("database or disk is full")
    waiting = [setup.submit(deposit(2, "alice", 1)), setup.submit(deposit(2, "alice", 2))]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, EngineStoppedError) for outcome in outcomes)
    assert "disk is full" in str(outcomes[0])
    setup.journal.failure = None
    for attempt in (lambda: setup.sequencer.admit(1), setup.sequencer.check):
        with pytest.raises(EngineStoppedError, match="disk is full"):
            attempt()
    with pytest.raises(EngineStoppedError):
        await setup.sequencer.settle()
    assert setup.machine.core.command_sequence == setup.journal.last_sequence == 19
    assert not setup.sequencer.fault.done()
    assert setup.sequencer.has_ended
    assert setup.sequencer.is_short_of_space, "the engine can start anew once there is space"
    assert all(isinstance(outcome, NotStoredError) for outcome in outcomes), "the callers may send them again"


async def test_an_uncertain_commit_is_a_fault_that_ends_the_process(setup: Setup) -> None:
    await setup.submit(SEED)
    setup.journal.failure = JournalUncertainError("disk I/O error")
    with pytest.raises(EngineStoppedError, match="I/O"):
        await setup.submit(deposit(2, "alice", 1))
    with pytest.raises(EngineStoppedError, match="I/O") as fault:
        await setup.sequencer.fault
    assert not isinstance(fault.value, NotStoredError)
    assert not setup.sequencer.is_short_of_space


async def test_commands_are_refused_while_there_is_a_reason_and_taken_afterwards(setup: Setup) -> None:
    await setup.submit(SEED)
    setup.refusal = "the disk is full"
    for attempt in (lambda: setup.sequencer.admit(1), setup.sequencer.check):
        with pytest.raises(NotStoredError, match="the engine accepts no commands: the disk is full"):
            attempt()
    assert not setup.sequencer.has_ended
    setup.refusal = ""
    setup.sequencer.admit(1)
    await setup.submit(deposit(2, "alice", 1))
    assert setup.journal.last_sequence == 20


async def test_a_broken_invariant_ends_the_process_and_acknowledges_nothing_more(setup: Setup) -> None:
    await setup.submit(together(SEED, deposit(2, "alice", 1000), place(5, 2)))
    mark = read_mark(setup.journal.path.with_name(MARK))
    core = setup.machine.core
    assert isinstance(core, ReferenceCore)
    core._state.accounts[2].held.clear()
    waiting = [setup.submit(cancel(5)), setup.submit(deposit(2, "alice", 1))]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    for outcome in outcomes:
        assert isinstance(outcome, EngineStoppedError)
        assert "broken invariant of the matching core: more is released than is held, in command 22" in str(outcome)
    with pytest.raises(EngineStoppedError, match="broken invariant"):
        await setup.sequencer.fault
    with pytest.raises(EngineStoppedError, match="broken invariant"):
        setup.sequencer.admit(1)
    assert setup.sequencer.failed
    assert len(setup.applied) == 1
    assert read_mark(setup.journal.path.with_name(MARK)) == mark


async def test_the_mark_names_the_last_command_and_event_before_a_caller_gets_a_response(setup: Setup) -> None:
    path = setup.journal.path.with_name(MARK)
    seen: list[Mark | None] = []
    for batch in (SEED, together(deposit(2, "alice", 1000), place(5, 2)), cancel(77)):
        future = setup.submit(batch)
        future.add_done_callback(lambda _: seen.append(read_mark(path)))
        await future
    await setup.sequencer.settle()
    assert seen == [Mark(setup.journal.epoch, *place) for place in ((19, 0), (21, 2), (22, 2))]


async def test_a_cancelled_caller_does_not_affect_the_others(setup: Setup) -> None:
    await setup.submit(SEED)
    first, second = setup.submit(deposit(2, "alice", 1)), setup.submit(deposit(2, "alice", 2))
    first.cancel()
    outcome = await second
    assert setup.journal.last_sequence == 21
    assert next(decode_results(outcome.results)).notional == 3 * 10**18


async def test_settle_waits_for_all_earlier_commands_without_a_commit(setup: Setup) -> None:
    future = setup.submit(SEED)
    assert setup.sequencer.pending_engine_order_ids() == set()
    placing = setup.submit(place(5, 2))
    assert setup.sequencer.pending_engine_order_ids() == {5}
    await setup.sequencer.settle()
    assert future.done()
    assert placing.done()
    assert setup.sequencer.pending_engine_order_ids() == set()
    commits = setup.journal.commits
    await setup.sequencer.settle()
    assert setup.journal.commits == commits
