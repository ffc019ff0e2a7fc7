"""Events on disk, for consumers that resume: a SQLite file beside the journal.

The store is a cache: everything in it can be recreated from the journal. So no command waits for it, it may lag, and
recovery adds the missing events. A file that belongs to another journal or has a gap is recreated.

    events(first_sequence, count, records, texts, checksum)   rows of at most ROW_EVENTS_MAX events
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from openspot.engine.core.records import EVENT_SIZE, Event, decode_events
from openspot.engine.state.directory import Note
from openspot.engine.state.event_batch import EventBatch
from openspot.kit.log import get_logger

log = get_logger("event_store")

EVENTS = "events.sqlite"
"""The file's name, beside the journal."""
ROW_EVENTS_MAX = 512
FORMAT = "1"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    first_sequence INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    records BLOB NOT NULL,
    texts BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""

_decode_texts = msgspec.msgpack.Decoder(list[tuple[str, ...]]).decode
_encode_texts = msgspec.msgpack.Encoder().encode


class EventStoreError(Exception):
    """The file cannot be read or written; the message says why, and what to do."""


def last_intact_event(connection: sqlite3.Connection) -> Event | None:
    """The newest event in a row that is not damaged, or None. Raises sqlite3.Error."""
    rows = connection.execute("SELECT records, texts, checksum FROM events ORDER BY first_sequence DESC")
    for records, packed, checksum in rows:
        if records and _is_intact(records, packed, checksum) and len(records) % EVENT_SIZE == 0:
            return next(iter(decode_events(records[-EVENT_SIZE:])))
    return None


class EventStore:
    """The event store of one engine. One thread may write while another reads."""

    def __init__(self, path: Path, epoch: str) -> None:
        """Open the file, or recreate it if it is unusable. Raises EventStoreError."""
        self.path = path
        try:
            self._connect()
            if not self._is_whole(epoch):
                log.warning("recreating the event store", path=str(path))
                self.close()
                self._remove()
                self._connect()
                self._open(epoch)
        except (sqlite3.Error, OSError) as error:
            raise EventStoreError(f"the event store {path} cannot be opened: {error}") from error

    def _connect(self) -> None:
        self._writer = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._reader = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)

    def _is_whole(self, epoch: str) -> bool:
        try:
            return self._open(epoch)
        except (sqlite3.DatabaseError, UnicodeDecodeError, TypeError) as error:
            log.warning("the event store cannot be read", path=str(self.path), reason=str(error))
            return False

    def _open(self, epoch: str) -> bool:
        """Prepare the file. Returns whether it contains events of this journal without a gap."""
        # A power cut may lose the newest events; recovery recreates them.
        for statement in ("journal_mode=WAL", "synchronous=NORMAL"):
            self._writer.execute(f"PRAGMA {statement}")
        self._writer.executescript(_SCHEMA)
        self._writer.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", [("format", FORMAT), ("epoch", epoch)])
        meta = dict(self._writer.execute("SELECT key, value FROM meta"))
        first, last, count = self._writer.execute(
            "SELECT min(first_sequence), max(first_sequence + count - 1), sum(count) FROM events"
        ).fetchone()
        self.first_sequence: int = first or 0
        """The oldest stored event, 0 if there is none."""
        self.last_sequence: int = last or 0
        """The newest stored event, 0 if there is none."""
        whole = count is None or count == last - first + 1
        return whole and meta == {"format": FORMAT, "epoch": epoch}

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def append(self, batches: Iterable[EventBatch], keep: int) -> None:
        """Add the next events, and delete the oldest so that about `keep` remain. Raises EventStoreError."""
        first, last = self.first_sequence, self.last_sequence
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            for row in _rows(batches):
                assert row.first_sequence == last + 1 or not last, "events are consecutive"
                packed = _encode_texts(row.texts)
                self._writer.execute(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
                    (row.first_sequence, len(row), row.records, packed, _checksum(row.records, packed)),
                )
                first, last = first or row.first_sequence, row.last_sequence
            if last - first + 1 >= keep + ROW_EVENTS_MAX:
                self._writer.execute("DELETE FROM events WHERE first_sequence + count <= ?", (last - keep + 1,))
                first = self._writer.execute("SELECT min(first_sequence) FROM events").fetchone()[0]
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise EventStoreError(f"the event store {self.path} cannot be written: {error}") from error
        self.first_sequence, self.last_sequence = first, last

    def clear(self) -> None:
        """Delete all events. Raises EventStoreError."""
        try:
            self._writer.execute("DELETE FROM events")
        except sqlite3.Error as error:
            raise EventStoreError(f"the event store {self.path} cannot be written: {error}") from error
        self.first_sequence = self.last_sequence = 0

    def read(self, sequence: int) -> EventBatch | None:
        """Events from `sequence` on, up to the end of its row, or None if it is not stored.

        Raises EventStoreError if the row is damaged.
        """
        try:
            row = self._reader.execute(
                "SELECT first_sequence, records, texts, checksum FROM events"
                " WHERE first_sequence <= ? ORDER BY first_sequence DESC LIMIT 1",
                (sequence,),
            ).fetchone()
            if row is None:
                return None
            first_sequence, records, packed, checksum = row
            if not _is_intact(records, packed, checksum):
                raise sqlite3.DatabaseError(f"the row of event {first_sequence} fails its checksum")
        except sqlite3.Error as error:
            raise EventStoreError(
                f"the event store {self.path} is damaged: {error}. Stop the engine and delete the file: "
                "the next start recreates it from the journal"
            ) from error
        batch = EventBatch(first_sequence, records, _decode_texts(packed))
        return batch.from_sequence(sequence) if batch.last_sequence >= sequence else None

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        self._writer.close()


def _checksum(records: bytes, packed_texts: bytes) -> int:
    return zlib.crc32(packed_texts, zlib.crc32(records))


def _is_intact(records: object, packed_texts: object, checksum: object) -> bool:
    """Whether a row has its checksum. SQLite may hold any type in the columns of a damaged row."""
    if not isinstance(records, bytes) or not isinstance(packed_texts, bytes):
        return False
    return checksum == _checksum(records, packed_texts)


def _rows(batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
    """The same events in batches of ROW_EVENTS_MAX; the last may be smaller."""
    records: list[bytes] = []
    texts: list[Note] = []
    first_sequence = 0
    for batch in batches:
        first_sequence = first_sequence or batch.first_sequence
        records.append(batch.records)
        texts.extend(batch.texts)
        if len(texts) < ROW_EVENTS_MAX:
            continue
        whole = EventBatch(first_sequence, b"".join(records), texts)
        while len(whole) > ROW_EVENTS_MAX:
            yield EventBatch(
                whole.first_sequence, whole.records[: ROW_EVENTS_MAX * EVENT_SIZE], whole.texts[:ROW_EVENTS_MAX]
            )
            whole = whole.from_sequence(whole.first_sequence + ROW_EVENTS_MAX)
        records, texts, first_sequence = [whole.records], list(whole.texts), whole.first_sequence
    if texts:
        yield EventBatch(first_sequence, b"".join(records), texts)
