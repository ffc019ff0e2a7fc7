"""`openspot engine recover`: what a journal has lost is named, given up only with the right number, and kept."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.journal.inspection import verify
from openspot.engine.journal.journal import Journal, JournalLockedError
from openspot.engine.journal.loss import LossError, accept, assess
from openspot.engine.journal.mark import MARK
from openspot.engine.journal.rows import JournalDamagedError
from openspot.engine.journal.snapshots import FOLDER, snapshot_paths
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_store import EVENTS, EventStore
from tests.support.engine_files import HISTORY, Files
from tests.support.engine_state import cancel, feed, new_machine

JOURNAL = "journal.sqlite"


def give_up(folder: Path, count: int) -> Path:
    return accept(
        assess(folder / JOURNAL),
        count,
        ReferenceCore,
        stamp="now",
        orders_remembered=1000,
        event_retention=10_000,
    )


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of an engine that stopped after HISTORY: 42 commands, the last of them in batches of their own."""
    files = Files(tmp_path)
    files.write(HISTORY[:5])
    files.snapshot()
    files.write(HISTORY[5:])
    files.acknowledge()
    files.close()
    return tmp_path


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "dropped.jsonl").read_text("utf-8").splitlines()]


DAMAGES: list[tuple[str, int, str]] = [
    ("UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42", 1, "its last batch, 42, fails its checks"),
    ("UPDATE batches SET notes = 'text' WHERE first_sequence = 42", 1, "its last batch, 42, has a column of a wrong"),
    ("UPDATE batches SET count = -1 WHERE first_sequence = 42", 1, "its last batch, 42, has a wrong number"),
    ("DELETE FROM batches WHERE first_sequence > 39", 3, "its end is lost"),
    ("DELETE FROM batches WHERE first_sequence = 39", 4, "commands 39 to 39 are missing"),
    ("UPDATE batches SET time_ns = 5 WHERE first_sequence = 33", 10, "batch 33 fails its checksum, and later batches"),
]


@pytest.mark.parametrize(("statement", "lost", "reason"), DAMAGES)
def test_what_is_lost_is_counted_and_only_that_number_gives_it_up(
    folder: Path, statement: str, lost: int, reason: str
) -> None:
    change(folder / JOURNAL, statement)
    loss = assess(folder / JOURNAL)
    assert (loss.intact, loss.lost) == (42 - lost, lost)
    assert loss.reason.startswith(reason)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for wrong in (lost - 1, lost + 1):
        with pytest.raises(LossError, match=f"{lost} commands are lost, not {wrong}"):
            give_up(folder, wrong)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    kept = give_up(folder, lost)
    assert (kept / JOURNAL).read_bytes() == before[folder / JOURNAL]
    report = verify(folder / JOURNAL, "reference")
    assert report.problems == []
    assert assess(folder / JOURNAL).lost == 0
    with pytest.raises(LossError, match="has lost nothing"):
        give_up(folder, lost)


def test_what_is_dropped_is_kept_in_words(folder: Path) -> None:
    change(folder / JOURNAL, "UPDATE batches SET time_ns = 5 WHERE first_sequence = 41")
    head, *rest = lines(give_up(folder, 2))
    assert (head["type"], head["intactUntil"], head["lost"]) == ("loss", 40, 2)
    assert [path.rpartition("/")[2] for path in head["proofs"] if "snapshot" not in path] == [MARK, EVENTS]
    batches = [line for line in rest if line["type"] == "batch"]
    assert [(line["firstSequence"], line["commands"][0]["kind"]) for line in batches] == [
        (41, "CANCEL"),
        (42, "CANCEL"),
    ]
    assert [line["commands"][0]["order_id"] for line in batches] == [3, 7]
    events = [line for line in rest if line["type"] == "event"]
    assert [(line["command_sequence"], line["texts"]) for line in events] == [
        (41, ["order-3"]),
        (42, ["order-7"]),
    ]


def test_a_damaged_log_gives_up_what_sqlite_would_skip_and_reads_it_all_the_same(tmp_path: Path) -> None:
    files = Files(tmp_path / "engine")
    files.write(HISTORY)
    files.acknowledge()
    target = tmp_path / "killed"
    target.mkdir()
    for path in (tmp_path / "engine").iterdir():
        if path.is_file():
            (target / path.name).write_bytes(path.read_bytes())
    files.close()
    log = target / (JOURNAL + "-wal")
    content = bytearray(log.read_bytes())
    content[-5] ^= 1
    log.write_bytes(content)
    with pytest.raises(JournalDamagedError, match="--accept-loss 1`"):
        Journal(target / JOURNAL)
    assert log.read_bytes() == bytes(content)
    kept = give_up(target, 1)
    assert (kept / log.name).read_bytes() == bytes(content)
    assert not log.exists() or not log.stat().st_size
    batches = [line for line in lines(kept) if line["type"] == "batch"]
    assert [(line["firstSequence"], line["commands"][0]["order_id"]) for line in batches] == [(42, 7)]
    assert verify(target / JOURNAL, "reference").problems == []


def test_event_numbers_that_were_given_out_are_never_given_again(folder: Path) -> None:
    """Otherwise a new trade gets the id of a lost one, and the ledger takes it for settled."""
    everything = new_machine()
    for batch in HISTORY:
        feed(everything, batch)
    change(folder / JOURNAL, "DELETE FROM batches WHERE first_sequence > 39")
    give_up(folder, 3)
    expected = new_machine()
    for commands, notes in HISTORY[:21]:
        feed(expected, (commands, notes))
    files = Files(folder)
    machine = files.recover().machine
    assert machine.core.event_sequence == everything.core.event_sequence
    assert machine.core.balances() == expected.core.balances()
    assert machine.core.open_orders() == expected.core.open_orders()
    stored: list[EventBatch] = []
    sequence = 1
    while (part := files.store.read(sequence)) is not None:
        stored.append(part)
        sequence = part.last_sequence + 1
    assert sequence == everything.core.event_sequence + 1
    assert [texts[-1] for part in stored for texts in part.texts][-3:] == ["LOST"] * 3
    # The engine goes on.
    machine.register(*cancel(8))
    assert machine.apply(*cancel(8)).events.first_sequence == everything.core.event_sequence + 1
    files.close()


def test_snapshots_that_hold_lost_commands_are_moved_away_and_older_ones_stay(folder: Path) -> None:
    files = Files(folder)
    files.machine = files.recover().machine
    newest = files.snapshot()
    files.close()
    older = [path for path in snapshot_paths(folder / FOLDER) if path != newest]
    change(folder / JOURNAL, "DELETE FROM batches WHERE first_sequence = 42")
    kept = give_up(folder, 1)
    assert (kept / newest.name).exists()
    assert snapshot_paths(folder / FOLDER) == older
    assert Journal(folder / JOURNAL).last_sequence == 42


def test_a_damaged_last_batch_counts_as_lost_even_if_a_snapshot_has_its_state(folder: Path) -> None:
    files = Files(folder)
    files.machine = files.recover().machine
    files.snapshot()
    files.close()
    change(folder / JOURNAL, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")
    with pytest.raises(JournalDamagedError, match="--accept-loss 1`"):
        Journal(folder / JOURNAL)
    assert assess(folder / JOURNAL).lost == 1
    give_up(folder, 1)
    assert verify(folder / JOURNAL, "reference").problems == []


@pytest.mark.parametrize("crash", ["_move", "_go_on"])
def test_a_crash_while_a_loss_is_given_up_leaves_a_journal_that_can_go_on_or_is_refused(
    folder: Path, crash: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder / JOURNAL, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")

    def crashed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"openspot.engine.journal.loss.{crash}", crashed)
        with pytest.raises(KeyboardInterrupt):
            give_up(folder, 1)
    if crash == "_move":
        assert assess(folder / JOURNAL).lost == 1
        with pytest.raises(JournalDamagedError, match="--accept-loss 1`"):
            Journal(folder / JOURNAL)
        (folder / "lost-now").rename(folder / "lost-before")
        give_up(folder, 1)
    assert verify(folder / JOURNAL, "reference").problems == []
    Journal(folder / JOURNAL).close()


def test_a_running_engine_is_not_touched(folder: Path) -> None:
    change(folder / JOURNAL, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")
    loss = assess(folder / JOURNAL)
    change(folder / JOURNAL, "DELETE FROM batches WHERE first_sequence = 42")
    (folder / MARK).unlink()
    (folder / EVENTS).unlink()
    journal = Journal(folder / JOURNAL)
    with pytest.raises(JournalLockedError):
        accept(loss, 1, ReferenceCore, stamp="now", orders_remembered=1000, event_retention=10_000)
    journal.close()
    assert not (folder / "lost-now").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / JOURNAL).unlink(),
        lambda folder: (folder / JOURNAL).write_bytes(b""),
        lambda folder: (folder / JOURNAL).write_bytes(b"no database" * 500),
        lambda folder: change(folder / JOURNAL, "DROP TABLE batches"),
    ],
    ids=["gone", "empty", "no database", "no batches"],
)
def test_a_journal_without_an_intact_part_can_only_be_restored(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder)
    with pytest.raises((JournalDamagedError, FileNotFoundError, LossError), match="backup"):
        give_up(folder, 42)
    assert not list(folder.glob("lost-*"))


def test_the_command_names_the_loss_and_carries_it_out(folder: Path) -> None:
    path = folder / JOURNAL
    run = CliRunner().invoke
    sound = run(app, ["engine", "recover", str(path)])
    assert (sound.exit_code, "all 42 commands are intact" in sound.stdout) == (0, True)
    change(path, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")
    shown = run(app, ["engine", "recover", str(path)])
    assert shown.exit_code == 1
    for part in ("intact up to command 41; 1 later", str(folder / EVENTS), str(folder / MARK), "--accept-loss 1"):
        assert part in shown.stdout
    refused = run(app, ["engine", "recover", str(path), "--accept-loss", "2"])
    assert refused.exit_code == 1
    assert "1 commands are lost, not 2" in refused.stderr.replace("\n", " ")
    done = run(app, ["engine", "recover", str(path), "--accept-loss", "1"])
    assert done.exit_code == 0, done.stderr
    for part in ("1 commands were given up", "dropped.jsonl", "openspot reconcile"):
        assert part in done.stdout
    journal = Journal(path)
    store = EventStore(folder / EVENTS, journal.epoch)
    assert store.last_sequence > 0
    store.close()
    journal.close()
