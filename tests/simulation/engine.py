"""The engine of the simulation: real door, services, state machine, renderer and core, and a journal that survives.

Submitted commands wait for a commit. A kill before the commit loses them. A kill after it loses only the replies, and
the restart makes the events. A restart replays the journal, from zero or from a snapshot, with the next core in turn.
It must reach the same state and the same events, to the byte.
"""

import asyncio
import functools
import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from openspot.domain.market import MarketConfiguration, load_markets
from openspot.domain.market_phase import MarketPhase
from openspot.domain.volatility import VolatilityRules
from openspot.engine import metrics
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import RESULT_SIZE, CommandKind
from openspot.engine.core.selection import make_core
from openspot.engine.intake.command_intake import CommandIntake
from openspot.engine.intake.money_intake import MoneyIntake
from openspot.engine.intake.order_lists import ListIntake
from openspot.engine.intake.seed import seed_commands
from openspot.engine.intake.sequencer import CommandOutcome, EngineStoppedError
from openspot.engine.intake.upkeep import Upkeep
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine, has_command, placed_engine_order_ids
from openspot.engine.stream.event_render import EventRenderer
from openspot.engine.transport.frame_service import FrameMethods
from tests.simulation.loop import VirtualLoop

EPOCH = "sim"
ASSETS = ("USD", "BTC", "ETH")
SYMBOLS = ("BTC-USD", "ETH-USD")
ORDERS_REMEMBERED = 1000
OPEN_ORDERS_EXPECTED = 64
"""A core of the platform's size takes longer to make than a whole life of the simulated engine. This one grows."""
FIRST_TIME_NS = 1_700_000_000_000_000_000


class EngineGoneError(Exception):
    """The engine died before it answered."""


@functools.cache
def configuration() -> MarketConfiguration:
    """As many assets and markets as a short run can fill."""
    whole = load_markets()
    seeds = tuple(market for market in whole.seeds if market.symbol in SYMBOLS)
    assets = {name: whole.assets[name] for name in ASSETS}
    return MarketConfiguration({symbol: whole.limits[symbol] for symbol in SYMBOLS}, seeds, assets)


@functools.cache
def core_makers() -> list[Callable[[], MatchingCore]]:
    """A maker for each core that is installed."""
    names = ("rust", "reference") if make_core("auto").name == "rust" else ("reference",)
    return [functools.partial(make_core, name, OPEN_ORDERS_EXPECTED) for name in names]


class Committed(NamedTuple):
    """A batch of the journal."""

    commands: bytes
    notes: list[Note]


class _Submission(NamedTuple):
    commands: bytes
    notes: Sequence[Note]
    future: asyncio.Future[CommandOutcome]


class _Snapshot(NamedTuple):
    batches: int
    core: bytes
    rest: bytes


class _LifeSequencer:
    """The sequencer of one life of the engine, as its upkeep sees it."""

    def __init__(self, engine: "SimulatedEngine") -> None:
        self._engine = engine
        self._life = engine.lives
        self.now, self.submit, self.is_pending = engine.now, engine.submit, engine.is_pending

    def check(self) -> None:
        """Raise EngineStoppedError once the life is over."""
        if not self._engine.is_up or self._engine.lives != self._life:
            raise EngineStoppedError("this life of the engine is over")


class SimulatedEngine:
    """An engine that is killed and comes back. It is its own sequencer for the door and the services."""

    def __init__(self, loop: VirtualLoop, volatility: VolatilityRules | None = None) -> None:
        self._loop = loop
        self.volatility = volatility
        self._cores = itertools.cycle(core_makers())
        self._snapshot: _Snapshot | None = None
        self._waiting: list[_Submission] = []
        self._state_hash = ""
        self.is_up = True
        self.settings = SimpleNamespace(engine_batch_max=4096)
        self.epoch = EPOCH
        self.journal = [Committed(*seed_commands(configuration(), FIRST_TIME_NS))]
        self.records = b""
        """Every event as the core emitted it."""
        self.messages: list[bytes] = []
        """Every event as its stream sends it; event n is at index n − 1."""
        self.changed = asyncio.Event()
        """Set when there are new events, or the engine has died."""
        self.lives = 0
        self.begun_at: list[int] = []
        """How many batches the journal had at the begin of each life."""
        self._begin()
        self._replay(0)
        self._rise()

    def _begin(self) -> None:
        self.lives += 1
        self.begun_at.append(len(self.journal))
        self.machine = StateMachine(next(self._cores)(), ORDERS_REMEMBERED)
        self.sequencer = self
        self._renderer = EventRenderer(self.machine.directory, EPOCH)
        engine: Any = self
        self._guard = VolatilityGuard(self.machine, engine, self.volatility) if self.volatility else None
        self.intake = engine.intake = CommandIntake(self.machine, engine, volatility=self._guard)
        self.money_intake = MoneyIntake(self.machine, engine, self.intake)
        self.list_intake = ListIntake(self.machine, engine, self.intake)
        self.methods = FrameMethods(engine)

    def _rise(self) -> None:
        """Begin with what a replay has left to do: orders that fired or expired, phases that are over."""
        self.is_up = True
        sequencer: Any = _LifeSequencer(self)
        with self._loop.running():
            self.upkeep = Upkeep(self.machine, sequencer, self._guard)
            self.upkeep.start()

    # What the door and the services ask of a sequencer

    def now(self) -> int:
        """The time in nanoseconds since 1970."""
        return FIRST_TIME_NS + int(self._loop.time() * 1_000_000_000)

    def admit(self, count: int) -> None:
        """Always admit."""

    def submit(self, commands: bytes, notes: Sequence[Note]) -> asyncio.Future[CommandOutcome]:
        """Queue commands for the next commit."""
        future: asyncio.Future[CommandOutcome] = self._loop.create_future()
        self._waiting.append(_Submission(commands, notes, future))
        return future

    def is_pending(self, kind: CommandKind, symbol: int) -> bool:
        """Whether such a command waits for a commit."""
        return any(has_command(submission.commands, kind, symbol) for submission in self._waiting)

    async def settle(self) -> None:
        """Wait until everything submitted so far is applied."""
        await self.submit(b"", ())

    # Life and death

    @property
    def waits(self) -> bool:
        """Whether something waits for a commit."""
        return bool(self._waiting)

    def commit(self) -> None:
        """Write the waiting commands to the journal, apply them, and reply."""
        submissions, batch = self._take_waiting()
        self.journal.append(batch)
        applied = self.machine.apply(*batch)
        self._take_over(applied)
        position = event_index = 0
        for submission in submissions:
            end = position + len(submission.notes) * RESULT_SIZE
            results = applied.results[position:end]
            if not submission.future.done():
                submission.future.set_result(CommandOutcome(results, applied, event_index))
            event_index += metrics.event_count(results)
            position = end
        with self._loop.running():
            self.upkeep.note(applied)

    def _take_waiting(self) -> tuple[list[_Submission], Committed]:
        submissions, self._waiting = self._waiting, []
        commands = b"".join(submission.commands for submission in submissions)
        return submissions, Committed(commands, [note for submission in submissions for note in submission.notes])

    def take_snapshot(self) -> None:
        """Keep the present state, from which a restart may begin."""
        pending = {
            engine_order_id
            for submission in self._waiting
            for engine_order_id in placed_engine_order_ids(submission.commands)
        }
        self._snapshot = _Snapshot(len(self.journal), *self.machine.snapshot(pending))

    def kill(self, *, after_commit: bool = False) -> None:
        """Die. With `after_commit` the waiting commands are in the journal, but nobody gets a reply."""
        self.upkeep.close()
        submissions, batch = self._take_waiting()
        self._state_hash = self.machine.core.state_hash()
        if after_commit and batch.notes:
            self.journal.append(batch)
            self._state_hash = ""
        self.is_up = False
        for submission in submissions:
            if not submission.future.done():
                submission.future.set_exception(EngineGoneError())
        self._tell()

    def forget_events(self) -> None:
        """Forget events that the journal no longer has. Only a journal that is not durable needs this."""
        self._state_hash = ""
        kept = SimulatedEngine(self._loop, self.volatility)
        for commands, notes in self.journal[1:]:
            kept.machine.register(commands, notes)
            kept._take_over(kept.machine.apply(commands, notes))
        self.messages, self.records = kept.messages, kept.records

    def restart(self, *, from_zero: bool = False) -> None:
        """Come back. Raises AssertionError if the replay gives another state or other events."""
        self._begin()
        first = 0
        if self._snapshot is not None and not from_zero:
            self.machine.restore(self._snapshot.core, self._snapshot.rest)
            first = self._snapshot.batches
        self._replay(first)
        if self._state_hash:
            assert self.machine.core.state_hash() == self._state_hash, "a replay came to another state"
        self._rise()
        self._tell()

    @property
    def overdue(self) -> list[str]:
        """What the engine itself still has to do, by its core."""
        core, now = self.machine.core, self.now()
        phases = [row for row in core.phases() if row.phase == MarketPhase.UNCROSSING or 0 < row.ends_ns <= now]
        left = {
            "fired orders": core.activations_due(),
            "expired orders": [expiry for expiry in core.expiries() if expiry.time_ns <= now],
            "phases that are over": phases,
        }
        return [name for name, rows in left.items() if rows]

    def _replay(self, first: int) -> None:
        for commands, notes in self.journal[first:]:
            self.machine.register(commands, notes)
            self._take_over(self.machine.apply(commands, notes))

    def _take_over(self, applied: AppliedBatch) -> None:
        batch = applied.events
        messages = self._renderer.messages(batch)
        place = batch.first_sequence - 1
        known = self.messages[place : place + len(messages)]
        assert messages[: len(known)] == known, "a replay told other events"
        if len(known) < len(messages):
            self.messages += messages[len(known) :]
            self.records += batch.from_sequence(batch.first_sequence + len(known)).records
            self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()
