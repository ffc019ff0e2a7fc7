"""Where a restore puts the files of the archive: the folder that the settings name, in the data directory or elsewhere.

A folder elsewhere may be a disk of its own, which cannot be given another name. So the files are made in a draft folder
in it, and take their places when everything else is restored. Before that, a list in the draft names them, and the
draft of the data directory that they belong to. By it the next restore knows what one that was killed has placed.
"""

import os
import shutil
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

import msgspec

from openspot.backup.errors import BackupError
from openspot.kit.folders import sync_folder

LIST = "placing.json"
"""The name of the list in the draft of the archive."""


class Placing(msgspec.Struct, frozen=True):
    """What takes its place in the folder of the archive, by name, and the state of the data directory's draft."""

    names: list[str]
    draft: tuple[int, int]


class RestoredArchive:
    """The archive of a platform that is restored to `data_dir`, by way of the folder `draft` beside it."""

    def __init__(self, archive: Path, data_dir: Path, draft: Path) -> None:
        self._archive = archive
        self._data_draft = draft
        self._is_elsewhere = not archive.is_relative_to(data_dir)
        self.draft = archive / draft.name if self._is_elsewhere else draft / archive.relative_to(data_dir)
        """The folder in which the files are made."""

    def require_empty(self) -> None:
        """Raise BackupError if a folder elsewhere holds more than what a restore to this data directory left there.

        Raises OSError if the folder cannot be read.
        """
        if not self._is_elsewhere or not self._archive.exists():
            return
        placed = self._placed_by_a_killed()
        if any(path != self.draft and path.name not in placed for path in self._archive.iterdir()):
            raise BackupError(
                f"the folder of the archive {self._archive} is not empty: set OPENSPOT_ARCHIVE_DIR to a new one"
            )

    def clear(self) -> None:
        """Remove what a restore left in a folder elsewhere, while the draft of the data directory is still there."""
        if not self._is_elsewhere or not self.draft.exists():
            return
        placed = self._placed_by_a_killed()
        # The list goes last: until then, the next restore knows what was placed.
        for path in [path for path in self._archive.iterdir() if path.name in placed]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        sync_folder(self._archive)
        shutil.rmtree(self.draft)

    def _placed_by_a_killed(self) -> Set[str]:
        """The names of what a restore had placed, or was about to, when it was killed before the data directory's turn.

        Once that has its place, the draft that the list knows is gone, and the files are those of a platform.
        """
        try:
            placing = msgspec.json.decode((self.draft / LIST).read_bytes(), type=Placing)
        except (FileNotFoundError, msgspec.DecodeError):
            # A list that is cut off was being written, so nothing had been placed yet.
            return frozenset()
        is_same = self._data_draft.exists() and placing.draft == _state(self._data_draft)
        return frozenset(placing.names) - {self.draft.name} if is_same else frozenset()

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Put the files in their places, and back into the draft if the block raises."""
        if not self._is_elsewhere or not self.draft.exists():
            yield
            return
        self.require_empty()
        moved: list[Path] = []
        paths = sorted(self.draft.iterdir())
        self._write_list([path.name for path in paths])
        try:
            for path in paths:
                place = self._archive / path.name
                path.rename(place)
                moved.append(place)
            sync_folder(self._archive)
            sync_folder(self._archive.parent)
            yield
        except Exception:
            for path in moved:
                path.rename(self.draft / path.name)
            raise
        shutil.rmtree(self.draft, ignore_errors=True)

    def _write_list(self, names: list[str]) -> None:
        path = self.draft / LIST
        with path.open("xb") as file:
            file.write(msgspec.json.encode(Placing(names, _state(self._data_draft))))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.draft)


def _state(folder: Path) -> tuple[int, int]:
    """What a folder is known by: its number, and when its entries changed last."""
    found = folder.stat()
    return found.st_ino, found.st_mtime_ns
