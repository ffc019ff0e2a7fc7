"""The journal: every command that the engine accepted, in order, in one SQLite file.

Each batch is one row and one commit: `append` returns when the batch is durable (WAL mode, synchronous=FULL). The
checksum of a row covers the checksum before it, which reveals damaged, missing and exchanged rows. The file can be
inspected with `sqlite3`:

    meta(key, value)     format, epoch
    batches(first_sequence, count, time_ns, commands, notes, checksum)
        commands: `count` records of engine/core/records.py; notes: msgpack, one list of texts for each command
        (directory.Note); checksum: BLAKE2b of the previous checksum and this row

`epoch` is a short random text, created with the file. It is part of every trade id, so a new journal never repeats
the ids of an old one.
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
"""Takes the place of the checksum before the first row."""
_EPOCH_LENGTH = 8
_ROW_HEAD = struct.Struct("<QIQ")

# After these errors SQLite has certainly rolled back: the batch can never reappear.
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
    """The batch is not in the journal and never will be."""


class JournalUncertainError(Exception):
    """The batch may or may not be in the journal; only a restart can tell."""


class JournalDamagedError(Exception):
    """The journal is damaged; the message says where, and what to do."""


class JournalLockedError(Exception):
    """Another process has the journal open for writing."""


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


class Journal:
    """The journal of one engine, open for writing. Only `append` may be called from another thread."""

    def __init__(self, path: Path) -> None:
        """Open or create the journal. Logs a warning if a crash left an unfinished commit, which is dropped.

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
        """The sequence of the newest command, 0 if there is none."""
        self.time_ns: int
        """The time of the newest command, in nanoseconds since 1970."""
        self.checksum: bytes
        """The checksum of the newest row."""
        self.last_sequence, self.time_ns, self.checksum = newest or (0, 0, FIRST_CHECKSUM)

    def append(self, first_sequence: int, time_ns: int, commands: bytes, notes: Sequence[Note]) -> bytes:
        """Commit a batch and return its checksum. The batch is durable on return.

        Raises JournalError if the batch certainly was not stored, JournalUncertainError if it may have been.
        """
        assert first_sequence == self.last_sequence + 1, "batches are consecutive"
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
                raise JournalError(f"the journal did not store the batch: {error}") from error
            raise JournalUncertainError(f"the journal failed during a commit: {error}") from error
        self.last_sequence, self.time_ns, self.checksum = first_sequence + count - 1, time_ns, checksum
        return checksum

    def read(self, after: int, checksum: bytes) -> Iterator[Batch]:
        """The batches after command `after`, each verified. `checksum` is that of the row that ends with `after`.

        Removes a damaged last batch, with a warning. Raises JournalDamagedError for any other damage.
        """
        for batch, fault in read_batches(self._connection, self.path, after, checksum):
            if fault:
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
        self._connection.execute("DELETE FROM batches WHERE first_sequence = ?", (batch.first_sequence,))
        self.last_sequence = batch.first_sequence - 1
        self.time_ns, self.checksum = self._connection.execute(
            "SELECT time_ns, checksum FROM batches ORDER BY first_sequence DESC LIMIT 1"
        ).fetchone() or (0, FIRST_CHECKSUM)

    def close(self) -> None:
        """Close the file. SQLite merges the write-ahead log into it."""
        self._connection.close()
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
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            self._connection.execute("BEGIN")
            self.epoch = dict(self._connection.execute("SELECT key, value FROM meta"))["epoch"]
        except (sqlite3.DatabaseError, KeyError) as error:
            raise _damaged(path, repr(error)) from error

    def read(self) -> Iterator[Batch]:
        """All batches from the first, each verified. Raises JournalDamagedError at the first damaged one."""
        for batch, fault in read_batches(self._connection, self.path, 0, FIRST_CHECKSUM):
            if fault:
                raise _damaged(self.path, f"its last batch, {batch.first_sequence}, {fault}")
            yield batch

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def read_batches(
    connection: sqlite3.Connection, path: Path, after: int, checksum: bytes
) -> Iterator[tuple[Batch, str]]:
    """(batch, fault) of each batch after command `after`. `fault` is empty unless the last batch is damaged.

    Raises JournalDamagedError if an earlier batch is damaged.
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
                raise _damaged(path, f"batch {first_sequence} {fault}, and later batches follow")
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
    """Lock the journal for this process. The operating system releases the lock when the process ends."""
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
    """Inspect the write-ahead log. Raises JournalDamagedError if SQLite would silently skip whole commits."""
    log_path = path.with_name(path.name + "-wal")
    if not log_path.exists():
        return
    report = inspect_log(log_path.read_bytes())
    if report.torn_commits > 1:
        raise _damaged(
            path, f"{log_path.name} is damaged after {report.commits} commits, and {report.torn_commits} commits follow"
        )
    if report.torn_frames:
        log.warning("the journal has a torn end, which is removed", path=str(log_path), pages=report.torn_frames)


def _damaged(path: Path, reason: str) -> JournalDamagedError:
    return JournalDamagedError(
        f"the journal {path} is damaged: {reason}. Nothing was changed. Restore the folder {path.parent} from a "
        "backup. `openspot engine verify` shows up to where this journal is intact; `openspot engine export` saves "
        "that part."
    )
