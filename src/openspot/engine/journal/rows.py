"""The rows of a journal: their checksums, and their checks while reading.

A row is never trusted: SQLite stores any type in any column, and a damaged page may hold anything.
"""

import errno
import hashlib
import re
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from openspot.engine.core.records import COMMAND_SIZE
from openspot.engine.state.directory import Note
from openspot.kit.service import StatedFaultError

FORMAT = "2"
"""The format of new journals: the epoch is part of every checksum."""
FORMAT_WITHOUT_EPOCH = "1"
"""The format of older journals, which are read and continued as they are."""
CHECKSUM_SIZE = 16
FIRST_CHECKSUM = bytes(CHECKSUM_SIZE)
"""Takes the place of the checksum before the first row."""
SEQUENCE_MAX = 1 << 62
_EPOCH_TEXT = re.compile("[A-Za-z0-9]{1,16}")

_SELECT_AFTER = """
SELECT first_sequence, count, time_ns, commands, notes, checksum FROM batches
WHERE first_sequence > ? ORDER BY first_sequence
"""
_SELECT_LAST_TWO = """
SELECT first_sequence, count, time_ns, commands, notes, checksum FROM batches
ORDER BY first_sequence DESC LIMIT 2
"""
_ROW_HEAD = struct.Struct("<QIQ")
_COUNT_MAX = 2**32 - 1
_TIME_MAX = 2**63 - 1

UNREADABLE = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)
"""What SQLite raises for a file whose pages are damaged; its own messages may hold damaged bytes."""

_decode_notes = msgspec.msgpack.Decoder(list[tuple[str, ...]]).decode


class JournalDamagedError(StatedFaultError):
    """The journal is damaged or incomplete; the message says where, and what to do. Nothing was changed.

    `reason` is the part of the message that says where.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class Batch(NamedTuple):
    """A committed batch. `time_ns` is the time of its last command, in nanoseconds since 1970."""

    first_sequence: int
    command_count: int
    time_ns: int
    commands: bytes
    notes: list[Note]
    checksum: bytes

    @property
    def last_sequence(self) -> int:
        """The sequence of the last command."""
        return self.first_sequence + self.command_count - 1


class Row(NamedTuple):
    """A row as it is stored. Any column of a damaged row may have any type and value."""

    first_sequence: Any
    count: Any
    time_ns: Any
    commands: Any
    notes: Any
    checksum: Any

    @property
    def claimed_last(self) -> int:
        """The last command that the row claims to hold; 0 if its numbers make no sense."""
        whole = _is_number(self.first_sequence, 1, SEQUENCE_MAX) and _is_number(self.count, 1, _COUNT_MAX)
        return self.first_sequence + self.count - 1 if whole else 0

    @property
    def likely_last(self) -> int:
        """The last command that a damaged row held, as far as its length tells."""
        held = len(self.commands) // COMMAND_SIZE if isinstance(self.commands, bytes) else 1
        return int(self.first_sequence) + max(held, 1) - 1

    @property
    def head_fault(self) -> str:
        """What is wrong with the numbers and the checksum's type; empty if nothing is."""
        if not self.claimed_last:
            return "has a wrong number of commands"
        if not _is_number(self.time_ns, 0, _TIME_MAX):
            return "has no valid time"
        is_checksum = isinstance(self.checksum, bytes) and len(self.checksum) == CHECKSUM_SIZE
        return "" if is_checksum else "has no valid checksum"

    def fault(self, before: bytes, person: bytes) -> str:
        """What is wrong with the row, if `before` is the checksum of the row before it; empty if nothing is."""
        if self.head_fault:
            return self.head_fault
        if not isinstance(self.commands, bytes) or not isinstance(self.notes, bytes):
            return "has a column of a wrong type"
        own = row_checksum(before, person, self.first_sequence, self.count, self.time_ns, self.commands, self.notes)
        if self.checksum != own:
            return "fails its checksum"
        return "" if len(self.commands) == self.count * COMMAND_SIZE else "has a wrong length"

    def batch(self) -> Batch:
        """The batch of a row without fault. Raises msgspec.MsgspecError if the notes make no sense."""
        notes = _decode_notes(self.notes)
        if len(notes) != self.count:
            raise msgspec.ValidationError(f"{len(notes)} notes for {self.count} commands")
        return Batch(self.first_sequence, self.count, self.time_ns, self.commands, notes, self.checksum)


def personalisation(journal_format: str, epoch: str) -> bytes:
    """What every checksum of a journal covers beside the rows: its epoch, except in the older format."""
    return b"" if journal_format == FORMAT_WITHOUT_EPOCH else epoch.encode()


def row_checksum(
    before: bytes, person: bytes, first_sequence: int, count: int, time_ns: int, commands: bytes, notes: bytes
) -> bytes:
    """The checksum of a row: of the checksum before it, the epoch and its own columns."""
    digest = hashlib.blake2b(before, digest_size=CHECKSUM_SIZE, person=person)
    digest.update(_ROW_HEAD.pack(first_sequence, count, time_ns))
    digest.update(commands)
    digest.update(notes)
    return digest.digest()


def meta_of(connection: sqlite3.Connection, path: Path) -> tuple[str, str] | None:
    """(format, epoch) of a journal, or None if the file has neither. Raises JournalDamagedError, sqlite3.Error."""
    if connection.execute("SELECT name FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
        return None
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    journal_format, epoch = meta.get("format"), meta.get("epoch")
    if journal_format is None and epoch is None:
        return None
    if journal_format not in (FORMAT, FORMAT_WITHOUT_EPOCH):
        reads = f"{FORMAT_WITHOUT_EPOCH} and {FORMAT}"
        raise damaged(path, f"its format is {journal_format}, this engine reads {reads}")
    if not isinstance(epoch, str) or not _EPOCH_TEXT.fullmatch(epoch):
        raise damaged(path, f"its epoch is {epoch!r}, which no engine writes")
    return journal_format, epoch


class End(NamedTuple):
    """The end of a journal: its newest row, the last command before any fault of it, and that fault."""

    newest: Row | None
    intact: int
    fault: str


def end_of(connection: sqlite3.Connection, person: bytes) -> End:
    """The end of a journal. Raises sqlite3.Error."""
    rows = connection.execute(_SELECT_LAST_TWO).fetchall()
    if not rows:
        return End(None, 0, "")
    newest = _row(rows[0])
    before = rows[1][-1] if len(rows) > 1 else FIRST_CHECKSUM
    fault = newest.fault(before, person) if isinstance(before, bytes) else "follows a damaged batch"
    if fault:
        return End(newest, newest.first_sequence - 1, f"its last batch, {newest.first_sequence}, {fault}")
    return End(newest, newest.claimed_last, "")


def raw_rows(connection: sqlite3.Connection, after: int) -> Iterator[Row]:
    """The rows after command `after` as they are stored. Raises sqlite3.Error."""
    cursor = connection.execute(_SELECT_AFTER, (after,))
    while (row := cursor.fetchone()) is not None:
        yield _row(row)


def _row(values: tuple[Any, ...]) -> Row:
    """The row with these columns. Raises sqlite3.DataError without a sequence, which a damaged schema can cause."""
    row = Row._make(values)
    if not isinstance(row.first_sequence, int):
        raise sqlite3.DataError(f"a batch has the sequence {row.first_sequence!r}")
    return row


def read_batches(
    connection: sqlite3.Connection, path: Path, person: bytes, after: int, checksum: bytes
) -> Iterator[tuple[Batch, str]]:
    """(batch, fault) of each batch after command `after`. `fault` is empty unless the last batch is damaged.

    Raises JournalDamagedError if an earlier batch is damaged, or if the row that ends with `after` has another
    checksum than `checksum`.
    """
    expected = after + 1
    try:
        if after:
            _require_end(connection, path, after, checksum)
        rows = raw_rows(connection, after)
        row = next(rows, None)
        while row is not None:
            following = next(rows, None)
            if row.first_sequence != expected:
                raise damaged(path, f"commands {expected} to {row.first_sequence - 1} are missing")
            fault = row.fault(checksum, person)
            if fault and following is not None:
                raise damaged(path, f"batch {row.first_sequence} {fault}, and later batches follow")
            if fault:
                count = row.likely_last - row.first_sequence + 1
                yield Batch(row.first_sequence, count, 0, b"", [], b""), fault
                return
            yield row.batch(), ""
            expected, checksum, row = row.first_sequence + row.count, row.checksum, following
    except (*UNREADABLE, msgspec.MsgspecError) as error:
        raise damaged(path, f"batch {expected} cannot be read: {error}") from error


def _require_end(connection: sqlite3.Connection, path: Path, sequence: int, checksum: bytes) -> None:
    """Raise JournalDamagedError unless a row ends with command `sequence` and has this checksum."""
    row = connection.execute(
        "SELECT first_sequence + count - 1, checksum FROM batches WHERE first_sequence <= ?"
        " ORDER BY first_sequence DESC LIMIT 1",
        (sequence,),
    ).fetchone()
    if row != (sequence, checksum):
        raise damaged(path, f"the batch that ends with command {sequence} is not the one that a snapshot names")


def _is_number(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and least <= value <= most


def unreadable(path: Path, error: Exception) -> JournalDamagedError | OSError:
    """The error for what SQLite raised when it opened or read a journal: a full disk is no damage."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, f"the journal {path} cannot be opened: {error}. Free the disk")
    return damaged(path, repr(error))


def damaged(path: Path, reason: str) -> JournalDamagedError:
    """The error for a damaged journal, with what to do."""
    return JournalDamagedError(
        f"the journal {path} is damaged: {reason}. Nothing was changed. Restore the folder {path.parent} from a "
        "backup. `openspot engine verify` shows up to where this journal is intact; `openspot engine export` saves "
        "that part; `openspot engine recover` shows what would be lost by going on without a backup.",
        reason,
    )
