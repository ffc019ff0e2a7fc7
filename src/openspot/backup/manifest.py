"""The manifest of a backup: what it holds, and where each part is. A backup without its manifest is none.

`backups/<name>.json` is written last and appears whole or not at all. `objects/<two letters>/<name>` are the contents,
each file of a backup in pieces; several backups share what has not changed between them.
"""

import hashlib
import os
from datetime import datetime
from pathlib import Path

import msgspec

from openspot.backup.errors import BackupError
from openspot.backup.sealing import Seal

FORMAT = 1
_MANIFESTS, _OBJECTS = "backups", "objects"
_DRAFT = ".draft"


class Piece(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A piece of a file: the object with its content, the SHA-256 and the size in bytes of what is stored."""

    name: str
    sha256: str
    size: int


class StoredFile(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A file of the backup. `size` is that of its content in bytes."""

    path: str
    size: int
    pieces: list[Piece]


class Segment(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Consecutive batches of the journal. `checksum` is the journal's (hexadecimal) after command `last`."""

    first: int
    last: int
    checksum: str
    is_full: bool
    file: StoredFile


class JournalPart(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The engine's journal up to command `last`, which was accepted at `time_ns` (nanoseconds since 1970)."""

    format: str
    epoch: str
    last: int
    checksum: str
    time_ns: int
    segments: list[Segment]


class DatabasePart(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A database as one moment showed it: the files of its dump, and the version of the server."""

    name: str
    server_version: str
    files: list[StoredFile]


class Manifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A backup. No database in it knows a command or event after `known_command` and `known_event`.

    `taken_at` (ISO 8601, UTC) is when the last database had been read. `key_id` is empty if nothing is encrypted.
    """

    format: int
    name: str
    release: str
    taken_at: str
    key_id: str
    known_command: int
    known_event: int
    journal: JournalPart
    databases: list[DatabasePart]
    files: list[StoredFile]
    signature: str = ""

    @property
    def taken_ns(self) -> int:
        """The end of the second `taken_at`, in nanoseconds since 1970."""
        return (int(datetime.fromisoformat(self.taken_at).timestamp()) + 1) * 1_000_000_000

    @property
    def all_files(self) -> list[StoredFile]:
        """Every file of the backup."""
        of_databases = [file for database in self.databases for file in database.files]
        return [*(segment.file for segment in self.journal.segments), *of_databases, *self.files]

    @property
    def stored_bytes(self) -> int:
        """The bytes of all its objects, whether other backups share them or not."""
        return sum({piece.name: piece.size for file in self.all_files for piece in file.pieces}.values())


class Place:
    """A folder of backups. Everything that is written there is on disk on return, and whole or not there."""

    def __init__(self, folder: Path, seal: Seal) -> None:
        self.folder = folder
        self._seal = seal

    def names(self) -> list[str]:
        """The names of the backups, oldest first."""
        return sorted(path.stem for path in (self.folder / _MANIFESTS).glob("*.json"))

    def manifest(self, name: str) -> Manifest:
        """A manifest. Raises BackupError if it is missing, damaged, newer than this release, or has another key."""
        path = self._manifest_path(name)
        try:
            content = path.read_bytes()
            head = msgspec.json.decode(content, type=_Head)
        except (OSError, msgspec.MsgspecError) as error:
            raise BackupError(f"the backup {name} in {self.folder} cannot be read: {error}") from error
        if head.format > FORMAT:
            raise BackupError(
                f"the backup {name} has format {head.format}, written by release {head.release}; this release reads "
                f"up to format {FORMAT}: restore it with that release"
            )
        if head.key_id != self._seal.key_id:
            raise BackupError(_wrong_key(name, head.key_id, self._seal.key_id))
        try:
            manifest = msgspec.json.decode(content, type=Manifest)
        except msgspec.MsgspecError as error:
            raise BackupError(f"the manifest {path} is damaged: {error}") from error
        if manifest.name != name or manifest.signature != self._signature(manifest):
            raise BackupError(f"the manifest {path} is damaged, or was changed: its signature is not right")
        return manifest

    def write_manifest(self, manifest: Manifest) -> Manifest:
        """Sign a manifest and write it: from now on there is this backup. Raises OSError."""
        signed = msgspec.structs.replace(manifest, signature=self._signature(manifest))
        _write(self._manifest_path(manifest.name), msgspec.json.format(msgspec.json.encode(signed)))
        return signed

    def remove(self, name: str) -> None:
        """Remove a backup. Its objects stay until `remove_unused`. Raises OSError."""
        self._manifest_path(name).unlink(missing_ok=True)

    def put(self, plain: bytes, known: dict[str, Piece]) -> Piece:
        """Store a content. `known` are the pieces of backups: what one of them has is not stored again."""
        name = self._seal.name_of(plain)
        path = self._object_path(name)
        piece = known.get(name)
        if piece is not None and path.is_file() and path.stat().st_size == piece.size:
            return piece
        stored = self._seal.pack(plain, name)
        _write(path, stored)
        piece = known[name] = Piece(name, hashlib.sha256(stored).hexdigest(), len(stored))
        return piece

    def get(self, piece: Piece) -> bytes:
        """The content of a piece. Raises BackupError if its object is missing or damaged."""
        try:
            stored = self._object_path(piece.name).read_bytes()
        except OSError as error:
            raise BackupError(f"the object {piece.name} cannot be read: {error}") from error
        if len(stored) != piece.size or hashlib.sha256(stored).hexdigest() != piece.sha256:
            raise BackupError(f"the object {piece.name} is damaged: its SHA-256 is not the one of the manifest")
        return self._seal.open(stored, piece.name)

    def read(self, file: StoredFile) -> bytes:
        """The content of a small file. Raises BackupError."""
        content = b"".join(map(self.get, file.pieces))
        if len(content) != file.size:
            raise BackupError(f"the file {file.path} has {len(content)} bytes, its manifest says {file.size}")
        return content

    def remove_unused(self, used: set[str]) -> int:
        """Remove the objects that are not among `used`, and drafts of a killed backup. Returns how many objects."""
        removed = 0
        for path in (self.folder / _OBJECTS).glob("*/*"):
            if path.name not in used:
                path.unlink(missing_ok=True)
                removed += not path.name.endswith(_DRAFT)
        for path in (self.folder / _MANIFESTS).glob(f"*{_DRAFT}"):
            path.unlink(missing_ok=True)
        return removed

    def _signature(self, manifest: Manifest) -> str:
        unsigned = msgspec.structs.replace(manifest, signature="")
        content = msgspec.json.encode(unsigned)
        return self._seal.signature(content) or hashlib.sha256(content).hexdigest()

    def _manifest_path(self, name: str) -> Path:
        return self.folder / _MANIFESTS / f"{name}.json"

    def _object_path(self, name: str) -> Path:
        return self.folder / _OBJECTS / name[:2] / name


class _Head(msgspec.Struct, rename="camel"):
    """What every format of a manifest has."""

    format: int
    release: str
    key_id: str


def _wrong_key(name: str, needed: str, given: str) -> str:
    if not needed:
        return f"the backup {name} is not encrypted, but OPENSPOT_BACKUP_KEY_FILE names a key: leave it away to read it"
    if not given:
        return f"the backup {name} is encrypted: set OPENSPOT_BACKUP_KEY_FILE to the file with the key {needed}"
    return f"the backup {name} was encrypted with another key: it needs {needed}, OPENSPOT_BACKUP_KEY_FILE has {given}"


def _write(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(path.parent.parent)
    draft = path.with_name(path.name + _DRAFT)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
