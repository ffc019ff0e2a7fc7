"""The space on the disk that holds a folder, and whether the platform may still write to it.

Engine, database and bus fail badly on a disk without space: a database that cannot write its log stops. So the engine
takes no commands once less than a reserve is free. What the others still have to write then has room.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from prometheus_client import Gauge

from openspot.kit.health import DegradedError

MEBIBYTE = 1024 * 1024
LOW_BYTES = 1024 * MEBIBYTE
LOW_PERCENT = 10
POLL_INTERVAL_S = 0.5
"""The disk is asked at most once in this time."""

FREE = Gauge("openspot_disk_free_bytes", "Bytes that this account can still write on the disk of the data directory")
WRITABLE = Gauge("openspot_disk_writable", "1 while the platform writes to the disk of the data directory, else 0")


class DiskState(StrEnum):
    """What the platform does with a disk."""

    OK = "ok"
    LOW = "low"
    """It writes, and warns: less than LOW_PERCENT and less than LOW_BYTES are free."""
    FULL = "full"
    """It takes no commands: less than the reserve is free."""
    READ_ONLY = "read-only"
    """It takes no commands: the disk is mounted without the right to write."""


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """The disk of `folder` at one moment, in bytes."""

    folder: Path
    free: int
    total: int
    reserve: int
    is_read_only: bool = False

    @property
    def state(self) -> DiskState:
        """What the platform does with the disk."""
        if self.is_read_only:
            return DiskState.READ_ONLY
        if self.free < self.reserve:
            return DiskState.FULL
        is_low = self.free < LOW_BYTES and self.free * 100 < self.total * LOW_PERCENT
        return DiskState.LOW if is_low else DiskState.OK

    @property
    def is_writable(self) -> bool:
        """Whether the platform writes to it."""
        return self.state in (DiskState.OK, DiskState.LOW)

    @property
    def message(self) -> str:
        """What is wrong and what to do, for operators; empty if nothing is."""
        free = f"{self.free // MEBIBYTE} MiB of {self.total // MEBIBYTE} MiB are free"
        match self.state:
            case DiskState.READ_ONLY:
                return f"the disk of {self.folder} is read-only: nothing is written until it is mounted writable"
            case DiskState.FULL:
                return (
                    f"the disk of {self.folder} is full ({free}): no commands are taken until "
                    f"{self.reserve // MEBIBYTE} MiB are free"
                )
            case DiskState.LOW:
                return f"the disk of {self.folder} is nearly full ({free})"
            case DiskState.OK:
                return ""


def space_of(folder: Path, reserve: int) -> DiskSpace:
    """The disk of `folder` now. `reserve` is in bytes. Raises OSError if the folder cannot be read."""
    found = os.statvfs(folder)
    return DiskSpace(
        folder=folder,
        free=found.f_bavail * found.f_frsize,
        total=found.f_blocks * found.f_frsize,
        reserve=reserve,
        is_read_only=bool(found.f_flag & os.ST_RDONLY),
    )


class Disk:
    """The disk of one folder, looked at when somebody asks, at most every POLL_INTERVAL_S seconds."""

    def __init__(
        self,
        folder: Path,
        reserve: int,
        *,
        look: Callable[[Path, int], DiskSpace] = space_of,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._reserve = reserve
        self._space_of = look
        self._monotonic = monotonic
        self._looked_at = float("-inf")
        self._space: DiskSpace | None = None

    @property
    def space(self) -> DiskSpace | None:
        """The disk as it was at most POLL_INTERVAL_S ago; None if there is no such folder."""
        if self._monotonic() - self._looked_at >= POLL_INTERVAL_S:
            self.look()
        return self._space

    def look(self) -> DiskSpace | None:
        """The disk as it is now; None if there is no such folder."""
        self._looked_at = self._monotonic()
        try:
            self._space = self._space_of(self._folder, self._reserve)
        except OSError:
            self._space = None
        if self._space is not None:
            FREE.set(self._space.free)
            WRITABLE.set(self._space.is_writable)
        return self._space

    @property
    def refusal(self) -> str:
        """Why nothing may be written; empty if something may."""
        space = self.space
        return "" if space is None or space.is_writable else space.message

    async def check(self) -> None:
        """Raise DegradedError, with what to do, if the disk is full, nearly full or read-only."""
        space = self.space
        if space is not None and space.message:
            raise DegradedError(space.message)
