"""One process of a data directory at a time does a work, and others see who does it.

The lock is the kernel's. It ends with its process, so that nothing that is killed blocks the next one.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

BUSY = 3
"""The exit code of a command whose work another process does."""
LOOK_S = 0.02
BRIEFLY_S = 0.5
"""A lock counts as taken after so many seconds: whoever only looks at it holds it for a moment."""


class Begun(msgspec.Struct, frozen=True):
    """Who or what began a work, and when, in milliseconds since 1970."""

    by: str
    at: int


class BusyError(Exception):
    """Another process does the work."""


@contextmanager
def alone(path: Path, by: str, wait_s: float = BRIEFLY_S) -> Iterator[Begun]:
    """Hold the lock file at `path` in the name of `by`. It is waited for `wait_s` seconds.

    Raises BusyError if another process holds it for that long, OSError if the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(descriptor, path, time.monotonic() + wait_s)
        begun = Begun(by, time.time_ns() // 1_000_000)
        # On a disk that is full, others do not see who it is.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(begun), 0)
        yield begun
    finally:
        os.close(descriptor)


def under_way(path: Path) -> Begun | None:
    """Who holds the lock file at `path` now; None if nobody does. Its fields are empty if that is not known."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(descriptor)
        return None
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= until:
                raise BusyError(f"another process holds {path}") from error
            time.sleep(LOOK_S)
        else:
            return


def _holder(descriptor: int) -> Begun:
    try:
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Begun)
    except (OSError, msgspec.MsgspecError):
        return Begun("", 0)
