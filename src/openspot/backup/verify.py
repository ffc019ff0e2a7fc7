"""Reads every object of backups: what cannot be read now cannot be restored then."""

from typing import NamedTuple

from openspot.backup.errors import BackupError
from openspot.backup.journal import stored_rows
from openspot.backup.manifest import Manifest, Place


class Checked(NamedTuple):
    """What was checked, and what is wrong; the backup is sound if there are no problems."""

    manifest: Manifest
    commands: int
    files: int
    problems: list[str]


def verify(place: Place, name: str, sound: dict[str, int] | None = None) -> Checked:
    """Check every file of a backup, and the chain of the journal. Raises BackupError without a manifest.

    `sound` has the sizes of the pieces that were found to be sound, and gets those that are: they are not read again.
    """
    manifest = place.manifest(name)
    known = {} if sound is None else sound
    problems = []
    commands = 0
    for file in manifest.all_files:
        size = 0
        try:
            for piece in file.pieces:
                # The key is of the object and of what the manifest says of it.
                key = f"{piece.name} {piece.sha256} {piece.size}"
                if key not in known:
                    known[key] = len(place.get(piece))
                size += known[key]
            if size != file.size:
                problems.append(f"{file.path}: it has {size} bytes, the manifest says {file.size}")
        except BackupError as error:
            problems.append(f"{file.path}: {error}")
    if not problems:
        try:
            commands = sum(row.count for row in stored_rows(place, manifest.journal))
        except BackupError as error:
            problems.append(str(error))
    return Checked(manifest, commands, len(manifest.all_files), problems)
