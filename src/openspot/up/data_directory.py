"""The data directory: it belongs to the platform's account alone, and to one platform at a time.

An ephemeral platform keeps its data in a folder below the data directory that it was started for. It holds the same
lock, so a data directory has one running platform at most, and commands that are given this directory find it.
"""

import contextlib
import fcntl
import os
import pwd
import stat
from io import TextIOWrapper
from pathlib import Path

EPHEMERAL = "ephemeral"
"""Folder of an ephemeral platform, below the data directory."""
_LOCK = "lock"
_MARKS = ("secrets.json", "state.json", _LOCK)
"""Files by which a data directory of any release is recognised."""


class DataDirectoryError(Exception):
    """The folder cannot be used as data directory; the message says what to do."""


def claim(folder: Path) -> None:
    """Make `folder` if it is missing, and close it to all other accounts.

    If an earlier release left it open, everything in it is closed too. Raises DataDirectoryError if
    it belongs to another account, cannot be closed, or is open and holds files that are not OpenSpot's.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(folder)
        if _is_open(folder):
            _check_contents(folder)
            _close(folder)
        still_open = _is_open(folder)
    except OSError as error:
        raise DataDirectoryError(f"the data directory {folder} cannot be used: {error}") from error
    if still_open:
        raise DataDirectoryError(
            f"the folder {folder} stays open to other accounts, since its file system keeps no permissions: "
            "set OPENSPOT_DATA_DIR to a folder on another one"
        )


def close_if_own(folder: Path) -> None:
    """Close a data directory that an earlier release left open; any other folder stays as it is.

    A service that runs alone uses this: its folder may be a volume that is shared or read-only. Its own files there are
    closed to others anyway.
    """
    with contextlib.suppress(DataDirectoryError, OSError):
        if _is_open(folder):
            _check_owner(folder)
            _check_contents(folder)
            _close(folder)


def take_lock(folder: Path) -> TextIOWrapper:
    """Take the lock of a data directory; closing the file gives it back. Raises DataDirectoryError if it is taken."""
    lock = (folder / _LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise DataDirectoryError(
            f"a platform is already running for {folder}: `openspot status` shows it.\n"
            "For a second one set OPENSPOT_DATA_DIR and other ports."
        ) from error
    return lock


def _check_owner(folder: Path) -> None:
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = str(owner)
        raise DataDirectoryError(
            f"the data directory {folder} belongs to the account {name}: run OpenSpot as {name}, "
            "or set OPENSPOT_DATA_DIR to a folder of your own"
        )


def _is_open(path: Path) -> bool:
    return bool(path.lstat().st_mode & 0o077)


def _check_contents(folder: Path) -> None:
    names = [entry.name for entry in folder.iterdir()]
    if names and not any(mark in names for mark in _MARKS):
        raise DataDirectoryError(
            f"the folder {folder} is open to other accounts and holds other files ({min(names)}): "
            "set OPENSPOT_DATA_DIR to a folder for OpenSpot alone"
        )


def _close(folder: Path) -> None:
    for place, _, files in os.walk(folder):
        # Skip a folder of another account: it is PostgreSQL's, which is closed already.
        if Path(place).stat().st_uid == os.geteuid():
            for path in (Path(place), *(Path(place, name) for name in files)):
                if not path.is_symlink() and _is_open(path):
                    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o077)
