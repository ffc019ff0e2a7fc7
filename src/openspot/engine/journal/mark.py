"""The mark: a small file that says up to which command responses were sent.

The engine overwrites it after each durable batch, before any response, and does not sync it: the journal is what
counts. After a kill the mark is exact; after a power cut it may be older. So it never says too much, and a journal
that ends before its mark has lost acknowledged commands.

File format: `OSMARK01`, epoch (16 bytes, zero-padded), last command u64, last event u64, CRC-32 u32.
"""

import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

from openspot.kit.log import get_logger

log = get_logger("mark")

MARK = "journal.mark"
_MAGIC = b"OSMARK01"
_BODY = struct.Struct("<8s16sQQ")
_CHECKSUM = struct.Struct("<I")


class Mark(NamedTuple):
    """The last command that was acknowledged, and the last event up to it, in the journal with this epoch."""

    epoch: str
    command_sequence: int
    event_sequence: int


def read_mark(path: Path) -> Mark | None:
    """The mark in a file, or None if there is none, or none that is whole."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("the mark of the journal cannot be read", path=str(path), reason=str(error))
        return None
    if len(content) != _BODY.size + _CHECKSUM.size or _sealed(content[: _BODY.size]) != content:
        log.warning("ignored a damaged mark of the journal", path=str(path))
        return None
    magic, epoch, command_sequence, event_sequence = _BODY.unpack_from(content)
    if magic != _MAGIC:
        log.warning("ignored a mark of another format", path=str(path))
        return None
    return Mark(epoch.rstrip(b"\0").decode("ascii", "replace"), command_sequence, event_sequence)


class MarkFile:
    """The mark of an open journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None
        self._failed = False

    def write(self, mark: Mark) -> None:
        """Overwrite the mark. A failure is only logged, because nothing depends on the mark but a diagnosis."""
        content = _sealed(_BODY.pack(_MAGIC, mark.epoch.encode(), mark.command_sequence, mark.event_sequence))
        try:
            if self._file is None:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            # One small write over the same bytes: a kill leaves the old mark or the new one.
            os.pwrite(self._file, content, 0)
        except OSError as error:
            if not self._failed:
                log.warning("the mark of the journal cannot be written", path=str(self.path), reason=str(error))
            self._failed = True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _sealed(body: bytes) -> bytes:
    return body + _CHECKSUM.pack(zlib.crc32(body))
