"""Recovery at start: restore the newest usable snapshot, then replay the rest of the journal.

The replay also recreates events that the event store lacks. For that, it starts from a snapshot that is not ahead
of the store. A journal that ends before what a snapshot or another file proves has lost commands whose callers got a
response. Then the engine does not start; `openspot engine recover` (loss.py) can give these commands up.
"""

import gc
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.journal.journal import Journal
from openspot.engine.journal.proofs import Proof, lost
from openspot.engine.journal.rows import FIRST_CHECKSUM, Batch, damaged
from openspot.engine.journal.snapshots import SnapshotHeader, snapshot_path, usable_snapshots
from openspot.engine.state.directory import Note
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_store import EventStore
from openspot.kit.log import get_logger

log = get_logger("recovery")

REPLAY_COMMANDS = 4096
"""How many commands a replay applies at once."""
_SENSELESS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What the restore of a snapshot raises whose content makes no sense, though its checksum is right."""
_STORED_EVENTS = 65_536
"""How many events a replay writes to the store at once."""


class Recovered(NamedTuple):
    """The state at the end of the journal, and what recovery did.

    `snapshot_sequence` is the last command of the restored snapshot, 0 without one.
    """

    machine: StateMachine
    replayed_commands: int
    snapshot_sequence: int
    seconds: float


def recover(
    journal: Journal,
    store: EventStore,
    snapshots: Path,
    new_core: Callable[[], MatchingCore],
    *,
    orders_remembered: int,
    event_retention: int,
) -> Recovered:
    """Build the state at the end of the journal. Raises JournalDamagedError, EventStoreError."""
    started = time.perf_counter()
    journal.compare()
    machine, checksum = _begin(journal, store, snapshots, lambda: StateMachine(new_core(), orders_remembered))
    first = machine.core.command_sequence
    with _without_collection():
        _replay(machine, journal.read(first, checksum), store, event_retention)
    if machine.core.command_sequence != journal.last_sequence:
        reason = f"it ends with command {journal.last_sequence}, but holds {machine.core.command_sequence} commands"
        raise damaged(journal.path, reason)
    if machine.core.event_sequence < store.last_sequence:
        # No command is missing: the proofs were checked. So the store itself is wrong, and it is only a cache.
        log.warning(
            "the event store has events that the journal does not give: it is made again",
            journal_events=machine.core.event_sequence,
            stored_events=store.last_sequence,
        )
        store.clear()
        return recover(
            journal,
            store,
            snapshots,
            new_core,
            orders_remembered=orders_remembered,
            event_retention=event_retention,
        )
    replayed = machine.core.command_sequence - first
    machine.orders.index()
    machine.orders.index_open_orders()
    return Recovered(machine, replayed, first, time.perf_counter() - started)


def _replay(machine: StateMachine, batches: Iterator[Batch], store: EventStore, event_retention: int) -> None:
    """Apply `batches` and write the events that the store lacks."""
    unwritten: list[EventBatch] = []
    for commands, notes in joined(batches):
        machine.register(commands, notes)
        events = machine.apply(commands, notes, store.last_sequence).events
        if events.last_sequence > store.last_sequence:
            unwritten.append(events.from_sequence(store.last_sequence + 1) if not unwritten else events)
        if sum(map(len, unwritten)) > _STORED_EVENTS:
            store.append(unwritten, event_retention)
            unwritten = []
    store.append(unwritten, event_retention)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the garbage collector: a replay creates no garbage, but the collector would scan its objects repeatedly."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _begin(
    journal: Journal, store: EventStore, snapshots: Path, new_machine: Callable[[], StateMachine]
) -> tuple[StateMachine, bytes]:
    """(machine, journal checksum) at the newest usable snapshot, or at the beginning without one."""
    for snapshot in usable_snapshots(snapshots, journal.epoch):
        header = snapshot.header
        if header.command_sequence > journal.last_sequence:
            path = snapshot_path(snapshots, header.command_sequence)
            proof = Proof(path, journal.epoch, header.command_sequence, header.event_sequence)
            raise lost(journal.path, journal.last_sequence, proof, "the end of the journal is lost")
        if header.event_sequence > store.last_sequence:
            log.info("skipped a snapshot that is ahead of the event store", sequence=header.command_sequence)
            continue
        machine = new_machine()
        try:
            machine.restore(snapshot.core, snapshot.rest)
            require_counts(machine, header)
        except _SENSELESS as error:
            log.warning("skipped a snapshot", sequence=header.command_sequence, reason=repr(error))
            continue
        return machine, header.checksum
    return new_machine(), FIRST_CHECKSUM


def require_counts(machine: StateMachine, header: SnapshotHeader) -> None:
    """Raise ValueError unless the restored state is the one that the header of its snapshot describes."""
    core = machine.core
    if (core.command_sequence, core.event_sequence) != (header.command_sequence, header.event_sequence):
        raise ValueError(f"its header names command {header.command_sequence}, its state {core.command_sequence}")


def joined(batches: Iterator[Batch], stops: Collection[int] = ()) -> Iterator[tuple[bytes, list[Note]]]:
    """Join batches to groups of REPLAY_COMMANDS: (commands, notes). This saves a call for each small batch.

    A group also ends with a batch whose last command is in `stops`.
    """
    commands: list[bytes] = []
    notes: list[Note] = []
    for batch in batches:
        commands.append(batch.commands)
        notes += batch.notes
        if len(notes) >= REPLAY_COMMANDS or batch.last_sequence in stops:
            yield b"".join(commands), notes
            commands, notes = [], []
    if notes:
        yield b"".join(commands), notes
