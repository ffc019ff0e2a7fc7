"""Restores a platform from backups, to a new data directory.

Everything is made in a draft folder beside the data directory, which takes its place at the end. So a data directory is
whole or not there, and a restore that was killed is begun again. An archive elsewhere has a draft of its own, which
takes its place just before.

A point in time lies between two backups: its databases are those of the newest backup that does not know more than the
point, its journal is that of any later backup that goes on from there, cut at the point. So no mirror is ever ahead of
the engine; the mirrors follow its events to the point, as they do after every restart.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from openspot.backup.create import ARCHIVE, PLATFORM
from openspot.backup.errors import BackupError
from openspot.backup.journal import JournalEnd, segment_rows, write_journal
from openspot.backup.manifest import DatabasePart, JournalPart, Manifest, Place, StoredFile
from openspot.backup.postgres import known_event, load, prepare, require_empty
from openspot.backup.restored_archive import RestoredArchive
from openspot.custody.hold import hold_withdrawals
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.journal.loss import LossError, use_up_events
from openspot.engine.journal.rows import Row
from openspot.kit.folders import sync_folder
from openspot.kit.service import StatedFaultError

DRAFT = ".restoring"
"""The ending of the folder in which a restore works."""
EVENTS_SKIPPED = 100_000
"""So many event numbers are left out after a restore, unless the operator says otherwise."""

Step = Callable[[str], None]
Databases = Callable[[Path, list[str]], AbstractContextManager[Mapping[str, str]]]
"""Makes the databases with these names, empty, and yields their addresses; the path is the data directory's draft."""


class Point(NamedTuple):
    """Up to where to restore: an event, or a time (nanoseconds since 1970); 0: everything."""

    event: int = 0
    time_ns: int = 0


class Restored(NamedTuple):
    """What was restored. `event` and `state_hash` are the engine's at the point; `next_event` gets the next number."""

    databases_of: str
    journal_of: str
    epoch: str
    command: int
    event: int
    state_hash: str
    rows_event: int
    next_event: int


def choose(place: Place, point: Point, name: str = "") -> tuple[Manifest, Manifest]:
    """(the backup with the databases, the backup with the journal) for a point, or one backup by its name.

    Raises BackupError if there is none, or if one of them cannot be read.
    """
    names = place.names()
    if not names:
        raise BackupError(f"there is no backup in {place.where}")
    if name and name not in names:
        raise BackupError(f"there is no backup {name} in {place.where}; `openspot backup list` shows those that are")
    if not point.event and not point.time_ns:
        manifest = place.manifest(name or names[-1])
        return manifest, manifest
    manifests = [place.manifest(each) for each in names]
    bases = [
        each
        for each in manifests
        if (not name or each.name == name)
        and (not point.event or each.known_event <= point.event)
        and (not point.time_ns or each.taken_ns <= point.time_ns)
    ]
    if not bases:
        oldest = manifests[0]
        raise BackupError(
            f"no backup reaches so far back: the oldest, {oldest.name}, has databases that know event "
            f"{oldest.known_event}, of {oldest.taken_at}"
        )
    base = bases[-1]
    later = [each for each in manifests if each.name > base.name and _goes_on(place, base.journal, each.journal)]
    source = later[-1] if later else base
    if point.time_ns > source.taken_ns:
        raise BackupError(f"no backup reaches so far: the newest that fits, {source.name}, is of {source.taken_at}")
    return base, source


def _goes_on(place: Place, earlier: JournalPart, later: JournalPart) -> bool:
    """Whether `later` begins with all of `earlier`. After a restore, a journal of the same epoch may go another way."""
    if earlier.epoch != later.epoch or earlier.last > later.last:
        return False
    if not earlier.last:
        return True
    # A checksum proves everything before it, so one segment is enough.
    holder = next(segment for segment in later.segments if segment.last >= earlier.last)
    return any(
        row.claimed_last == earlier.last and row.checksum.hex() == earlier.checksum
        for row in segment_rows(place, holder)
    )


class Target(NamedTuple):
    """Where to restore: a data directory that is missing or empty, the path of the journal below it, and the archive.

    The folder of the archive lies below the data directory, or it is missing or empty, too. `clear` removes what a
    restore left in the draft folder; `databases` makes the databases.
    """

    data_dir: Path
    journal: Path
    archive: Path
    databases: Databases
    clear: Callable[[], None]

    @property
    def draft(self) -> Path:
        """The folder in which the restore works."""
        return self.data_dir.with_name(self.data_dir.name + DRAFT)

    @property
    def restored_archive(self) -> RestoredArchive:
        """Where the files of the archive go."""
        return RestoredArchive(self.archive, self.data_dir, self.draft)


class EngineTerms(NamedTuple):
    """What the engine needs to replay its journal; see EngineSettings."""

    new_core: Callable[[], MatchingCore]
    orders_remembered: int
    event_retention: int


def restore(
    place: Place,
    chosen: tuple[Manifest, Manifest],
    point: Point,
    target: Target,
    terms: EngineTerms,
    events_skipped: int = EVENTS_SKIPPED,
    step: Step = lambda _: None,
) -> Restored:
    """Restore what `choose` has returned. Raises BackupError; data directory and archive are then as they were."""
    if target.data_dir.exists() and any(target.data_dir.iterdir()):
        raise BackupError(f"the data directory {target.data_dir} is not empty: set OPENSPOT_DATA_DIR to a new one")
    archive = target.restored_archive
    try:
        archive.require_empty()
        with _alone(target.draft):
            # The archive first: what it placed is known by the draft of the data directory.
            archive.clear()
            target.clear()
            try:
                return _restore(place, chosen, point, target, terms, events_skipped, step)
            except Exception:
                archive.clear()
                target.clear()
                raise
    except (OSError, LossError, StatedFaultError) as error:
        raise BackupError(f"nothing was restored: {error}") from error


def _restore(
    place: Place,
    chosen: tuple[Manifest, Manifest],
    point: Point,
    target: Target,
    terms: EngineTerms,
    events_skipped: int,
    step: Step,
) -> Restored:
    base, source = chosen
    draft = target.draft
    draft.mkdir(mode=0o700)
    journal = draft / target.journal.relative_to(target.data_dir)
    end = _restore_journal(place, source.journal, point, journal, terms.new_core)
    step("journal")
    if end.last < base.known_command:
        raise BackupError(
            f"the point lies at command {end.last}, before what the databases of {base.name} know "
            f"({base.known_command}): name an earlier backup, or a later point"
        )
    archive = target.restored_archive
    for file in base.files:
        is_archived = file.path.startswith(ARCHIVE)
        _write(place, file, archive.draft / _below(file, ARCHIVE) if is_archived else draft / _below(file, "data/"))
    hold_withdrawals(draft, f"restored from {base.name}")
    step("files")
    with target.databases(draft, [part.name for part in base.databases]) as urls:
        for part in base.databases:
            require_empty(urls[part.name])
        for part in base.databases:
            _restore_database(place, part, urls[part.name], draft)
            step(f"database {part.name}")
        rows_event = known_event(urls[PLATFORM], base.journal.epoch)
    reached, newest = use_up_events(
        journal,
        terms.new_core,
        skipped=events_skipped,
        least=rows_event,
        orders_remembered=terms.orders_remembered,
        event_retention=terms.event_retention,
    )
    step("events")
    _sync_all(draft)
    _sync_all(archive.draft)
    with archive.placed():
        if target.data_dir.exists():
            target.data_dir.rmdir()
        draft.rename(target.data_dir)
    sync_folder(target.data_dir.parent)
    step("done")
    return Restored(
        databases_of=base.name,
        journal_of=source.name,
        epoch=base.journal.epoch,
        command=end.last,
        event=reached.event,
        state_hash=reached.state_hash,
        rows_event=rows_event,
        next_event=newest + 1,
    )


@contextmanager
def _alone(draft: Path) -> Iterator[None]:
    """Keep other restores to the same data directory away. Raises BackupError."""
    draft.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(draft.with_name(draft.name + ".lock"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupError(f"another restore works in {draft}") from error
        yield
    finally:
        os.close(descriptor)


def _restore_journal(
    place: Place, part: JournalPart, point: Point, path: Path, new_core: Callable[[], MatchingCore]
) -> JournalEnd:
    if point.event:
        replica = new_core()

        def is_wanted(row: Row) -> bool:
            replica.apply(row.commands)
            return replica.event_sequence <= point.event

        end = write_journal(path, place, part, is_wanted)
        if replica.event_sequence < point.event:
            raise BackupError(f"no backup reaches so far: the newest ends with event {replica.event_sequence}")
        return end
    if point.time_ns:
        return write_journal(path, place, part, lambda row: row.time_ns <= point.time_ns)
    return write_journal(path, place, part)


def _restore_database(place: Place, part: DatabasePart, url: str, draft: Path) -> None:
    folder = draft / f"dump-{part.name}"
    try:
        for file in part.files:
            _write(place, file, folder / _below(file, f"database/{part.name}/"))
        load(url, folder)
        prepare(url, is_platform=part.name == PLATFORM)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _below(file: StoredFile, prefix: str) -> Path:
    """The path of a file below its place. Raises BackupError for one that would lie elsewhere."""
    path = Path(file.path.removeprefix(prefix))
    if not file.path.startswith(prefix) or path.is_absolute() or ".." in path.parts:
        raise BackupError(f"the manifest names a file that no backup has: {file.path!r}")
    return path


def _write(place: Place, file: StoredFile, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        for piece in file.pieces:
            target.write(place.get(piece))
        target.flush()
        os.fsync(target.fileno())
    if path.stat().st_size != file.size:
        raise BackupError(f"the file {file.path} has {path.stat().st_size} bytes, its manifest says {file.size}")


def _sync_all(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        if Path(place).stat().st_uid == os.geteuid():
            sync_folder(Path(place))
