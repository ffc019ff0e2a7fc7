"""How fast an engine comes back: the replay of a whole journal, at a start and in `openspot engine verify`.

    .venv/bin/python -m benchmarks.engine_recovery [--commands 2000000] [--runs 3]

The journal is made by the journal's own code: the shallow workload (60 % limit orders, 35 % cancels, 5 % IOC,
a third of the orders trade), a batch of 256 a commit, every order with the external id and the metadata that the
router gives. No snapshot is there, so that all of it is replayed:

    start, events kept        the event store is whole, as after a kill -9: nothing is written
    start, events lost        all events are made and written again
    verify                    every checksum, and the core alone

Rates are by processor time, so that what else the machine does disturbs less; seconds are those of the clock. The
reference core gets a tenth of the journal.
"""

import argparse
import tempfile
import time
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.core_runs import Figures, Side, answer_as_child, measure, options, table
from benchmarks.engine_commands import engine_commands, first_commands
from openspot.engine.core.selection import make_core
from openspot.engine.journal.inspection import verify
from openspot.engine.journal.journal import Journal
from openspot.engine.journal.recovery import recover
from openspot.engine.stream.event_store import EventStore

MODULE = "benchmarks.engine_recovery"
BATCH = 256
ORDERS_REMEMBERED = 250_000
EVENT_RETENTION = 10_000_000
TARGET = 500_000


def write_journal(folder: Path, count: int, seed: int) -> None:
    """A journal of `count` commands, and its whole event store."""
    with closing(Journal(folder / "journal.sqlite")) as journal:
        commands, notes = first_commands()
        journal.append(1, 1, commands, notes)
        sequence = len(notes) + 1
        flow = engine_commands(count, seed)
        while batch := list(islice(flow, BATCH)):
            journal.append(sequence, sequence, b"".join(command for command, _ in batch), [note for _, note in batch])
            sequence += len(batch)
    _start("rust", folder)


class Spent:
    """Seconds since it was made, by the clock and of the processor."""

    def __init__(self) -> None:
        self._clock, self._processor = time.perf_counter(), time.process_time()

    def figures(self, commands: int) -> Figures:
        """The figures of a side that has replayed so many commands."""
        rate = commands / (time.process_time() - self._processor)
        return {"rate": rate, "seconds": time.perf_counter() - self._clock, "commands": commands}


def _start(core: str, folder: Path) -> Figures:
    """Figures of a start without a snapshot."""
    with closing(Journal(folder / "journal.sqlite")) as journal:
        store = EventStore(folder / "events.sqlite", journal.epoch)
        spent = Spent()
        recovered = recover(
            journal,
            store,
            folder / "snapshots",
            partial(make_core, core),
            orders_remembered=ORDERS_REMEMBERED,
            event_retention=EVENT_RETENTION,
        )
        figures = spent.figures(recovered.machine.core.command_sequence)
        store.close()
        return figures


def _folder(core: str, parsed: argparse.Namespace) -> Path:
    return Path(parsed.folder) / core


def start_kept(core: str, parsed: argparse.Namespace) -> Figures:
    """A start with all events in the store."""
    return _start(core, _folder(core, parsed))


def start_lost(core: str, parsed: argparse.Namespace) -> Figures:
    """A start that makes the event store anew."""
    folder = _folder(core, parsed)
    for path in folder.glob("events.sqlite*"):
        path.unlink()
    return _start(core, folder)


def verified(core: str, parsed: argparse.Namespace) -> Figures:
    """`openspot engine verify`."""
    spent = Spent()
    report = verify(_folder(core, parsed) / "journal.sqlite", core)
    assert report.sound, report.problems
    return spent.figures(report.commands)


SIDES: dict[str, Side] = {
    f"{name}-{core}": partial(side, core)
    for core in ("rust", "reference")
    for name, side in (("kept", start_kept), ("lost", start_lost), ("verify", verified))
}
NAMES = {"kept": "start, events kept", "lost": "start, events lost", "verify": "engine verify"}


def main() -> None:
    """Make the journals, measure every side in fresh processes, and print one table."""
    parser = options("The replay of a whole journal.", SIDES, runs=3)
    parser.add_argument("--commands", type=int, default=2_000_000)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        parsed.folder = folder
        for core, count in (("rust", parsed.commands), ("reference", parsed.commands // 10)):
            write_journal(_folder(core, parsed), count, parsed.seed)
        for side in parsed.only or SIDES:
            name, core = side.split("-")
            figures, absent = measure(MODULE, side, parsed)
            if figures is None:
                rows.append([NAMES[name], core, absent, "", ""])
                continue
            rows.append(
                [
                    NAMES[name],
                    core,
                    f"{figures['commands']:,}",
                    f"{figures['seconds']:.2f}",
                    f"{figures['rate'] / 1e3:,.0f} k",
                ]
            )
    print(f"Replay from zero; medians of {parsed.runs} processes; target with the Rust core {TARGET / 1e3:,.0f} k")
    table(("", "core", "commands", "seconds", "commands/s"), rows)


if __name__ == "__main__":
    main()
