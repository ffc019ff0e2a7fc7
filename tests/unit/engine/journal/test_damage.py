"""Damage of any kind: a start has exactly the acknowledged state, or refuses and says what to do."""

import itertools
import os
import random
import shutil
import sqlite3
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from openspot.engine.core.reference import ReferenceCore
from openspot.engine.journal import rows as journal_rows
from openspot.engine.journal.journal import Journal
from openspot.engine.journal.mark import MARK, Mark, MarkFile, read_mark
from openspot.engine.journal.recovery import recover
from openspot.engine.journal.rows import FORMAT, FORMAT_WITHOUT_EPOCH, JournalDamagedError
from openspot.engine.journal.snapshots import FOLDER, SnapshotError, SnapshotHeader, read_snapshot, snapshot_paths
from openspot.engine.stream.event_store import EVENTS, EventStore
from tests.support.engine_files import HISTORY, Files
from tests.support.engine_state import SEED, cancel, new_machine

JOURNAL = "journal.sqlite"
DAMAGES = int(os.environ.get("OPENSPOT_JOURNAL_DAMAGES", "60"))
"""How often each of the folders below is damaged at random. 8,000 take a minute and a half."""

State = tuple[bytes, bytes]


def started(folder: Path) -> State:
    """The state after a start from the files in a folder. Raises JournalDamagedError."""
    with (
        closing(Journal(folder / JOURNAL)) as journal,
        closing(EventStore(folder / EVENTS, journal.epoch)) as store,
    ):
        recovered = recover(
            journal, store, folder / FOLDER, ReferenceCore, orders_remembered=1000, event_retention=10_000
        )
        return recovered.machine.snapshot()


def killed(folder: Path, target: Path, *, checkpoint_after: int = 0, snapshot_after: int = 0) -> State:
    """Put the files of an engine that was killed after HISTORY into `target`; returns its acknowledged state."""
    files = Files(folder)
    for number, batch in enumerate(HISTORY, 1):
        files.write([batch])
        files.acknowledge()
        if number == checkpoint_after:
            files.journal._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if number == snapshot_after:
            files.snapshot()
    shutil.copytree(folder, target)
    state = files.machine.snapshot()
    files.close()
    return state


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def flip_a_bit(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def zero_a_page(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content)) // 4096 * 4096
    content[start : start + 4096] = bytes(len(content[start : start + 4096]))


def truncate(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def swap_two_pages(content: bytearray, chance: random.Random) -> None:
    pages = len(content) // 4096
    one, other = (4096 * chance.randrange(pages) for _ in range(2))
    content[one : one + 4096], content[other : other + 4096] = (
        content[other : other + 4096],
        content[one : one + 4096],
    )


def overwrite_some_bytes(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content))
    content[start : start + 40] = chance.randbytes(len(content[start : start + 40]))


@pytest.mark.parametrize(
    ("checkpoint_after", "snapshot_after"), [(0, 0), (24, 0), (14, 9)], ids=["in the log", "in the file", "in both"]
)
def test_no_damage_loses_an_acknowledged_command_or_ends_in_a_traceback(
    tmp_path: Path, checkpoint_after: int, snapshot_after: int
) -> None:
    whole = tmp_path / "whole"
    acknowledged = killed(tmp_path / "engine", whole, checkpoint_after=checkpoint_after, snapshot_after=snapshot_after)
    chance = random.Random(20_261_124 + checkpoint_after)
    ways = (flip_a_bit, zero_a_page, truncate, swap_two_pages, overwrite_some_bytes)
    outcomes: Counter[str] = Counter()
    for number in range(DAMAGES):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        names = [name for name in (JOURNAL, JOURNAL + "-wal") if (folder / name).stat().st_size]
        path = folder / chance.choice(names)
        content = bytearray(path.read_bytes())
        way = ways[number % len(ways)]
        way(content, chance)
        path.write_bytes(content)
        try:
            assert started(folder) == acknowledged, f"{way.__name__} {number} of {path.name}"
            outcomes["whole"] += 1
        except JournalDamagedError as error:
            assert "Nothing was changed" in str(error)
            assert "backup" in str(error)
            outcomes["refused"] += 1
        shutil.rmtree(folder)
    assert outcomes["refused"] > DAMAGES // 6, outcomes


@pytest.mark.parametrize("column", ["count", "time_ns", "commands", "notes", "checksum"])
@pytest.mark.parametrize("first_sequence", ["1", "22", "42"], ids=["first", "middle", "last"])
@pytest.mark.parametrize("value", ["'text'", "-5", "1.5", "x'00ff'", "''", "9223372036854775807"])
def test_a_wrong_type_or_value_in_any_column_is_damage(
    tmp_path: Path, column: str, first_sequence: str, value: str
) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.acknowledge()
    files.close()
    change(tmp_path / JOURNAL, f"UPDATE batches SET {column} = {value} WHERE first_sequence = {first_sequence}")
    with pytest.raises(JournalDamagedError, match=r"is damaged: .*Nothing was changed.*backup"):
        started(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = x'ff' WHERE key = 'epoch'",
        "UPDATE meta SET value = 'much-too-long-for-an-epoch' WHERE key = 'epoch'",
        "DELETE FROM meta WHERE key = 'format'",
        "DELETE FROM meta",
        "DROP TABLE batches",
        "DROP TABLE meta",
        "ALTER TABLE batches DROP COLUMN notes",
    ],
)
def test_a_damaged_head_is_refused(tmp_path: Path, statement: str) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.close()
    change(tmp_path / JOURNAL, statement)
    with pytest.raises(JournalDamagedError, match="Nothing was changed"):
        started(tmp_path)


def test_a_flipped_bit_in_the_last_batch_names_both_files_and_the_number_of_lost_commands(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.close()
    change(tmp_path / JOURNAL, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")
    before = (tmp_path / JOURNAL).read_bytes()
    with pytest.raises(JournalDamagedError) as caught:
        started(tmp_path)
    text = str(caught.value)
    assert f"the journal {tmp_path / JOURNAL} is damaged: its last batch, 42, fails its checksum" in text
    assert f"{tmp_path / EVENTS} proves that commands up to 42 were acknowledged: 1 commands are lost" in text
    assert "openspot engine recover --accept-loss 1" in text
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_damage_that_appears_after_the_journal_was_opened_is_refused_too(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.journal._connection.execute("UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 42")
    with pytest.raises(JournalDamagedError, match=r"batch, 42, fails its checksum.*--accept-loss 1`"):
        files.recover()


def test_a_journal_whose_end_contradicts_its_batches_is_refused(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.journal.last_sequence += 1
    with pytest.raises(JournalDamagedError, match="it ends with command 43, but holds 42 commands"):
        files.recover()


def test_the_mark_proves_what_the_event_store_does_not_know_yet(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY[:-2])
    files.write(HISTORY[-2:], stored=False)
    files.acknowledge()
    files.close()
    change(tmp_path / JOURNAL, "DELETE FROM batches WHERE first_sequence > 40")
    with pytest.raises(JournalDamagedError, match=r"journal\.mark proves .* up to 42 .* 2 commands are lost"):
        started(tmp_path)


def test_a_damaged_end_that_nobody_acknowledged_is_cut(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY)
    files.acknowledge()
    acknowledged = files.machine.snapshot()
    commands, notes = cancel(9)
    files.journal.append(files.journal.last_sequence + 1, 1, commands, notes)
    files.close()
    change(tmp_path / JOURNAL, "UPDATE batches SET commands = zeroblob(64) WHERE first_sequence = 43")
    assert started(tmp_path) == acknowledged


def test_a_log_that_is_gone_is_noticed(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    killed(tmp_path / "engine", whole)
    (whole / (JOURNAL + "-wal")).unlink()
    with pytest.raises(JournalDamagedError, match=r"missing or empty.*does not begin an empty exchange"):
        started(whole)


@pytest.mark.parametrize("journal_format", [FORMAT, FORMAT_WITHOUT_EPOCH])
def test_another_epoch_is_noticed(tmp_path: Path, journal_format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openspot.engine.journal.journal.FORMAT", journal_format)
    files = Files(tmp_path)
    files.write(HISTORY)
    files.close()
    change(tmp_path / JOURNAL, "UPDATE meta SET value = 'another8' WHERE key = 'epoch'")
    with pytest.raises(JournalDamagedError, match=r"events\.sqlite belongs to a journal with the epoch"):
        started(tmp_path)
    # Without any other file, only the checksums can tell.
    (tmp_path / EVENTS).unlink()
    if journal_format == FORMAT:
        with pytest.raises(JournalDamagedError, match="batch 1 fails its checksum"):
            started(tmp_path)
    else:
        assert started(tmp_path) == files.machine.snapshot()


def test_a_journal_of_the_older_format_is_read_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("openspot.engine.journal.journal.FORMAT", FORMAT_WITHOUT_EPOCH)
        files = Files(tmp_path)
    files.write(HISTORY[:-1])
    files.close()
    again = Files(tmp_path)
    assert again.journal.format == "1"
    again.machine = files.machine
    again.write(HISTORY[-1:])
    again.close()
    assert started(tmp_path) == files.machine.snapshot()
    # The first row of the format as version 1 wrote it: BLAKE2b of 16 zero bytes, the numbers and both columns.
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as connection:
        first = connection.execute("SELECT * FROM batches ORDER BY first_sequence").fetchone()
    head = struct.pack("<QIQ", *first[:3])
    digest = journal_rows.hashlib.blake2b(bytes(16) + head + first[3] + first[4], digest_size=16)
    assert first[5] == digest.digest()


# Files that are missing


def table(tmp_path: Path, *, journal: bool, snapshots: bool, events: bool) -> Path:
    """The folder of a stopped engine with only these files, and no mark."""
    files = Files(tmp_path)
    files.write(HISTORY)
    files.snapshot()
    files.close()
    if not journal:
        (tmp_path / JOURNAL).unlink()
    if not snapshots:
        shutil.rmtree(tmp_path / FOLDER)
    if not events:
        (tmp_path / EVENTS).unlink()
    return tmp_path


@pytest.mark.parametrize(("journal", "snapshots", "events"), list(itertools.product([True, False], repeat=3)))
def test_each_combination_of_present_files_starts_whole_or_is_refused(
    tmp_path: Path, *, journal: bool, snapshots: bool, events: bool
) -> None:
    """The table in docs/operations/faults.md."""
    folder = table(tmp_path, journal=journal, snapshots=snapshots, events=events)
    everything = new_machine()
    for commands, notes in HISTORY:
        everything.register(commands, notes)
        everything.apply(commands, notes)
    if journal:
        assert started(folder) == everything.snapshot()
        store = EventStore(folder / EVENTS, Journal(folder / JOURNAL).epoch)
        assert (store.first_sequence, store.last_sequence) == (1, everything.core.event_sequence)
        store.close()
    elif snapshots or events:
        with pytest.raises(JournalDamagedError, match=r"journal\.sqlite is missing or empty") as caught:
            started(folder)
        assert ((f"{FOLDER}/" in str(caught.value)), (EVENTS in str(caught.value))) == (snapshots, events)
        assert not (folder / JOURNAL).exists()
    else:
        assert started(folder) == new_machine().snapshot()


@pytest.mark.parametrize("content", [b"", b"emptied"], ids=["no bytes", "no tables"])
def test_a_journal_that_was_emptied_counts_as_missing(tmp_path: Path, content: bytes) -> None:
    folder = table(tmp_path, journal=False, snapshots=True, events=True)
    (folder / JOURNAL).write_bytes(b"")
    if content:
        change(folder / JOURNAL, "CREATE TABLE other (x)")
    with pytest.raises(JournalDamagedError, match="missing or empty"):
        started(folder)


def test_a_mark_alone_or_a_log_alone_prevents_an_empty_exchange(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    killed(tmp_path / "engine", whole)
    for name in (MARK, JOURNAL + "-wal"):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(whole / name, folder)
        with pytest.raises(JournalDamagedError, match=rf"missing or empty.*{name}"):
            started(folder)
        assert (folder / name).read_bytes() == (whole / name).read_bytes()


def test_files_of_another_journal_are_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        files = Files(tmp_path / name)
        files.write(HISTORY)
        files.close()
    shutil.copy(tmp_path / "other" / EVENTS, tmp_path / "one" / EVENTS)
    with pytest.raises(JournalDamagedError, match=r"do not belong together.*move .*events\.sqlite away"):
        started(tmp_path / "one")
    (tmp_path / "one" / EVENTS).unlink()
    assert started(tmp_path / "one") == files.machine.snapshot()


def test_a_full_disk_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(connection: sqlite3.Connection, path: Path) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    Journal(tmp_path / JOURNAL).close()
    monkeypatch.setattr("openspot.engine.journal.journal.meta_of", full)
    with pytest.raises(OSError, match=r"disk is full\. Free the disk"):
        Journal(tmp_path / JOURNAL)


# The mark


@pytest.mark.parametrize("content", [b"", b"short", bytes(44), b"OSMARK99" + bytes(36)])
def test_a_damaged_mark_proves_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MARK).write_bytes(content)
    assert read_mark(tmp_path / MARK) is None


def test_a_mark_is_overwritten_in_place(tmp_path: Path) -> None:
    mark = MarkFile(tmp_path / MARK)
    for number in (1, 2**40):
        mark.write(Mark("abc", number, number + 1))
        assert read_mark(tmp_path / MARK) == Mark("abc", number, number + 1)
    mark.close()
    assert (tmp_path / MARK).stat().st_size == 44


def test_a_mark_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    mark = MarkFile(tmp_path / "no folder" / MARK)
    mark.write(Mark("abc", 1, 1))
    mark.close()
    assert read_mark(mark.path) is None


# Snapshots


def resealed(path: Path, header: bytes, rest: bytes = b"") -> None:
    """Write a snapshot file with a right checksum."""
    body = b"OSSNAP01" + struct.pack("<I", len(header)) + header + rest
    path.write_bytes(body + journal_rows.hashlib.sha256(body).digest())


GOOD = SnapshotHeader("", 42, 23, "", bytes(16), 5)


@pytest.mark.parametrize(
    "damage",
    [
        lambda header: b"\xc1",
        lambda header: b"",
        lambda header: msgspec.msgpack.encode({"epoch": header.epoch}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"command_sequence": "text"}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"command_sequence": -1}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"core_size": -1}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"core_size": 10**9}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"checksum": b"short"}),
        lambda header: msgspec.msgpack.encode(msgspec.structs.asdict(header) | {"command_sequence": 41}),
        lambda header: b"\x81\xa5epoch\xa1\xff",
        lambda header: msgspec.msgpack.encode(header),
    ],
    ids=[
        *("no msgpack", "none", "incomplete", "text", "negative", "negative size", "too large"),
        *("short checksum", "other command", "no text", "no body"),
    ],
)
def test_a_snapshot_with_a_right_hash_and_wrong_content_is_skipped(
    tmp_path: Path, damage: Callable[[SnapshotHeader], bytes]
) -> None:
    files = Files(tmp_path)
    files.write(HISTORY[:9])
    older = files.snapshot()
    files.write(HISTORY[9:])
    newest = files.snapshot()
    header = read_snapshot(newest, files.journal.epoch).header
    rest = b"no core and no rest"
    resealed(newest, damage(header), rest)
    recovered = files.recover()
    assert recovered.machine.snapshot() == files.machine.snapshot()
    assert recovered.snapshot_sequence == int(older.stem)


def test_a_snapshot_whose_header_names_another_place_than_its_state_is_skipped(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(HISTORY[:9])
    older = files.snapshot()
    files.write(HISTORY[9:])
    newest = files.snapshot()
    header, core, rest = msgspec.structs.astuple(read_snapshot(newest, files.journal.epoch))
    wrong = msgspec.structs.replace(header, event_sequence=header.event_sequence - 1)
    resealed(newest, msgspec.msgpack.encode(wrong), core + rest)
    assert files.recover().snapshot_sequence == int(older.stem)


def test_a_snapshot_cut_off_before_its_header_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "1.snapshot"
    body = b"OSSNAP01\x01"
    path.write_bytes(body + journal_rows.hashlib.sha256(body).digest())
    with pytest.raises(SnapshotError, match="its header cannot be read"):
        read_snapshot(path, "e")


def test_snapshots_of_another_journal_displace_none_of_this_one(tmp_path: Path) -> None:
    foreign = Files(tmp_path / "foreign")
    foreign.write(HISTORY)
    own = Files(tmp_path / "own")
    for number in (1, 2, 4, 5):
        foreign.write([cancel(number)])
        copied = foreign.snapshot()
        own.snapshots.mkdir(exist_ok=True)
        shutil.copy(copied, own.snapshots)
    others = {path.name for path in snapshot_paths(own.snapshots)}
    kept = []
    for batch in HISTORY[:5]:
        own.write([batch])
        kept.append(own.snapshot().name)
    assert {path.name for path in snapshot_paths(own.snapshots)} == others | set(kept[-3:])
    assert own.recover().snapshot_sequence == own.machine.core.command_sequence


def test_a_seed_alone_recovers(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write([SEED])
    files.close()
    assert started(tmp_path) == files.machine.snapshot()
