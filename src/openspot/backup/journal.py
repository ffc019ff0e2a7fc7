"""The journal in a backup: its rows in segments, each complete one stored once and never again.

A row goes into a segment as it stands in the journal, with the checksum that chains it to the one before it. So a
segment that was exchanged, cut or changed is noticed when the chain is followed, and a journal of the same epoch that
went another way, after a restore, is not taken for this one.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from openspot.backup.errors import BackupError
from openspot.backup.manifest import JournalPart, Piece, Place, Segment, StoredFile
from openspot.engine.journal.journal import SCHEMA, read_only
from openspot.engine.journal.rows import (
    FIRST_CHECKSUM,
    UNREADABLE,
    JournalDamagedError,
    Row,
    meta_of,
    personalisation,
    raw_rows,
)

SEGMENT_BYTES = 4 << 20
"""A segment is complete when its rows have this many bytes."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[int, int, int, bytes, bytes, bytes]]).decode
_END = "SELECT checksum FROM batches WHERE first_sequence <= ? ORDER BY first_sequence DESC LIMIT 1"


class JournalEnd(NamedTuple):
    """The last command of a journal, the checksum and the time (nanoseconds since 1970) of its batch."""

    last: int
    checksum: bytes
    time_ns: int


START = JournalEnd(0, FIRST_CHECKSUM, 0)


def store_journal(path: Path, place: Place, before: JournalPart | None, known: dict[str, Piece]) -> JournalPart:
    """Store the journal as it is now. `before` is that of an earlier backup, whose complete segments stay.

    Raises BackupError if the journal is missing or damaged, OSError.
    """
    if not path.exists():
        raise BackupError(f"there is no journal at {path}: nothing can be backed up")
    try:
        with closing(read_only(path)) as connection:
            meta = meta_of(connection, path)
            if meta is None:
                raise BackupError(f"the journal {path} is empty: nothing can be backed up")
            kept = _kept(connection, before, meta[1])
            end = JournalEnd(kept[-1].last, bytes.fromhex(kept[-1].checksum), 0) if kept else START
            segments = list(kept)
            rows: list[Row] = []
            size = 0
            for row in _followed(raw_rows(connection, end.last), end, personalisation(*meta), str(path)):
                rows.append(row)
                size += len(row.commands) + len(row.notes)
                end = JournalEnd(row.claimed_last, row.checksum, row.time_ns)
                if size >= SEGMENT_BYTES:
                    segments.append(_stored(rows, place, known, is_full=True))
                    rows, size = [], 0
            if rows:
                segments.append(_stored(rows, place, known, is_full=False))
    except UNREADABLE as error:
        raise BackupError(f"the journal {path} cannot be read: {error!r}") from error
    except JournalDamagedError as error:
        raise BackupError(str(error)) from error
    time_ns = end.time_ns or (before.time_ns if before is not None else 0)
    return JournalPart(meta[0], meta[1], end.last, end.checksum.hex(), time_ns, segments)


def _kept(connection: sqlite3.Connection, before: JournalPart | None, epoch: str) -> list[Segment]:
    """The complete segments of an earlier backup that this journal has, from its beginning."""
    kept: list[Segment] = []
    if before is not None and before.epoch == epoch:
        for segment in before.segments:
            found = connection.execute(_END, (segment.last,)).fetchone()
            if not segment.is_full or found is None or found[0] != bytes.fromhex(segment.checksum):
                break
            kept.append(segment)
    return kept


def _stored(rows: list[Row], place: Place, known: dict[str, Piece], *, is_full: bool) -> Segment:
    content = _encode([tuple(row) for row in rows])
    first, last = rows[0].first_sequence, rows[-1].claimed_last
    file = StoredFile(f"journal/{first:020d}", len(content), [place.put(content, known)])
    return Segment(first, last, rows[-1].checksum.hex(), is_full, file)


def _followed(rows: Iterator[Row], after: JournalEnd, person: bytes, where: str) -> Iterator[Row]:
    """The rows, each checked against the one before it. Raises BackupError."""
    expected, checksum = after.last + 1, after.checksum
    for row in rows:
        fault = f"begins with {row.first_sequence}" if row.first_sequence != expected else row.fault(checksum, person)
        if fault:
            raise BackupError(f"{where} is damaged: the batch with command {expected} {fault}")
        yield row
        expected, checksum = row.claimed_last + 1, row.checksum


def segment_rows(place: Place, segment: Segment) -> list[Row]:
    """The rows of a segment, which are not verified. Raises BackupError if it cannot be read."""
    try:
        return [Row._make(values) for values in _decode(place.read(segment.file))]
    except msgspec.MsgspecError as error:
        raise BackupError(f"the segment of the journal from command {segment.first} is damaged: {error}") from error


def stored_rows(place: Place, journal: JournalPart) -> Iterator[Row]:
    """The rows of a journal in a backup, in order, each verified. Raises BackupError at the first fault."""
    end = START
    person = personalisation(journal.format, journal.epoch)
    for segment in journal.segments:
        where = f"the segment of the journal from command {segment.first}"
        for row in _followed(iter(segment_rows(place, segment)), end, person, where):
            yield row
            end = JournalEnd(row.claimed_last, row.checksum, row.time_ns)
        if (end.last, end.checksum.hex()) != (segment.last, segment.checksum):
            raise BackupError(f"{where} is damaged: it ends with command {end.last}, the manifest says {segment.last}")
    if (end.last, end.checksum.hex()) != (journal.last, journal.checksum):
        raise BackupError(f"the journal ends with command {end.last}, the manifest says {journal.last}")


def write_journal(
    path: Path, place: Place, journal: JournalPart, is_wanted: Callable[[Row], bool] = lambda _: True
) -> JournalEnd:
    """Make a journal of the rows up to the first that is not wanted. Raises BackupError, OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    end = START
    with closing(sqlite3.connect(path, isolation_level=None)) as target:
        target.executescript(f"PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; {SCHEMA}")
        target.execute("BEGIN")
        target.executemany("INSERT INTO meta VALUES (?, ?)", [("format", journal.format), ("epoch", journal.epoch)])
        for row in stored_rows(place, journal):
            if not is_wanted(row):
                break
            target.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)
            end = JournalEnd(row.claimed_last, row.checksum, row.time_ns)
        target.execute("COMMIT")
    return end
