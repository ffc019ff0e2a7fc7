"""Where a restore puts the files of the archive: the folder that the settings name, in the data directory or elsewhere.

A folder elsewhere may be a disk of its own, which cannot be given another name. So the files are made in a draft folder
in it, and take their places when everything else is restored.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openspot.backup.errors import BackupError
from openspot.kit.folders import sync_folder


class RestoredArchive:
    """The archive of a platform that is restored to `data_dir`, by way of the folder `draft` beside it."""

    def __init__(self, archive: Path, data_dir: Path, draft: Path) -> None:
        self._archive = archive
        self._is_elsewhere = not archive.is_relative_to(data_dir)
        self.draft = archive / draft.name if self._is_elsewhere else draft / archive.relative_to(data_dir)
        """The folder in which the files are made."""

    def require_empty(self) -> None:
        """Raise BackupError if a folder elsewhere holds more than what a restore to this data directory left there."""
        if not self._is_elsewhere or not self._archive.exists():
            return
        if any(path != self.draft for path in self._archive.iterdir()):
            raise BackupError(
                f"the folder of the archive {self._archive} is not empty: set OPENSPOT_ARCHIVE_DIR to a new one"
            )

    def clear(self) -> None:
        """Remove what a restore left in a folder elsewhere."""
        if self._is_elsewhere and self.draft.exists():
            shutil.rmtree(self.draft)

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Put the files in their places, and back into the draft if the block raises."""
        if not self._is_elsewhere or not self.draft.exists():
            yield
            return
        self.require_empty()
        moved: list[Path] = []
        try:
            for path in sorted(self.draft.iterdir()):
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
