"""Snapshots of the state machine in files, so that recovery need not replay the whole journal.

A snapshot file is always complete: it is written under another name, synced, and renamed. Only the newest few of a
journal are kept; those of other journals are left alone. The header names the journal (by its epoch), the last command
that the snapshot contains, and the journal's checksum after that command.

File format: `OSSNAP01`, header length u32, header (msgpack), core, rest, SHA-256 of everything before.
"""

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from openspot.engine.journal.rows import CHECKSUM_SIZE
from openspot.kit.folders import sync_folder
from openspot.kit.log import get_logger

log = get_logger("snapshots")

FOLDER = "snapshots"
"""The folder of the snapshots, beside the journal."""
KEPT = 3
_MAGIC = b"OSSNAP01"
_LENGTH = struct.Struct("<I")
_DIGEST_SIZE = 32
_HEADER_SIZE_MAX = 4096
"""A header takes less than this."""


class SnapshotError(Exception):
    """The file is not a complete snapshot of this journal; the message says why."""


class SnapshotHeader(msgspec.Struct, frozen=True):
    """`state_hash` is the core's; `checksum` is the journal's after command `command_sequence`."""

    epoch: str
    command_sequence: int
    event_sequence: int
    state_hash: str
    checksum: bytes
    core_size: int


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot; `core` and `rest` are the arguments of StateMachine.restore."""

    header: SnapshotHeader
    core: bytes
    rest: bytes


def write_snapshot(folder: Path, snapshot: Snapshot) -> Path:
    """Write a snapshot durably and remove all but the newest KEPT of its journal. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    header = msgspec.msgpack.encode(snapshot.header)
    parts = (_MAGIC, _LENGTH.pack(len(header)), header, snapshot.core, snapshot.rest)
    digest = hashlib.sha256()
    path = snapshot_path(folder, snapshot.header.command_sequence)
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(folder)
    # Another journal may have got further, so its numbers must not count here.
    own = [one for one in snapshot_paths(folder) if _epoch_of(one) == snapshot.header.epoch]
    # Drafts are left by a crash during writing.
    for old in (*own[KEPT:], *folder.glob("*.draft")):
        old.unlink(missing_ok=True)
    return path


def snapshot_path(folder: Path, command_sequence: int) -> Path:
    """The file of the snapshot that ends with this command."""
    return folder / f"{command_sequence:020d}.snapshot"


def snapshot_paths(folder: Path) -> list[Path]:
    """The snapshot files, newest first."""
    return sorted(folder.glob("*.snapshot"), reverse=True)


def read_snapshot(path: Path, epoch: str) -> Snapshot:
    """Read and verify a snapshot. Raises SnapshotError, also if it belongs to another journal."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SnapshotError(str(error)) from error
    body, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if not content.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        raise SnapshotError("it fails its checksum")
    header, core_start = _header(body)
    if header.epoch != epoch:
        raise SnapshotError(f"it belongs to another journal ({header.epoch})")
    core_end = core_start + header.core_size
    if not 0 <= header.core_size <= len(body) - core_start:
        raise SnapshotError("its header names a size that the file does not have")
    if len(header.checksum) != CHECKSUM_SIZE or min(header.command_sequence, header.event_sequence) < 0:
        raise SnapshotError("its header names no place in a journal")
    return Snapshot(header, body[core_start:core_end], body[core_end:])


def _header(body: bytes) -> tuple[SnapshotHeader, int]:
    """The header, and where it ends. Raises SnapshotError."""
    start = len(_MAGIC) + _LENGTH.size
    try:
        (size,) = _LENGTH.unpack_from(body, len(_MAGIC))
        return msgspec.msgpack.decode(body[start : start + size], type=SnapshotHeader), start + size
    except (struct.error, msgspec.MsgspecError, ValueError) as error:
        raise SnapshotError(f"its header cannot be read: {error}") from error


def _epoch_of(path: Path) -> str:
    """The epoch in the header of a file, which is not verified; empty if there is none."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER_SIZE_MAX)
        return _header(start)[0].epoch if start.startswith(_MAGIC) else ""
    except (OSError, SnapshotError):
        return ""


def usable_snapshots(folder: Path, epoch: str) -> Iterator[Snapshot]:
    """The complete snapshots of this journal, newest first, each read on demand.

    Skips other files with a warning.
    """
    for path in snapshot_paths(folder):
        try:
            yield read_snapshot(path, epoch)
        except SnapshotError as error:
            log.warning("skipped a snapshot", path=str(path), reason=str(error))
