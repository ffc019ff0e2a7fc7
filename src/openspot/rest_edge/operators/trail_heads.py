"""Heads of the trail, kept outside the database, so that an end that was cut off is noticed.

A chain of hashes shows a change inside, but not that its last entries are gone. So every edge writes number and hash of
the newest entry to a file of its data directory and to the log, soon after it has changed. Whoever cuts the trail would
have to change all of these too.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from openspot.kit.database import Pool
from openspot.kit.log import get_logger

log = get_logger("operators")

KEEP_INTERVAL_S = 10.0
HEADS_NAME = "operator-trail.heads"
_LINE_LENGTH_MAX = 128


class Head(NamedTuple):
    """The newest entry at some time. An empty trail has the number 0."""

    number: int
    hash: str


class HeadError(ValueError):
    """A text is no head. The message says where it stands."""


def read_head(text: str) -> Head:
    """The head of a text such as `12:6f1c…`. Raises HeadError."""
    number, _, found = text.strip().partition(":")
    if not (number.isascii() and number.isdigit()) or len(found) != 64 or set(found) - set("0123456789abcdef"):
        raise HeadError(f"{text.strip()!r} is no head such as 12:<64 characters in hex>")
    return Head(int(number), found)


def kept_heads(path: Path) -> Iterator[Head]:
    """The heads of a file, as they were written; none without a file. Raises HeadError for another line, or OSError.

    The last line may be cut off by a power cut, and is left out then.
    """
    if not path.exists():
        return
    with path.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith("\n"):
                return
            try:
                yield read_head(line)
            except HeadError as error:
                raise HeadError(f"{path.name}, line {number}: {error}") from error


class HeadKeeper:
    """Writes the head to a file and to the log whenever it has changed."""

    def __init__(self, pool: Pool, data_dir: Path) -> None:
        self._pool = pool
        self._path = data_dir / HEADS_NAME
        self._written: Head | None = None

    async def keep(self) -> None:
        """Write the head if it is another than the last one. Raises OSError, and what the database raises."""
        row = await self._pool.fetchrow(
            "SELECT entry_number, hash FROM operator_actions ORDER BY entry_number DESC LIMIT 1"
        )
        if row is None:
            return
        head = Head(row["entry_number"], row["hash"])
        if self._written is None:
            self._written = _last_of(self._path)
        if head == self._written:
            return
        _append(self._path, f"{head.number}:{head.hash}\n")
        self._written = head
        log.info("head of the operators' trail", entry=head.number, hash=head.hash)


def _last_of(path: Path) -> Head | None:
    last = None
    for head in kept_heads(path):
        last = head
    return last


def _append(path: Path, line: str) -> None:
    """Add a line that is on disk when this returns. What a power cut has left of the last line is removed."""
    with path.open("r+b" if path.exists() else "x+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = file.seek(max(0, size - _LINE_LENGTH_MAX))
        end = start + file.read().rfind(b"\n") + 1
        file.truncate(end)
        file.seek(end)
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())
