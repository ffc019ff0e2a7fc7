"""The engine without its network interfaces: wires journal, state machine, sequencer, events and snapshots."""

import asyncio
import time
from functools import partial
from pathlib import Path

from openspot.domain.market import load_markets
from openspot.engine import metrics
from openspot.engine.core.selection import make_core
from openspot.engine.core.snapshot_records import state_hash_of
from openspot.engine.intake.command_intake import CommandIntake
from openspot.engine.intake.money_intake import MoneyIntake
from openspot.engine.intake.order_limits import OrderLimits
from openspot.engine.intake.order_lists import ListIntake
from openspot.engine.intake.seed import seed_commands
from openspot.engine.intake.sequencer import Sequencer
from openspot.engine.intake.upkeep import Upkeep
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.journal import snapshots
from openspot.engine.journal.journal import Journal
from openspot.engine.journal.origins import Origins
from openspot.engine.journal.recovery import Recovered, recover
from openspot.engine.journal.snapshots import Snapshot, SnapshotHeader, write_snapshot
from openspot.engine.settings import EngineSettings
from openspot.engine.state.market_list import MarketBoard
from openspot.engine.state.state_machine import AppliedBatch
from openspot.engine.stream.event_log import EventLog
from openspot.engine.stream.event_render import EventRenderer
from openspot.engine.stream.event_store import EVENTS, EventStore
from openspot.kit.clock import Clock, system_clock
from openspot.kit.disk import MEBIBYTE, Disk
from openspot.kit.log import get_logger

log = get_logger("engine")

FOLDER = "engine"
JOURNAL = "journal.sqlite"
EVENTS_UNWRITTEN_MAX = 500_000
"""How many events may wait for the event store. Above it, commands are refused with ENGINE_BUSY."""


def journal_path(settings: EngineSettings) -> Path:
    """The path of the journal of an engine with these settings."""
    return settings.data_dir / FOLDER / JOURNAL


class Engine:
    """A running engine. Create it with `Engine.open` and end it with `close`."""

    def __init__(
        self, settings: EngineSettings, journal: Journal, store: EventStore, recovered: Recovered, clock: Clock
    ) -> None:
        self.settings = settings
        self.machine = recovered.machine
        self.epoch = journal.epoch
        self.disk = Disk(settings.data_dir, settings.disk_reserve_mib * MEBIBYTE)
        self.events = EventLog(
            store,
            self.machine.core.event_sequence,
            memory_events=settings.engine_stream_buffer,
            retention=settings.engine_event_retention,
            behind_max=EVENTS_UNWRITTEN_MAX,
        )
        self.renderer = EventRenderer(self.machine.directory, self.epoch)
        self.sequencer = Sequencer(
            self.machine,
            journal,
            clock,
            batch_max=settings.engine_batch_max,
            queue_max=settings.engine_queue_max,
            on_applied=self._note_applied,
            blocked=lambda: self.events.behind,
            refusal=lambda: self.disk.refusal,
        )
        self.board = MarketBoard(self.machine.directory, self.epoch, load_markets())
        self.listing_turn = asyncio.Lock()
        """Whoever changes symbols or currencies holds it."""
        self._limits = limits = OrderLimits(
            settings.engine_rate_limit,
            settings.engine_size_factor,
            self.board.limits,
            settings.engine_open_orders_max,
        )
        rules = settings.volatility_rules
        volatility = VolatilityGuard(self.machine, self.sequencer, rules) if rules else None
        self.intake = CommandIntake(self.machine, self.sequencer, limits, volatility)
        self.money_intake = MoneyIntake(self.machine, self.sequencer, self.intake)
        self.list_intake = ListIntake(self.machine, self.sequencer, self.intake, limits)
        self.upkeep = Upkeep(self.machine, self.sequencer, volatility)
        self.journal_path = journal.path
        self.origins = Origins(journal.path.parent)
        """The addresses that administrators acted from, until the operators' trail has them."""
        self.state_hash = self.machine.core.state_hash()
        """The core's state hash at the start or at the newest snapshot. Computing it more often would cost too much."""
        self.state_hash_commands = self.machine.core.command_sequence
        """The last command that `state_hash` covers."""
        self._journal = journal
        self._snapshot_sequence = recovered.snapshot_sequence
        self._snapshot: asyncio.Task[None] | None = None
        metrics.QUEUE_DEPTH.set_function(lambda: self.sequencer.depth)

    @classmethod
    async def open(cls, settings: EngineSettings, clock: Clock = system_clock) -> "Engine":
        """Recover the state at the end of the journal. An empty journal gets the configured currencies and markets.

        Raises JournalLockedError, JournalDamagedError, EventStoreError, CoreUnavailableError, OSError.
        """
        path = journal_path(settings)
        new_core = partial(make_core, settings.engine_core, settings.engine_open_orders_expected)
        journal = Journal(path)
        try:
            store = EventStore(path.with_name(EVENTS), journal.epoch)
            recovered = recover(
                journal,
                store,
                path.with_name(snapshots.FOLDER),
                new_core,
                orders_remembered=settings.engine_orders_remembered,
                event_retention=settings.engine_event_retention,
            )
        except BaseException:
            journal.close()
            raise
        engine = cls(settings, journal, store, recovered, clock)
        log.info(
            "recovered the engine state",
            core=recovered.machine.core.name,
            journal=str(path),
            epoch=journal.epoch,
            commands=journal.last_sequence,
            state_hash=engine.state_hash,
            snapshot_commands=recovered.snapshot_sequence,
            replayed_commands=recovered.replayed_commands,
            seconds=round(recovered.seconds, 3),
        )
        journal.acknowledge(journal.last_sequence, recovered.machine.core.event_sequence)
        engine.events.start()
        if journal.last_sequence == 0:
            await engine._seed()
        engine.upkeep.start()
        return engine

    async def _seed(self) -> None:
        commands, notes = seed_commands(load_markets(), self.sequencer.now())
        await self.sequencer.submit(commands, notes)
        log.info("created currencies and markets in a new journal", symbols=len(self.machine.directory.symbols))

    async def close(self) -> None:
        """Finish all submitted commands, take a snapshot, and close the files."""
        self.upkeep.close()
        await self.sequencer.close()
        if self._snapshot is not None:
            await asyncio.gather(self._snapshot, return_exceptions=True)
        if self.machine.core.command_sequence > self._snapshot_sequence and not self.sequencer.failed:
            await self._try_snapshot()
        self.origins.close()
        await self.events.close()
        await asyncio.get_running_loop().run_in_executor(None, self._journal.close)

    def _note_applied(self, applied: AppliedBatch) -> None:
        metrics.EVENTS.inc(len(applied.events))
        self.events.add(applied.events)
        self.upkeep.note(applied)
        if self.board.note():
            self._limits.forget_sizes()
        behind = self.machine.core.command_sequence - self._snapshot_sequence
        if behind >= self.settings.engine_snapshot_interval and (self._snapshot is None or self._snapshot.done()):
            self._snapshot = asyncio.create_task(self._try_snapshot())

    async def _try_snapshot(self) -> None:
        """Take a snapshot. A failure is only logged, because the journal alone is enough to recover."""
        try:
            await self._take_snapshot()
        except Exception:
            log.exception("failed to take a snapshot")

    async def _take_snapshot(self) -> None:
        """Take a snapshot of the current state. Raises OSError."""
        if self.sequencer.failed:
            # A batch may have been applied in part.
            return
        started = time.perf_counter()
        core = self.machine.core
        sequence, event_sequence, checksum = core.command_sequence, core.event_sequence, self.sequencer.checksum
        core_bytes, rest = self.machine.snapshot(self.sequencer.pending_engine_order_ids())
        self._snapshot_sequence = sequence
        taken = time.perf_counter()
        # Recovery skips snapshots that are ahead of the event store.
        await self.events.stored(event_sequence)

        def write() -> tuple[Path, str]:
            state_hash = state_hash_of(core_bytes)
            header = SnapshotHeader(self.epoch, sequence, event_sequence, state_hash, checksum, len(core_bytes))
            path = write_snapshot(self.journal_path.with_name(snapshots.FOLDER), Snapshot(header, core_bytes, rest))
            return path, state_hash

        path, self.state_hash = await asyncio.get_running_loop().run_in_executor(None, write)
        self.state_hash_commands = sequence
        seconds = time.perf_counter() - started
        metrics.SNAPSHOT_SECONDS.observe(seconds)
        log.info(
            "snapshot",
            path=str(path),
            commands=sequence,
            seconds=round(seconds, 3),
            held_up_s=round(taken - started, 3),
        )
