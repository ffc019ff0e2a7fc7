"""The journal file: appended batches are durable, and damage is detected."""

import sqlite3
from pathlib import Path

import pytest

from openspot.engine.journal.journal import (
    FIRST_CHECKSUM,
    Journal,
    JournalError,
    JournalLockedError,
    JournalReader,
    JournalUncertainError,
)
from openspot.engine.journal.rows import JournalDamagedError
from tests.support.engine_state import Commands, cancel, together


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "journal.sqlite"


def batch(size: int, first: int = 1) -> Commands:
    return together(*(cancel(first + number) for number in range(size)))


def filled(path: Path, batches: int = 5) -> Journal:
    journal = Journal(path)
    for number in range(batches):
        journal.append(journal.last_sequence + 1, 1000 + number, *batch(3, number))
    return journal


def test_batches_are_read_in_order_after_reopening(path: Path) -> None:
    journal = filled(path)
    epoch, checksum = journal.epoch, journal.checksum
    journal.close()
    again = Journal(path)
    assert (again.epoch, again.last_sequence, again.time_ns, again.checksum) == (epoch, 15, 1004, checksum)
    batches = list(again.read(0, FIRST_CHECKSUM))
    assert [(row.first_sequence, row.last_sequence) for row in batches] == [(n, n + 2) for n in range(1, 16, 3)]
    assert [(row.commands, row.notes) for row in batches] == [batch(3, number) for number in range(5)]
    middle = batches[1]
    assert [row.first_sequence for row in again.read(middle.last_sequence, middle.checksum)] == [7, 10, 13]
    again.close()


def test_two_journals_have_two_epochs(tmp_path: Path) -> None:
    journals = [Journal(tmp_path / f"{name}.sqlite") for name in ("a", "b")]
    assert journals[0].epoch != journals[1].epoch
    for journal in journals:
        journal.close()


def test_only_one_process_writes_and_others_may_read(path: Path) -> None:
    journal = filled(path)
    with pytest.raises(JournalLockedError, match=r"another engine has .*journal\.sqlite open"):
        Journal(path)
    reader = JournalReader(path)
    assert len(list(reader.read())) == 5
    reader.close()
    journal.append(16, 9, *batch(1))
    journal.close()
    reader = JournalReader(path)
    assert len(list(reader.read())) == 6
    reader.close()


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE batches SET commands = zeroblob(192) WHERE first_sequence = 7", "batch 7 fails its checksum"),
        ("UPDATE batches SET notes = x'93c0c0c0' WHERE first_sequence = 7", "batch 7 fails its checksum"),
        ("UPDATE batches SET time_ns = 5 WHERE first_sequence = 7", "batch 7 fails its checksum"),
        ("UPDATE batches SET checksum = zeroblob(16) WHERE first_sequence = 7", "batch 7 fails its checksum"),
        ("DELETE FROM batches WHERE first_sequence = 7", "commands 7 to 9 are missing"),
        ("UPDATE batches SET count = 2 WHERE first_sequence = 7", "batch 7 fails its checksum"),
    ],
)
def test_damage_before_the_end_is_reported_with_its_place_and_what_to_do(
    path: Path, statement: str, reason: str
) -> None:
    filled(path).close()
    change(path, statement)
    journal = Journal(path)
    with pytest.raises(JournalDamagedError, match=f"{reason}.*Restore the folder .* from a backup"):
        list(journal.read(0, FIRST_CHECKSUM))
    journal.close()
    reader = JournalReader(path)
    with pytest.raises(JournalDamagedError, match=reason):
        list(reader.read())
    reader.close()


def test_a_damaged_last_batch_is_removed_and_its_sequences_are_reused(path: Path) -> None:
    filled(path).close()
    change(path, "UPDATE batches SET commands = zeroblob(192) WHERE first_sequence = 13")
    reader = JournalReader(path)
    with pytest.raises(JournalDamagedError, match="its last batch, 13, fails its checksum"):
        list(reader.read())
    reader.close()
    journal = Journal(path)
    assert len(list(journal.read(0, FIRST_CHECKSUM))) == 4
    assert (journal.last_sequence, journal.time_ns) == (12, 1003)
    journal.append(13, 2000, *batch(2))
    assert [row.first_sequence for row in journal.read(0, FIRST_CHECKSUM)] == [1, 4, 7, 10, 13]
    journal.close()


def test_a_journal_of_one_damaged_batch_becomes_empty(path: Path) -> None:
    filled(path, 1).close()
    change(path, "UPDATE batches SET commands = x''")
    journal = Journal(path)
    assert list(journal.read(0, FIRST_CHECKSUM)) == []
    assert (journal.last_sequence, journal.time_ns, journal.checksum) == (0, 0, FIRST_CHECKSUM)
    journal.append(1, 1, *batch(1))
    journal.close()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_not_a_journal_is_reported(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    if not content:
        Journal(path).close()
        return
    with pytest.raises(JournalDamagedError, match="is damaged"):
        Journal(path)
    with pytest.raises(JournalDamagedError, match="is damaged"):
        list(JournalReader(path).read())


def test_a_journal_of_another_format_is_reported(path: Path) -> None:
    filled(path).close()
    change(path, "UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(JournalDamagedError, match="its format is 99, this engine reads 1"):
        Journal(path)


def test_a_missing_journal_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        JournalReader(tmp_path / "journal.sqlite")


def test_after_a_full_disk_the_batch_is_certainly_not_stored(path: Path) -> None:
    journal = filled(path)
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    before = (journal.last_sequence, journal.time_ns, journal.checksum)
    with pytest.raises(JournalError, match="full"):
        for number in range(100):
            before = (journal.last_sequence, journal.time_ns, journal.checksum)
            journal.append(journal.last_sequence + 1, 3000 + number, *batch(50))
    assert (journal.last_sequence, journal.time_ns, journal.checksum) == before
    assert sum(row.command_count for row in journal.read(0, FIRST_CHECKSUM)) == before[0]
    journal.close()


def test_after_any_other_failed_commit_the_batch_may_be_stored(path: Path) -> None:
    journal = filled(path)
    journal._connection.close()
    with pytest.raises(JournalUncertainError, match="failed during a commit"):
        journal.append(16, 1, *batch(1))
    journal.close()
