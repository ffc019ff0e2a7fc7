"""The journal: every command that the engine ever took, in order, in one SQLite file.

One row a batch, one commit a batch: `append` returns when the batch is durable (WAL mode, synchronous=FULL).
Rows are chained by checksum, so that a damaged, missing or exchanged row is noticed. `sqlite3` can audit it:

    meta(key, value)     format, epoch
    batches(first_sequence, count, time_ns, commands, notes, checksum)
        commands: `count` records of engine/core/records.py; notes: msgpack, one list of texts a command
        (directory.Note); checksum: BLAKE2b of the row and of the checksum before it

`epoch` is a short random text made with the file. It is part of every trade id, so that a new journal never
repeats the ids of an old one.
"""

import fcntl
import hashlib
import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from openspot.domain.ids import short_id
from openspot.engine.core.records import COMMAND_SIZE
from openspot.engine.journal.write_ahead_log import inspect_log
from openspot.engine.state.directory import Note
from openspot.kit.log import get_logger

log = get_logger("journal")

FORMAT = "1"
CHECKSUM_SIZE = 16
FIRST_CHECKSUM = bytes(CHECKSUM_SIZE)
"""What stands before the first row."""
_EPOCH_LENGTH = 8
_ROW_HEAD = struct.Struct("<QIQ")

# Failures after which SQLite has rolled back for certain: nothing of the batch can ever come back.
_ROLLED_BACK = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_TOOBIG}
)

_SCHEMA = """
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

_decode_notes = msgspec.msgpack.Decoder(list[tuple[str, ...]]).decode
_encode_notes = msgspec.msgpack.Encoder().encode


class JournalError(Exception):
    """A batch is not in the journal, and never will be."""


class JournalUncertainError(Exception):
    """Whether a batch is in the journal is not known: only a new start can tell."""


class JournalDamagedError(Exception):
    """The journal cannot be read whole; the message says where, and what to do."""


class JournalLockedError(Exception):
    """Another process has the journal open for writing."""


class Batch(NamedTuple):
    """A batch as it was committed. `time_ns` is the time of its last command."""

    first_sequence: int
    command_count: int
    time_ns: int
    commands: bytes
    notes: list[Note]
    checksum: bytes

    @property
    def last_sequence(self) -> int:
        """The sequence of its last command."""
        return self.first_sequence + self.command_count - 1


class Journal:
    """The journal of one engine, open for writing. `append` may be called in another thread than the rest."""

    def __init__(self, path: Path) -> None:
        """Open or create. Cuts an unfinished commit off, with a warning.

        Raises JournalLockedError, JournalDamagedError, OSError.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = _lock(path.with_suffix(".lock"))
        try:
            _check_torn_log(path)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        try:
            for statement in ("journal_mode=WAL", "synchronous=FULL", "temp_store=MEMORY"):
                self._connection.execute(f"PRAGMA {statement}")
            self._connection.executescript(_SCHEMA)
            self._connection.executemany(
                "INSERT OR IGNORE INTO meta VALUES (?, ?)",
                [("format", FORMAT), ("epoch", short_id(secrets.token_bytes(_EPOCH_LENGTH), _EPOCH_LENGTH))],
            )
            meta = dict(self._connection.execute("SELECT key, value FROM meta"))
            newest = self._connection.execute(
                "SELECT first_sequence + count - 1, time_ns, checksum FROM batches ORDER BY first_sequence DESC LIMIT 1"
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, repr(error)) from error
        if meta["format"] != FORMAT:
            raise _damaged(self.path, f"its format is {meta['format']}, this engine reads {FORMAT}")
        self.epoch = meta["epoch"]
        self.last_sequence: int
        """The newest command, 0 if there is none."""
        self.time_ns: int
        """Its time, in nanoseconds since 1970."""
        self.checksum: bytes
        """The checksum of the newest row."""
        self.last_sequence, self.time_ns, self.checksum = newest or (0, 0, FIRST_CHECKSUM)

    def append(self, first_sequence: int, time_ns: int, commands: bytes, notes: Sequence[Note]) -> bytes:
        """Commit a batch; it is durable on return. Answers the journal's checksum behind it.

        Raises JournalError if it certainly is not there, JournalUncertainError if it may be.
        """
        assert first_sequence == self.last_sequence + 1, "batches follow each other without a gap"
        count = len(commands) // COMMAND_SIZE
        packed = _encode_notes(notes)
        checksum = _row_checksum(self.checksum, first_sequence, count, time_ns, commands, packed)
        try:
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)",
                (first_sequence, count, time_ns, commands, packed, checksum),
            )
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _ROLLED_BACK and not self._connection.in_transaction:
                raise JournalError(f"the journal took nothing: {error}") from error
            raise JournalUncertainError(f"the journal failed in a commit: {error}") from error
        self.last_sequence, self.time_ns, self.checksum = first_sequence + count - 1, time_ns, checksum
        return checksum

    def read(self, after: int, checksum: bytes) -> Iterator[Batch]:
        """The batches behind command `after`, whose row has this checksum, each checked.

        A damaged last batch is cut off, with a warning. Raises JournalDamagedError for any other damage.
        """
        for batch, fault in read_batches(self._connection, self.path, after, checksum):
            if fault:
                self._cut(batch, fault)
                return
            yield batch

    def _cut(self, batch: Batch, fault: str) -> None:
        log.warning(
            "the journal's torn end was cut",
            path=str(self.path),
            first_command=batch.first_sequence,
            last_command=batch.last_sequence,
            reason=fault,
        )
        self._connection.execute("DELETE FROM batches WHERE first_sequence = ?", (batch.first_sequence,))
        self.last_sequence = batch.first_sequence - 1
        self.time_ns, self.checksum = self._connection.execute(
            "SELECT time_ns, checksum FROM batches ORDER BY first_sequence DESC LIMIT 1"
        ).fetchone() or (0, FIRST_CHECKSUM)

    def close(self) -> None:
        """Close; the write-ahead log is folded into the file."""
        self._connection.close()
        self._lock.close()


class JournalReader:
    """A journal open for reading alone, also while an engine writes it. It sees one moment of the file."""

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError, JournalDamagedError."""
        if not path.exists():
            raise FileNotFoundError(f"there is no journal at {path}")
        self.path = path
        if not _is_locked(path):
            _check_torn_log(path)
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            self._connection.execute("BEGIN")
            self.epoch = dict(self._connection.execute("SELECT key, value FROM meta"))["epoch"]
        except (sqlite3.DatabaseError, KeyError) as error:
            raise _damaged(path, repr(error)) from error

    def read(self) -> Iterator[Batch]:
        """All batches from the first, each checked. Raises JournalDamagedError at the first damaged one."""
        for batch, fault in read_batches(self._connection, self.path, 0, FIRST_CHECKSUM):
            if fault:
                raise _damaged(self.path, f"its last batch, {batch.first_sequence}, {fault}")
            yield batch

    def close(self) -> None:
        """Close."""
        self._connection.close()


def read_batches(
    connection: sqlite3.Connection, path: Path, after: int, checksum: bytes
) -> Iterator[tuple[Batch, str]]:
    """(batch, fault) behind command `after`: fault is empty but for a damaged last batch, which ends it.

    Raises JournalDamagedError for damage before the last batch.
    """
    cursor = connection.execute(
        "SELECT first_sequence, count, time_ns, commands, notes, checksum FROM batches"
        " WHERE first_sequence > ? ORDER BY first_sequence",
        (after,),
    )
    expected = after + 1
    try:
        row = cursor.fetchone()
        while row is not None:
            first_sequence, count, time_ns, commands, packed, row_checksum = row
            following = cursor.fetchone()
            fault = ""
            if first_sequence != expected:
                raise _damaged(path, f"commands {expected} to {first_sequence - 1} are missing")
            if row_checksum != _row_checksum(checksum, first_sequence, count, time_ns, commands, packed):
                fault = "fails its checksum"
            elif len(commands) != count * COMMAND_SIZE:
                fault = "has a wrong length"
            if fault and following is not None:
                raise _damaged(path, f"batch {first_sequence} {fault}, while later batches are there")
            notes = [] if fault else _decode_notes(packed)
            yield Batch(first_sequence, count, time_ns, commands, notes, row_checksum), fault
            expected, checksum, row = first_sequence + count, row_checksum, following
    except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
        raise _damaged(path, f"batch {expected} cannot be read: {error}") from error


def _row_checksum(before: bytes, first_sequence: int, count: int, time_ns: int, commands: bytes, notes: bytes) -> bytes:
    digest = hashlib.blake2b(before, digest_size=CHECKSUM_SIZE)
    digest.update(_ROW_HEAD.pack(first_sequence, count, time_ns))
    digest.update(commands)
    digest.update(notes)
    return digest.digest()


def _lock(path: Path) -> IO[str]:
    """Hold the journal for this process; the system lets go of it when the process ends, however it ends."""
    file = path.open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise JournalLockedError(f"another engine has {path.with_suffix('.sqlite')} open") from error
    return file


def _is_locked(path: Path) -> bool:
    """Whether an engine has the journal open."""
    try:
        _lock(path.with_suffix(".lock")).close()
    except JournalLockedError:
        return True
    return False


def _check_torn_log(path: Path) -> None:
    """Look at what a crash left. Raises JournalDamagedError if SQLite would pass over whole commits."""
    log_path = path.with_name(path.name + "-wal")
    if not log_path.exists():
        return
    report = inspect_log(log_path.read_bytes())
    if report.torn_commits > 1:
        raise _damaged(
            path, f"{log_path.name} is damaged behind {report.commits} commits, {report.torn_commits} commits follow"
        )
    if report.torn_frames:
        log.warning("the journal's torn end is cut", path=str(log_path), pages=report.torn_frames)


def _damaged(path: Path, reason: str) -> JournalDamagedError:
    return JournalDamagedError(
        f"the journal {path} is damaged: {reason}. Nothing was changed. Restore the folder {path.parent} from a "
        "backup; `openspot engine verify` says how far this journal is sound, `openspot engine export` saves that part."
    )
