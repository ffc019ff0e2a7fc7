"""Where the objects of backups are kept: a folder, or a bucket of storage that speaks S3 (`s3.py`).

A name is like a path: `objects/ab/abc…`, `backups/<name>.json`. What is written is whole or not there, and stays there.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from openspot.kit.folders import sync_folder

_DRAFT = ".draft"


class StorageError(OSError):
    """The storage did not do what was asked; the message says where, what and why, and holds no secret."""


class Storage(Protocol):
    """A place for objects. Every method raises OSError if the storage does not answer or refuses."""

    where: str
    """The place as operators know it, without credentials."""

    def sizes(self, folder: str) -> dict[str, int]:
        """The names below `folder`, at any depth, with their sizes in bytes."""

    def read(self, name: str, bytes_max: int) -> bytes:
        """The content of an object. Raises FileNotFoundError if it is missing, StorageError if it is larger."""

    def write(self, name: str, content: bytes) -> None:
        """Write an object. It is durable on return. What had the name is replaced."""

    def write_new(self, name: str, content: bytes) -> None:
        """Write an object that must not be there yet. Raises FileExistsError if another content has the name."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects. One that is missing is no fault."""

    def remove_drafts(self) -> None:
        """Remove what a killed backup had begun to write."""


class FolderStorage:
    """A folder. Its files can be read by their owner alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.where = str(folder)

    def sizes(self, folder: str) -> dict[str, int]:
        """See Storage."""
        found = (self.folder / folder).rglob("*")
        return {
            path.relative_to(self.folder).as_posix(): path.stat().st_size
            for path in found
            if path.is_file() and not path.name.endswith(_DRAFT)
        }

    def read(self, name: str, bytes_max: int) -> bytes:
        """See Storage."""
        with (self.folder / name).open("rb") as file:
            content = file.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise StorageError(f"{self.folder / name} has more than {bytes_max} bytes")
        return content

    def write(self, name: str, content: bytes) -> None:
        """See Storage."""
        path = self._prepared(name)
        draft = path.with_name(path.name + _DRAFT)
        _write_file(draft, content)
        draft.replace(path)
        sync_folder(path.parent)

    def write_new(self, name: str, content: bytes) -> None:
        """See Storage."""
        path = self._prepared(name)
        draft = path.with_name(path.name + _DRAFT)
        _write_file(draft, content)
        try:
            # A link appears at once and replaces nothing.
            path.hardlink_to(draft)
        except FileExistsError:
            raise
        except OSError:
            # Some network file systems have no links.
            draft.replace(path)
        draft.unlink(missing_ok=True)
        sync_folder(path.parent)

    def remove(self, names: Iterable[str]) -> None:
        """See Storage."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def remove_drafts(self) -> None:
        """See Storage."""
        for path in self.folder.rglob(f"*{_DRAFT}"):
            path.unlink(missing_ok=True)

    def _prepared(self, name: str) -> Path:
        path = self.folder / name
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync_folder(path.parent.parent)
        return path


def _write_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
