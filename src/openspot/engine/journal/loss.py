"""`openspot engine recover`: give up the commands that a damaged journal has lost.

It first only says what would be lost. With the right number it keeps every file that it replaces in a folder beside
the journal, writes there what it drops as far as that is readable, and makes a journal of the intact part.

Event numbers and trade ids that were given out are never given again, because the ledger would take a new trade for
the old one. So the new journal goes on with orders of the house that are refused, one for each lost event.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.protocol import FEE_ACCOUNT, MatchingCore
from openspot.engine.core.records import COMMAND_SIZE, Command, CommandKind, EventType, decode_commands, decode_events
from openspot.engine.journal.inspection import command_line
from openspot.engine.journal.journal import SCHEMA, Journal, lock, log_fault, read_only
from openspot.engine.journal.mark import MARK
from openspot.engine.journal.proofs import Proof, proofs_beside, require_same_epoch
from openspot.engine.journal.recovery import recover
from openspot.engine.journal.rows import (
    FIRST_CHECKSUM,
    UNREADABLE,
    JournalDamagedError,
    Row,
    damaged,
    end_of,
    meta_of,
    personalisation,
    raw_rows,
    read_batches,
)
from openspot.engine.journal.snapshots import FOLDER, snapshot_path, snapshot_paths, usable_snapshots
from openspot.engine.journal.write_ahead_log import pages
from openspot.engine.state.directory import UNKNOWN_SYMBOL
from openspot.engine.stream.event_store import EVENTS, EventStore

_ENDINGS = ("", "-wal", "-shm")
_DROPPED = "dropped.jsonl"
_FILLER_BATCH = 4096
_FILLER_IDS = 1 << 62
"""Order ids of the house's refused orders begin here."""

_encode = msgspec.json.Encoder().encode
_decode_notes = msgspec.msgpack.Decoder(list[tuple[str, ...]]).decode


class LossError(Exception):
    """Nothing was given up; the message says why."""


class Loss(NamedTuple):
    """What a journal has lost. `last` is the last command that it held, `last_event` the last event known."""

    path: Path
    format: str
    epoch: str
    intact: int
    last: int
    last_event: int
    reason: str
    proofs: list[Proof]

    @property
    def lost(self) -> int:
        """How many commands are lost."""
        return self.last - self.intact


def assess(path: Path) -> Loss:
    """Find out what a journal has lost. Changes nothing. Raises FileNotFoundError, JournalDamagedError."""
    if not path.exists():
        raise FileNotFoundError(f"there is no journal at {path}: restore it from a backup")
    proofs = proofs_beside(path)
    try:
        with closing(read_only(path)) as connection:
            meta = meta_of(connection, path)
            if meta is None:
                raise damaged(path, log_fault(path) or "it is empty")
            require_same_epoch(path, meta[1], proofs)
            intact, reason = _intact_part(connection, path, *meta)
            end = end_of(connection, personalisation(*meta))
            if end.fault and end.intact < intact:
                # A snapshot has the state after this batch, but the journal could not be replayed without it.
                intact, reason = end.intact, end.fault
            held = [row.likely_last for row in _tolerant(raw_rows(connection, intact))]
    except UNREADABLE as error:
        raise damaged(path, repr(error)) from error
    for snapshot in usable_snapshots(path.with_name(FOLDER), meta[1]):
        header = snapshot.header
        file = snapshot_path(path.with_name(FOLDER), header.command_sequence)
        proofs.append(Proof(file, meta[1], header.command_sequence, header.event_sequence))
        break
    last = max(intact, *held, *(proof.command_sequence for proof in proofs), 0)
    last_event = max((proof.event_sequence for proof in proofs), default=0)
    return Loss(path, *meta, intact, last, last_event, reason or log_fault(path) or "its end is lost", proofs)


def _intact_part(connection: sqlite3.Connection, path: Path, journal_format: str, epoch: str) -> tuple[int, str]:
    """(last intact command, what is wrong with the next one). Begins, as recovery does, with the newest snapshot."""
    person = personalisation(journal_format, epoch)
    for snapshot in usable_snapshots(path.with_name(FOLDER), epoch):
        header = snapshot.header
        last, reason = _walk(connection, path, person, header.command_sequence, header.checksum)
        if last is not None:
            return last, reason
    last, reason = _walk(connection, path, person, 0, FIRST_CHECKSUM)
    return last or 0, reason


def _walk(
    connection: sqlite3.Connection, path: Path, person: bytes, after: int, checksum: bytes
) -> tuple[int | None, str]:
    """(last intact command after `after`, what is wrong then); None if the journal does not hold `after` itself."""
    last = None if after else 0
    try:
        for batch, fault in read_batches(connection, path, person, after, checksum):
            if fault:
                return batch.first_sequence - 1, f"its last batch, {batch.first_sequence}, {fault}"
            last = batch.last_sequence
        # Without later batches, reading has still compared the one that ends with `after`.
        return after if last is None else last, ""
    except JournalDamagedError as error:
        return last, error.reason


def _tolerant(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows up to the first that cannot be read."""
    with suppress(*UNREADABLE):
        yield from rows


def accept(
    loss: Loss,
    count: int,
    new_core: Callable[[], MatchingCore],
    *,
    stamp: str,
    orders_remembered: int,
    event_retention: int,
) -> Path:
    """Give up `count` commands, which must be all that are lost. Returns the folder with what was replaced.

    `stamp` names the folder. Raises LossError, JournalDamagedError, JournalLockedError, OSError.
    """
    path = loss.path
    if not loss.lost:
        raise LossError(f"the journal {path} has lost nothing: start the platform")
    if count != loss.lost:
        raise LossError(f"{loss.lost} commands are lost, not {count}. Nothing was changed")
    if not loss.intact:
        raise LossError(
            f"no command of the journal {path} is intact, so nothing can go on from it. Restore the folder "
            f"{path.parent} from a backup. Only if you want an empty exchange: move the whole folder away"
        )
    with lock(path):
        part = path.with_name("intact-part.sqlite")
        _copy_intact(loss, part)
        folder = path.with_name(f"lost-{stamp}")
        folder.mkdir()
        with (folder / _DROPPED).open("wb") as file:
            _write_dropped(loss, file, folder)
            file.flush()
            os.fsync(file.fileno())
        log = path.with_name(path.name + "-wal")
        for original in filter(Path.exists, (path, log)):
            shutil.copy2(original, folder / original.name)
        # SQLite must never apply the old log to the new file.
        for ending in ("-shm", "-wal"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        part.replace(path)
        for snapshot in snapshot_paths(path.with_name(FOLDER)):
            if snapshot.name > snapshot_path(path.with_name(FOLDER), loss.intact).name:
                _move(snapshot, folder)
        # The proofs go last: until then, a start after a crash of this command refuses.
        for name in (*(EVENTS + ending for ending in _ENDINGS), MARK):
            _move(path.with_name(name), folder)
    _go_on(loss, new_core, orders_remembered, event_retention)
    return folder


def _write_dropped(loss: Loss, file: IO[bytes], folder: Path) -> None:
    """Write what is dropped, as far as it is readable: the batches, and the events that were sent."""
    proofs = [str(proof.path) for proof in loss.proofs]
    head = {
        "type": "loss",
        "journal": str(loss.path),
        "epoch": loss.epoch,
        "intactUntil": loss.intact,
        "lost": loss.lost,
        "reason": loss.reason,
        "proofs": proofs,
    }
    file.write(_encode(head) + b"\n")
    for row in _salvaged_rows(loss, folder):
        file.write(_encode(_batch_line(row)) + b"\n")
    events = loss.path.with_name(EVENTS)
    if not events.exists():
        return
    with suppress(*UNREADABLE, ValueError, msgspec.MsgspecError), closing(read_only(events)) as connection:
        for records, packed in connection.execute("SELECT records, texts FROM events ORDER BY first_sequence"):
            for event, texts in zip(decode_events(records), _decode_notes(packed), strict=True):
                if event.command_sequence > loss.intact:
                    fields = {"kind": EventType(event.type).name, **_printable(event._asdict()), "texts": texts}
                    file.write(_encode(fields | {"type": "event"}) + b"\n")


def _salvaged_rows(loss: Loss, folder: Path) -> list[Row]:
    """The rows after the intact part in a copy of the journal with every page of its log, damaged or not."""
    copy = folder / "salvage.sqlite"
    shutil.copy2(loss.path, copy)
    log = loss.path.with_name(loss.path.name + "-wal")
    try:
        with copy.open("r+b") as file:
            for number, page in pages(log.read_bytes() if log.exists() else b""):
                file.seek((number - 1) * len(page))
                file.write(page)
            # The file format's bytes for "no write-ahead log".
            file.seek(18)
            file.write(b"\x01\x01")
        rows: list[Row] = []
        with suppress(*UNREADABLE), closing(sqlite3.connect(copy)) as connection:
            rows.extend(_tolerant(raw_rows(connection, loss.intact)))
        return rows
    finally:
        for ending in (*_ENDINGS, "-journal"):
            copy.with_name(copy.name + ending).unlink(missing_ok=True)


def _batch_line(row: Row) -> dict[str, object]:
    commands: list[dict[str, object]] = []
    notes: list[tuple[str, ...]] = []
    if isinstance(row.notes, bytes):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            notes = _decode_notes(row.notes)
    if isinstance(row.commands, bytes):
        whole = row.commands[: len(row.commands) // COMMAND_SIZE * COMMAND_SIZE]
        for number, command in enumerate(decode_commands(whole)):
            note = notes[number] if number < len(notes) else ()
            commands.append(_printable(command_line(row.first_sequence + number, command, note)))
    return {"type": "batch", "firstSequence": row.first_sequence, "count": str(row.count), "commands": commands}


def _printable(fields: dict[str, object]) -> dict[str, object]:
    """The fields with numbers as text where JSON readers would round them."""
    return {
        name: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value for name, value in fields.items()
    }


def _copy_intact(loss: Loss, target: Path) -> None:
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.executescript(f"PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; {SCHEMA}")
        copy.execute("BEGIN")
        copy.executemany("INSERT INTO meta VALUES (?, ?)", [("format", loss.format), ("epoch", loss.epoch)])
        try:
            with closing(read_only(loss.path)) as connection:
                for row in raw_rows(connection, 0):
                    if row.first_sequence > loss.intact:
                        break
                    copy.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)
        except UNREADABLE as error:
            raise damaged(loss.path, f"its intact part cannot be copied: {error}") from error
        copy.execute("COMMIT")


def _move(path: Path, folder: Path) -> None:
    if path.exists():
        path.replace(folder / path.name)


def _go_on(loss: Loss, new_core: Callable[[], MatchingCore], orders_remembered: int, event_retention: int) -> None:
    """Make the events of the intact part again, and use up the numbers of the lost events."""
    journal = Journal(loss.path)
    with closing(journal):
        store = EventStore(loss.path.with_name(EVENTS), journal.epoch)
        with closing(store):
            recovered = recover(
                journal,
                store,
                loss.path.with_name(FOLDER),
                new_core,
                orders_remembered=orders_remembered,
                event_retention=event_retention,
            )
        _fill(journal, recovered.machine.core.event_sequence, loss.last_event)


def _fill(journal: Journal, newest_event: int, last_event: int) -> None:
    """Use up the numbers of the events after `newest_event`, up to `last_event`."""
    numbers = range(newest_event + 1, last_event + 1)
    for start in range(0, len(numbers), _FILLER_BATCH):
        part = numbers[start : start + _FILLER_BATCH]
        commands = b"".join(_filler(number, journal.time_ns).encode() for number in part)
        notes = [(f"lost-{number}", "{}", "", "LOST") for number in part]
        journal.append(journal.last_sequence + 1, journal.time_ns, commands, notes)
    journal.acknowledge(journal.last_sequence, max(newest_event, last_event))


class Reached(NamedTuple):
    """The newest event of a journal, and the hash of the state after it."""

    event: int
    state_hash: str


def use_up_events(
    path: Path,
    new_core: Callable[[], MatchingCore],
    *,
    skipped: int,
    least: int,
    orders_remembered: int,
    event_retention: int,
) -> tuple[Reached, int]:
    """Replay a restored journal, make its events, and use up the numbers of the next `skipped` ones.

    Returns where the journal had ended, and the last number that is used up. Raises LossError if it ends before the
    event `least`, which is known elsewhere, JournalDamagedError, OSError.
    """
    with closing(Journal(path)) as journal, closing(EventStore(path.with_name(EVENTS), journal.epoch)) as store:
        core = recover(
            journal,
            store,
            path.with_name(FOLDER),
            new_core,
            orders_remembered=orders_remembered,
            event_retention=event_retention,
        ).machine.core
        reached = Reached(core.event_sequence, core.state_hash())
        if reached.event < least:
            raise LossError(f"the journal ends with event {reached.event}, but the rows know event {least}")
        _fill(journal, reached.event, reached.event + skipped)
    return reached, reached.event + skipped


def _filler(event: int, time_ns: int) -> Command:
    """An order of the house that is refused, which emits one event and changes nothing."""
    return Command(
        CommandKind.PLACE,
        side=Side.BUY,
        order_type=EngineOrderType.GTC,
        symbol=UNKNOWN_SYMBOL,
        timestamp=time_ns,
        order_id=_FILLER_IDS + event,
        account=FEE_ACCOUNT,
        price=1,
        quantity=1,
        amount=1,
    )
