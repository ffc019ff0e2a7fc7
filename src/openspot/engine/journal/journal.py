"""The journal: every command that the engine accepted, in order, in one SQLite file.

Each batch is one row and one commit: `append` returns when the batch is durable (WAL mode, synchronous=FULL). The
checksum of a row covers the checksum before it and the epoch, which reveals damaged, missing and exchanged rows, and
rows of another journal. The file can be inspected with `sqlite3`:

    meta(key, value)     format, epoch
    batches(first_sequence, count, time_ns, commands, notes, checksum)
        commands: `count` records of engine/core/records.py; notes: msgpack, one list of texts for each command
        (directory.Note); checksum: BLAKE2b of the previous checksum and this row, personalised with the epoch
        (in format 1, which older versions wrote, without the epoch)

`epoch` is a short random text, created with the file. It is part of every trade id, so a new journal never repeats
the ids of an old one. Beside the journal lies its mark (mark.py). What other files prove about it is in proofs.py.
"""

import fcntl
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

from openspot.domain.ids import short_id
from openspot.engine.core.records import COMMAND_SIZE
from openspot.engine.journal.mark import MARK, Mark, MarkFile
from openspot.engine.journal.proofs import (
    Proof,
    lost,
    proofs_beside,
    require_no_other_journal,
    require_same_epoch,
    strongest,
)
from openspot.engine.journal.rows import (
    FIRST_CHECKSUM,
    FORMAT,
    UNREADABLE,
    Batch,
    damaged,
    end_of,
    meta_of,
    personalisation,
    read_batches,
    row_checksum,
    unreadable,
)
from openspot.engine.journal.write_ahead_log import inspect_log
from openspot.engine.state.directory import Note
from openspot.kit.log import get_logger
from openspot.kit.service import StatedFaultError

log = get_logger("journal")

_EPOCH_LENGTH = 8

# After these errors SQLite has certainly rolled back: the batch can never reappear.
_ROLLED_BACK = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_TOOBIG}
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    first_sequence INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    time_ns INTEGER NOT NULL,
    commands BLOB NOT NULL,
    notes BLOB NOT NULL,
    checksum BLOB NOT NULL
);
"""

_encode_notes = msgspec.msgpack.Encoder().encode


class JournalError(Exception):
    """The batch is not in the journal and never will be."""


class JournalUncertainError(Exception):
    """The batch may or may not be in the journal; only a restart can tell."""


class JournalLockedError(StatedFaultError):
    """Another process has the journal open for writing."""


class Journal:
    """The journal of one engine, open for writing. Only `append` may be called from another thread."""

    def __init__(self, path: Path) -> None:
        """Open or create the journal. Logs a warning if a crash left an unfinished commit, which is dropped.

        Raises JournalLockedError, OSError, and JournalDamagedError, also if other files in the folder prove that
        acknowledged commands are missing. Changes nothing then.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = lock(path)
        try:
            self.proofs: list[Proof] = proofs_beside(path)
            """What the other files in the folder prove."""
            _require_file(path, self.proofs)
            _check_torn_log(path)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open()
        except BaseException:
            self._lock.close()
            raise
        self._mark = MarkFile(path.with_name(MARK))

    def _open(self) -> None:
        try:
            for statement in ("journal_mode=WAL", "synchronous=FULL", "temp_store=MEMORY"):
                self._connection.execute(f"PRAGMA {statement}")
            self._connection.executescript(SCHEMA)
            meta = meta_of(self._connection, self.path)
            if meta is None:
                meta = FORMAT, short_id(secrets.token_bytes(_EPOCH_LENGTH), _EPOCH_LENGTH)
                self._create(*meta)
            end = end_of(self._connection, personalisation(*meta))
        except UNREADABLE as error:
            raise unreadable(self.path, error) from error
        self.format, self.epoch = meta
        self._person = personalisation(*meta)
        self.last_sequence = 0
        """The sequence of the newest command, 0 if there is none."""
        self.time_ns = 0
        """The time of the newest command, in nanoseconds since 1970."""
        self.checksum = FIRST_CHECKSUM
        """The checksum of the newest row."""
        newest = end.newest
        if newest is not None:
            if newest.head_fault:
                raise damaged(self.path, end.fault)
            self.last_sequence, self.time_ns, self.checksum = newest.claimed_last, newest.time_ns, newest.checksum

    def _create(self, journal_format: str, epoch: str) -> None:
        rows = [("format", journal_format), ("epoch", epoch)]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")

    def append(self, first_sequence: int, time_ns: int, commands: bytes, notes: Sequence[Note]) -> bytes:
        """Commit a batch and return its checksum. The batch is durable on return.

        Raises JournalError if the batch certainly was not stored, JournalUncertainError if it may have been.
        """
        assert first_sequence == self.last_sequence + 1, "batches are consecutive"
        count = len(commands) // COMMAND_SIZE
        packed = _encode_notes(notes)
        checksum = row_checksum(self.checksum, self._person, first_sequence, count, time_ns, commands, packed)
        try:
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)",
                (first_sequence, count, time_ns, commands, packed, checksum),
            )
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _ROLLED_BACK and not self._connection.in_transaction:
                raise JournalError(f"the journal did not store the batch: {error}") from error
            raise JournalUncertainError(f"the journal failed during a commit: {error}") from error
        self.last_sequence, self.time_ns, self.checksum = first_sequence + count - 1, time_ns, checksum
        return checksum

    def compare(self) -> None:
        """Read the proofs again. Raises JournalDamagedError if they know commands that the journal does not have."""
        self.proofs = proofs_beside(self.path)
        require_same_epoch(self.path, self.epoch, self.proofs)
        proof = strongest(self.proofs)
        if proof is not None and proof.command_sequence > self.last_sequence:
            raise lost(self.path, self.last_sequence, proof, "its end is lost")

    def acknowledge(self, command_sequence: int, event_sequence: int) -> None:
        """Note that responses up to this command, and events up to this one, are about to be sent."""
        self._mark.write(Mark(self.epoch, command_sequence, event_sequence))

    def read(self, after: int, checksum: bytes) -> Iterator[Batch]:
        """The batches after command `after`, each verified. `checksum` is that of the row that ends with `after`.

        Removes a damaged last batch, with a warning, if nothing proves that any of its commands was acknowledged.
        Raises JournalDamagedError for any other damage.
        """
        for batch, fault in read_batches(self._connection, self.path, self._person, after, checksum):
            if fault:
                proof = strongest(self.proofs)
                if proof is not None and proof.command_sequence >= batch.first_sequence:
                    reason = f"its last batch, {batch.first_sequence}, {fault}"
                    raise lost(self.path, batch.first_sequence - 1, proof, reason, batch.last_sequence)
                self._cut(batch, fault)
                return
            yield batch

    def _cut(self, batch: Batch, fault: str) -> None:
        log.warning(
            "removed the torn end of the journal",
            path=str(self.path),
            first_command=batch.first_sequence,
            last_command=batch.last_sequence,
            reason=fault,
        )
        try:
            self._connection.execute("DELETE FROM batches WHERE first_sequence = ?", (batch.first_sequence,))
            newest = end_of(self._connection, self._person).newest
        except UNREADABLE as error:
            raise damaged(self.path, repr(error)) from error
        self.last_sequence = batch.first_sequence - 1
        self.time_ns, self.checksum = (0, FIRST_CHECKSUM) if newest is None else (newest.time_ns, newest.checksum)

    def close(self) -> None:
        """Close the file. SQLite merges the write-ahead log into it."""
        self._connection.close()
        self._mark.close()
        self._lock.close()


class JournalReader:
    """A read-only view of a journal as it was when opened. An engine may go on writing to it."""

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError, JournalDamagedError."""
        if not path.exists():
            raise FileNotFoundError(f"there is no journal at {path}")
        self.path = path
        if not _is_locked(path):
            _check_torn_log(path)
        try:
            self._connection = read_only(path)
            meta = meta_of(self._connection, path)
        except UNREADABLE as error:
            raise damaged(path, repr(error)) from error
        if meta is None:
            raise damaged(path, "it has no epoch")
        self.epoch = meta[1]
        self._person = personalisation(*meta)

    def read(self) -> Iterator[Batch]:
        """All batches from the first, each verified. Raises JournalDamagedError at the first damaged one."""
        for batch, fault in read_batches(self._connection, self.path, self._person, 0, FIRST_CHECKSUM):
            if fault:
                raise damaged(self.path, f"its last batch, {batch.first_sequence}, {fault}")
            yield batch

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that sees the journal as it is now and changes nothing. Raises sqlite3.Error."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("BEGIN")
    except BaseException:
        connection.close()
        raise
    return connection


def lock(path: Path) -> IO[str]:
    """Lock the journal for this process. The operating system releases the lock when the process ends.

    Raises JournalLockedError.
    """
    file = path.with_suffix(".lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise JournalLockedError(f"another engine has {path} open") from error
    return file


def _is_locked(path: Path) -> bool:
    """Whether an engine has the journal open."""
    try:
        lock(path).close()
    except JournalLockedError:
        return True
    return False


def _require_file(path: Path, proofs: list[Proof]) -> None:
    """Compare the file with the proofs before anything may change it. Raises JournalDamagedError."""
    if not path.exists() or not path.stat().st_size:
        log_path = path.with_name(path.name + "-wal")
        if log_path.exists() and inspect_log(log_path.read_bytes()).commits:
            # SQLite would delete a log whose database is gone.
            proofs = [*proofs, Proof(log_path, "", 0, 0)]
        require_no_other_journal(path, proofs)
        return
    try:
        connection = read_only(path)
        try:
            meta = meta_of(connection, path)
            end = None if meta is None else end_of(connection, personalisation(*meta))
        finally:
            connection.close()
    except UNREADABLE as error:
        raise unreadable(path, error) from error
    if meta is None or end is None:
        if fault := log_fault(path):
            raise damaged(path, fault)
        require_no_other_journal(path, proofs)
        return
    require_same_epoch(path, meta[1], proofs)
    proof = strongest(proofs)
    if proof is not None and proof.command_sequence > end.intact:
        held = end.newest.likely_last if end.newest is not None and end.fault else 0
        raise lost(path, end.intact, proof, end.fault or log_fault(path) or "its end is lost", held)


def log_fault(path: Path) -> str:
    """What is wrong with the write-ahead log of a journal, if SQLite would skip part of it; empty if nothing is."""
    log_path = path.with_name(path.name + "-wal")
    report = inspect_log(log_path.read_bytes()) if log_path.exists() else None
    if report is None or not report.torn_frames:
        return ""
    return f"{log_path.name} is damaged after {report.commits} commits, and {report.torn_commits} commits follow"


def _check_torn_log(path: Path) -> None:
    """Inspect the write-ahead log. Raises JournalDamagedError if SQLite would silently skip whole commits."""
    log_path = path.with_name(path.name + "-wal")
    if not log_path.exists():
        return
    report = inspect_log(log_path.read_bytes())
    if report.torn_commits > 1:
        raise damaged(path, log_fault(path))
    if report.torn_frames:
        log.warning("the journal has a torn end, which is removed", path=str(log_path), pages=report.torn_frames)
