"""Makes a backup while the platform runs.

The databases are read first, each as one moment shows it, then the journal. So the journal has everything that the rows
follow from, and after a restore the mirrors only have to catch up. What the bus holds is not kept: the events of the
engine are made again from the journal, and custody says again what it had said.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from openspot.backup.errors import BackupBusyError, BackupError
from openspot.backup.journal import store_journal
from openspot.backup.manifest import FORMAT, DatabasePart, Manifest, Piece, Place, StoredFile
from openspot.backup.pieces import pieces_of
from openspot.backup.postgres import dump
from openspot.backup.sealing import Seal
from openspot.backup.secrets_needed import KEYS_FILE, keys_file, keys_needed
from openspot.backup.storage import Storage
from openspot.engine.journal.mark import MARK, read_mark
from openspot.kit.alone import BusyError, alone
from openspot.kit.backup_outcome import LOCK, note_backup, note_failure
from openspot.kit.secrets_file import FILE_NAME as SECRETS

PLATFORM = "openspot"
"""The name of the platform's own database in a backup."""
ARCHIVE = "data/archive/"
"""What the paths of the archive's files begin with in a backup, wherever its folder is."""
_WORK = "backup-work-"

Step = Callable[[str], None]
"""Is told the name of each step that is done."""


def back_up(
    *,
    data_dir: Path,
    journal: Path,
    databases: Mapping[str, str],
    archive: Path,
    storage: Storage,
    seal: Seal,
    keep: int,
    step: Step = lambda _: None,
) -> Manifest:
    """Make a backup, and remove all but the newest `keep`. `databases` holds addresses by name.

    The data directory keeps the outcome. Raises BackupError; BackupBusyError if another one is under way.
    """
    try:
        with alone(data_dir / LOCK, "openspot backup"):
            try:
                return _back_up(data_dir, journal, databases, archive, Place(storage, seal), seal, keep, step)
            except (BackupError, OSError) as error:
                with contextlib.suppress(OSError):
                    note_failure(data_dir, str(error))
                raise
    except BusyError as error:
        raise BackupBusyError("another backup of this data directory is under way") from error
    except OSError as error:
        raise BackupError(f"the backup was not made: {error}") from error


def _back_up(
    data_dir: Path,
    journal: Path,
    databases: Mapping[str, str],
    archive: Path,
    place: Place,
    seal: Seal,
    keep: int,
    step: Step,
) -> Manifest:
    earlier = _readable(place)
    known = {piece.name: piece for manifest in earlier for file in manifest.all_files for piece in file.pieces}
    for left in data_dir.glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)
    # A folder of its own: the pg_dump of a killed backup may still write to the one before.
    work = Path(tempfile.mkdtemp(prefix=_WORK, dir=data_dir))
    try:
        parts = []
        sealing_keys = keys_needed(databases[PLATFORM])
        for name, url in databases.items():
            server_version = dump(url, work / name)
            step(f"dumped {name}")
            files = [_stored(path, f"database/{name}/{path.name}", place, known) for path in _files(work / name)]
            parts.append(DatabasePart(name, server_version, files))
            step(f"stored {name}")
        # Whoever seals anew meanwhile may have had either key in the dump.
        (work / KEYS_FILE).write_bytes(keys_file(sealing_keys | keys_needed(databases[PLATFORM])))
        keys = _stored(work / KEYS_FILE, f"data/{KEYS_FILE}", place, known)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    taken_at = _utc("%Y-%m-%dT%H:%M:%SZ")
    mark = read_mark(journal.with_name(MARK))
    part = store_journal(journal, place, earlier[-1].journal if earlier else None, known)
    step("stored the journal")
    if mark is not None and (mark.epoch != part.epoch or mark.command_sequence > part.last):
        raise BackupError(f"the mark beside {journal} belongs to another journal: run `openspot engine verify`")
    files = [keys]
    files += [_stored(path, f"data/{path.relative_to(data_dir)}", place, known) for path in _own_files(data_dir)]
    files += [_stored(path, f"{ARCHIVE}{path.relative_to(archive)}", place, known) for path in _files(archive)]
    step("stored the files")
    manifest = place.write_manifest(
        Manifest(
            format=FORMAT,
            name=_name(earlier),
            release=version("openspot"),
            taken_at=taken_at,
            key_id=seal.key_id,
            known_command=mark.command_sequence if mark is not None else 0,
            known_event=mark.event_sequence if mark is not None else 0,
            journal=part,
            databases=parts,
            files=files,
        )
    )
    step("wrote the manifest")
    note_backup(data_dir, manifest.name, manifest.taken_at, manifest.stored_bytes, manifest.new_bytes(earlier))
    try:
        _remove_old(place, keep, step)
    except OSError as error:
        raise BackupError(f"{manifest.name} was made, but older backups could not be removed: {error}") from error
    return manifest


def _name(earlier: list[Manifest]) -> str:
    """The name of a new backup: its time to the microsecond, so that names are in order. Raises BackupError."""
    now = time.time_ns()
    name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now // 10**9))}.{now // 1000 % 10**6:06}Z"
    if earlier and name <= earlier[-1].name:
        raise BackupError(f"the clock says {name}, but there is a newer backup, {earlier[-1].name}: set the clock")
    return name


def _readable(place: Place) -> list[Manifest]:
    """The manifests of earlier backups, oldest first. Raises BackupError for one that cannot be read."""
    return [place.manifest(name) for name in place.names()]


def _remove_old(place: Place, keep: int, step: Step) -> None:
    """Remove old backups, and every object that belongs to none."""
    for name in place.names()[:-keep]:
        place.remove(name)
        step("removed a backup")
    used = {piece.name for manifest in _readable(place) for file in manifest.all_files for piece in file.pieces}
    place.remove_unused(used)


def _stored(path: Path, name: str, place: Place, known: dict[str, Piece]) -> StoredFile:
    pieces = []
    size = 0
    with path.open("rb") as file:
        for content in pieces_of(file):
            pieces.append(place.put(content, known))
            size += len(content)
    return StoredFile(name, size, pieces)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".draft"))


def _own_files(data_dir: Path) -> Iterator[Path]:
    return (path for path in (data_dir / SECRETS,) if path.is_file())


def _utc(layout: str) -> str:
    return time.strftime(layout, time.gmtime())
