"""The files of an engine without its network interfaces: journal, mark, event store and snapshots."""

from pathlib import Path

from openspot.engine.core.reference import ReferenceCore
from openspot.engine.journal.journal import Journal
from openspot.engine.journal.recovery import Recovered, recover
from openspot.engine.journal.snapshots import Snapshot, SnapshotHeader, write_snapshot
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_store import EventStore
from tests.support.engine_state import SEED, Commands, cancel, deposit, feed, new_machine, place

ORDERS = [place(number, 2, price=1000 + number) for number in range(1, 21)]
HISTORY: list[Commands] = [SEED, deposit(2, "alice", 10**6), *ORDERS, cancel(3), cancel(7)]
"""42 commands in 24 batches."""


class Files:
    """The files of an engine, and the state that they stand for."""

    def __init__(self, folder: Path) -> None:
        self.snapshots = folder / "snapshots"
        self.journal = Journal(folder / "journal.sqlite")
        self.store = EventStore(folder / "events.sqlite", self.journal.epoch)
        self.machine = new_machine()

    def write(self, history: list[Commands], *, stored: bool = True) -> None:
        """Write batches to the journal, and their events to the store."""
        for commands, notes in history:
            self.journal.append(self.journal.last_sequence + 1, 1, commands, notes)
            events = feed(self.machine, (commands, notes)).events
            if stored:
                self.store.append([events], 10_000)

    def snapshot(self, machine: StateMachine | None = None) -> Path:
        """Take a snapshot of the state, or of another one."""
        machine = machine or self.machine
        core, rest = machine.snapshot()
        header = SnapshotHeader(
            self.journal.epoch,
            machine.core.command_sequence,
            machine.core.event_sequence,
            machine.core.state_hash(),
            self.journal.checksum,
            len(core),
        )
        return write_snapshot(self.snapshots, Snapshot(header, core, rest))

    def acknowledge(self) -> None:
        """Note that every response was sent."""
        core = self.machine.core
        self.journal.acknowledge(core.command_sequence, core.event_sequence)

    def close(self) -> None:
        """Close the files, as a clean stop does."""
        self.store.close()
        self.journal.close()

    def recover(self) -> Recovered:
        """Recover as a start does."""
        return recover(
            self.journal,
            self.store,
            self.snapshots,
            ReferenceCore,
            orders_remembered=1000,
            event_retention=10_000,
        )
