"""Snapshots: the state machine in a file, so that a start need not replay the whole journal.

A file is complete or not there: it is written beside, flushed, and renamed. The newest few are kept. Each
says which journal it belongs to (epoch), behind which command it was taken, and the journal's checksum there.

File: `OSSNAP01`, header length u32, header (msgpack), core, rest, and SHA-256 of all before it.
"""

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from openspot.kit.log import get_logger

log = get_logger("snapshots")

KEPT = 3
_MAGIC = b"OSSNAP01"
_LENGTH = struct.Struct("<I")
_DIGEST_SIZE = 32


class SnapshotError(Exception):
    """A file is no whole snapshot of this journal; the message says why."""


class SnapshotHeader(msgspec.Struct, frozen=True):
    """What a snapshot is of. `state_hash` is the core's; `checksum` the journal's behind `command_sequence`."""

    epoch: str
    command_sequence: int
    event_sequence: int
    state_hash: str
    checksum: bytes
    core_size: int


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot as StateMachine.restore takes it."""

    header: SnapshotHeader
    core: bytes
    rest: bytes


def write_snapshot(folder: Path, snapshot: Snapshot) -> Path:
    """Write a snapshot durably and remove the oldest beyond KEPT. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    header = msgspec.msgpack.encode(snapshot.header)
    parts = (_MAGIC, _LENGTH.pack(len(header)), header, snapshot.core, snapshot.rest)
    digest = hashlib.sha256()
    path = folder / f"{snapshot.header.command_sequence:020d}.snapshot"
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync_folder(folder)
    # Also what a crash left in the middle of writing.
    for old in (*snapshot_paths(folder)[KEPT:], *folder.glob("*.draft")):
        old.unlink(missing_ok=True)
    return path


def snapshot_paths(folder: Path) -> list[Path]:
    """The snapshot files, newest first."""
    return sorted(folder.glob("*.snapshot"), reverse=True)


def read_snapshot(path: Path, epoch: str) -> Snapshot:
    """Read and check a snapshot. Raises SnapshotError, also for one of another journal."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SnapshotError(str(error)) from error
    head = len(_MAGIC) + _LENGTH.size
    body, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if not content.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        raise SnapshotError("it fails its checksum")
    (header_size,) = _LENGTH.unpack_from(body, len(_MAGIC))
    header = msgspec.msgpack.decode(body[head : head + header_size], type=SnapshotHeader)
    if header.epoch != epoch:
        raise SnapshotError(f"it belongs to another journal ({header.epoch})")
    core_start = head + header_size
    core_end = core_start + header.core_size
    return Snapshot(header, body[core_start:core_end], body[core_end:])


def usable_snapshots(folder: Path, epoch: str) -> Iterator[Snapshot]:
    """The whole snapshots of this journal, newest first, each read when asked for.

    Others are passed over with a warning.
    """
    for path in snapshot_paths(folder):
        try:
            yield read_snapshot(path, epoch)
        except SnapshotError as error:
            log.warning("a snapshot was passed over", path=str(path), reason=str(error))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
