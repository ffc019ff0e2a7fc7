"""Recovery: the newest usable snapshot, the rest of the journal, and events that the store lacks."""

from pathlib import Path

import pytest

from openspot.engine.journal.inspection import export, verify
from openspot.engine.journal.rows import JournalDamagedError
from openspot.engine.journal.snapshots import (
    KEPT,
    SnapshotError,
    read_snapshot,
    snapshot_paths,
)
from openspot.engine.state.event_batch import EventBatch
from tests.support.engine_files import HISTORY, Files
from tests.support.engine_state import cancel, feed, new_machine


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_a_snapshot_everything_is_replayed(files: Files) -> None:
    files.write(HISTORY)
    recovered = files.recover()
    assert recovered.machine.snapshot() == files.machine.snapshot()
    assert (recovered.snapshot_sequence, recovered.replayed_commands) == (0, files.machine.core.command_sequence)


def test_a_start_from_a_snapshot_replays_only_the_rest(files: Files) -> None:
    files.write(HISTORY[:10])
    sequence = files.machine.core.command_sequence
    files.snapshot()
    files.write(HISTORY[10:])
    recovered = files.recover()
    assert recovered.machine.snapshot() == files.machine.snapshot()
    assert recovered.snapshot_sequence == sequence
    assert recovered.replayed_commands == len(HISTORY) - 10


def test_a_damaged_snapshot_is_skipped_for_the_one_before(files: Files) -> None:
    files.write(HISTORY[:5])
    older = files.machine.core.command_sequence
    files.snapshot()
    files.write(HISTORY[5:])
    newest = files.snapshot()
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    recovered = files.recover()
    assert recovered.snapshot_sequence == older
    assert recovered.machine.snapshot() == files.machine.snapshot()


def test_a_truncated_snapshot_or_one_of_another_journal_is_refused(files: Files, tmp_path: Path) -> None:
    files.write(HISTORY)
    path = files.snapshot()
    with pytest.raises(SnapshotError, match="another journal"):
        read_snapshot(path, "other")
    content = path.read_bytes()
    for damaged in (b"", content[:8], content[:-1], b"X" + content[1:], content + b"\x00"):
        path.write_bytes(damaged)
        with pytest.raises(SnapshotError, match="checksum"):
            read_snapshot(path, files.journal.epoch)
    with pytest.raises(SnapshotError, match="No such file"):
        read_snapshot(tmp_path / "none.snapshot", files.journal.epoch)


def test_only_the_newest_snapshots_are_kept(files: Files) -> None:
    files.snapshots.mkdir()
    (files.snapshots / "5.draft").write_bytes(b"half")
    for batch in HISTORY[: KEPT + 3]:
        files.write([batch])
        files.snapshot()
    assert not list(files.snapshots.glob("*.draft"))
    kept = [int(path.stem) for path in snapshot_paths(files.snapshots)]
    last = files.machine.core.command_sequence
    assert kept == list(range(last, last - KEPT, -1))


def test_events_that_the_store_lacks_are_recreated(files: Files) -> None:
    files.write(HISTORY[:8])
    files.write(HISTORY[8:], stored=False)
    # This snapshot is ahead of the store, so the events before it could not be recreated from it.
    files.snapshot()
    assert files.store.last_sequence < files.machine.core.event_sequence
    recovered = files.recover()
    assert recovered.snapshot_sequence == 0
    assert files.store.last_sequence == files.machine.core.event_sequence
    other = new_machine()
    expected = b"".join(feed(other, batch).events.records for batch in HISTORY)
    stored, sequence = b"", 1
    while part := files.store.read(sequence):
        stored += part.records
        sequence = part.last_sequence + 1
    assert stored == expected


def test_a_store_that_knows_later_commands_prevents_the_start(files: Files) -> None:
    files.write(HISTORY[:-1])
    extra = feed(files.machine, HISTORY[-1]).events
    files.store.append([extra], 10_000)
    with pytest.raises(JournalDamagedError, match=r"events\.sqlite proves.* 1 commands are lost.*--accept-loss 1`"):
        files.recover()
    assert files.store.last_sequence == extra.last_sequence


def test_a_store_with_other_events_of_the_same_commands_is_made_again(files: Files) -> None:
    files.write(HISTORY)
    wrong = files.store.read(files.store.last_sequence)
    assert wrong is not None
    doubled = wrong.records[:8] + (files.store.last_sequence + 1).to_bytes(8, "little") + wrong.records[16:]
    files.store.append([EventBatch(files.store.last_sequence + 1, doubled, wrong.texts)], 10_000)
    recovered = files.recover()
    assert files.store.last_sequence == recovered.machine.core.event_sequence


def test_a_snapshot_ahead_of_the_journal_prevents_the_start(files: Files) -> None:
    files.write(HISTORY[:-1])
    feed(files.machine, HISTORY[-1])
    files.snapshot()
    with pytest.raises(JournalDamagedError, match=r"end of the journal is lost.*42\.snapshot proves.*--accept-loss 1`"):
        files.recover()


def test_verify_reports_an_intact_journal_and_its_snapshots(files: Files) -> None:
    files.write(HISTORY[:10])
    files.snapshot()
    files.write(HISTORY[10:])
    report = verify(files.journal.path, "reference")
    assert (report.sound, report.problems, report.snapshots) == (True, [], 1)
    assert (report.batches, report.commands) == (len(HISTORY), files.machine.core.command_sequence)
    assert report.events == files.machine.core.event_sequence
    assert report.state_hash == files.machine.core.state_hash()


def test_verify_names_a_snapshot_that_differs_from_the_replay(files: Files) -> None:
    files.write(HISTORY)
    other = new_machine()
    for batch in HISTORY[:-1]:
        feed(other, batch)
    feed(other, cancel(8))
    assert other.core.command_sequence == files.machine.core.command_sequence
    files.snapshot(other)
    report = verify(files.journal.path, "reference")
    assert not report.sound
    assert "differs from the replay" in report.problems[0]


def test_verify_names_damage_and_counts_intact_batches(files: Files) -> None:
    files.write(HISTORY)
    files.journal._connection.execute("UPDATE batches SET notes = x'90' WHERE first_sequence = 25")
    report = verify(files.journal.path, "reference")
    assert not report.sound
    assert "batch 25 fails its checksum" in report.problems[0]
    assert report.commands == 24


def test_export_writes_commands_each_followed_by_its_events(files: Files, tmp_path: Path) -> None:
    files.write(HISTORY)
    with (tmp_path / "out.jsonl").open("w", encoding="utf-8") as out:
        lines = export(files.journal.path, out, "reference")
    rows = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == lines == files.machine.core.command_sequence + files.machine.core.event_sequence
    assert '"kind":"CREATE_SYMBOL"' in rows[7]
    assert '"note":["alice",""]' in rows[19]
    assert '"type":"balance"' in rows[20]
    assert '"kind":"CANCEL"' in rows[-2]
    assert '"reason":"CANCELLED_BY_ADMIN"' in rows[-1]
