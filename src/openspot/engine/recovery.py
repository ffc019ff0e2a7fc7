"""The start of an engine: the newest usable snapshot, then what the journal holds behind it.

Events that the store lacks are made again on the way: the start begins at a snapshot that is not ahead of
the store. If the store is ahead of the journal, the journal has lost commands that were answered (the disk
did not keep what it had confirmed): that is told, and the store follows the journal.
"""

import gc
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.directory import Note
from openspot.engine.event_batch import EventBatch
from openspot.engine.event_store import EventStore
from openspot.engine.journal import FIRST_CHECKSUM, Batch, Journal, JournalDamagedError
from openspot.engine.snapshots import usable_snapshots
from openspot.engine.state_machine import StateMachine
from openspot.kit.log import get_logger

log = get_logger("recovery")

REPLAY_COMMANDS = 4096
"""Commands applied at once in a replay."""
_STORED_EVENTS = 65_536
"""Events written to the store at once in a replay."""


class Recovered(NamedTuple):
    """The state of the journal's end, and how it came about."""

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
    """Bring a state machine to the journal's end. Raises JournalDamagedError, EventStoreError."""
    started = time.perf_counter()
    machine, checksum = _begin(journal, store, snapshots, lambda: StateMachine(new_core(), orders_remembered))
    first = machine.core.command_sequence
    with _without_collection():
        _replay(machine, journal.read(first, checksum), store, event_retention)
    if machine.core.event_sequence < store.last_sequence:
        log.warning(
            "the journal has lost its newest commands: events had been sent that it does not know",
            journal_events=machine.core.event_sequence,
            sent_events=store.last_sequence,
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
    machine.orders.count_open_orders()
    return Recovered(machine, replayed, first, time.perf_counter() - started)


def _replay(machine: StateMachine, batches: Iterator[Batch], store: EventStore, event_retention: int) -> None:
    """Apply `batches`, and write to the store the events that it lacks."""
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
    """Stop the garbage collector: a replay only builds up, and the collector would walk all of it again and again."""
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
    """(machine, checksum of the journal there) at the newest snapshot that can be used, or at the beginning."""
    for snapshot in usable_snapshots(snapshots, journal.epoch):
        header = snapshot.header
        if header.command_sequence > journal.last_sequence:
            raise JournalDamagedError(
                f"the journal {journal.path} ends with command {journal.last_sequence}, but a snapshot was taken "
                f"behind command {header.command_sequence}: its end is lost. Nothing was changed. Restore the folder "
                f"from a backup, or give up the lost commands by removing the newer files in {snapshots}"
            )
        if header.event_sequence > store.last_sequence:
            log.info("a snapshot is ahead of the event store: an older one is taken", sequence=header.command_sequence)
            continue
        machine = new_machine()
        try:
            machine.restore(snapshot.core, snapshot.rest)
        except ValueError as error:
            log.warning("a snapshot was passed over", sequence=header.command_sequence, reason=str(error))
            continue
        return machine, header.checksum
    return new_machine(), FIRST_CHECKSUM


def joined(batches: Iterator[Batch], stops: Collection[int] = ()) -> Iterator[tuple[bytes, list[Note]]]:
    """(commands, notes) of several batches at once: a replay of many small ones costs no call for each.

    A batch whose last command is in `stops` ends a part.
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
