"""The manifest of a backup: what it holds, and where each part is. A backup without its manifest is none.

`backups/<name>.json` is written last and appears whole or not at all. `objects/<two letters>/<name>` are the contents,
each file of a backup in pieces; several backups share what has not changed between them.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePosixPath

import msgspec

from openspot.backup.errors import BackupError
from openspot.backup.sealing import Seal
from openspot.backup.storage import Storage

FORMAT = 1
MANIFEST_BYTES_MAX = 256 << 20
_MANIFESTS, _OBJECTS = "backups", "objects"


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
    def objects(self) -> dict[str, int]:
        """The names of all its objects, with their sizes in bytes, whether other backups share them or not."""
        return {piece.name: piece.size for file in self.all_files for piece in file.pieces}

    @property
    def stored_bytes(self) -> int:
        """The bytes of all its objects."""
        return sum(self.objects.values())

    def new_bytes(self, earlier: Iterable["Manifest"]) -> int:
        """The bytes of the objects that none of these backups has."""
        known = set().union(*(manifest.objects for manifest in earlier))
        return sum(size for name, size in self.objects.items() if name not in known)


class Place:
    """A storage with backups. What is written there is durable on return, and whole or not there."""

    def __init__(self, storage: Storage, seal: Seal) -> None:
        self.where = storage.where
        """The place as operators know it."""
        self._storage = storage
        self._seal = seal
        self._stored: dict[str, int] | None = None

    def names(self) -> list[str]:
        """The names of the backups, oldest first. Raises BackupError if the storage cannot be read."""
        try:
            paths = [PurePosixPath(name) for name in self._storage.sizes(_MANIFESTS)]
        except OSError as error:
            raise BackupError(f"the backups in {self.where} cannot be listed: {error}") from error
        return sorted(path.stem for path in paths if path.suffix == ".json" and str(path.parent) == _MANIFESTS)

    def manifest(self, name: str) -> Manifest:
        """A manifest. Raises BackupError if it is missing, damaged, newer than this release, or has another key."""
        path = f"{self.where}/{_manifest_name(name)}"
        try:
            content = self._storage.read(_manifest_name(name), MANIFEST_BYTES_MAX)
            head = msgspec.json.decode(content, type=_Head)
        except (OSError, msgspec.MsgspecError) as error:
            raise BackupError(f"the backup {name} in {self.where} cannot be read: {error}") from error
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
        content = msgspec.json.format(msgspec.json.encode(signed))
        self._storage.write_new(_manifest_name(manifest.name), content)
        return signed

    def remove(self, name: str) -> None:
        """Remove a backup. Its objects stay until `remove_unused`. Raises OSError."""
        self._storage.remove([_manifest_name(name)])

    def put(self, plain: bytes, known: dict[str, Piece]) -> Piece:
        """Store a content. `known` are the pieces of backups: what one of them has is not stored again.

        What is there is listed once. Raises OSError.
        """
        if self._stored is None:
            self._stored = self._storage.sizes(_OBJECTS)
        name = self._seal.name_of(plain)
        piece = known.get(name)
        if piece is not None and self._stored.get(_object_name(name)) == piece.size:
            return piece
        stored = self._seal.pack(plain, name)
        self._storage.write(_object_name(name), stored)
        self._stored[_object_name(name)] = len(stored)
        piece = known[name] = Piece(name, hashlib.sha256(stored).hexdigest(), len(stored))
        return piece

    def get(self, piece: Piece) -> bytes:
        """The content of a piece. Raises BackupError if its object is missing or damaged."""
        try:
            stored = self._storage.read(_object_name(piece.name), piece.size)
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

    def remove_unused(self, used: Iterable[str]) -> int:
        """Remove the objects that are not among `used`, and drafts of a killed backup. Returns how many objects.

        Raises OSError.
        """
        kept = {_object_name(name) for name in used}
        unused = [name for name in self._storage.sizes(_OBJECTS) if name not in kept]
        self._storage.remove(unused)
        self._storage.remove_drafts()
        self._stored = None
        return len(unused)

    def _signature(self, manifest: Manifest) -> str:
        unsigned = msgspec.structs.replace(manifest, signature="")
        content = msgspec.json.encode(unsigned)
        return self._seal.signature(content) or hashlib.sha256(content).hexdigest()


def _manifest_name(name: str) -> str:
    return f"{_MANIFESTS}/{name}.json"


def _object_name(name: str) -> str:
    return f"{_OBJECTS}/{name[:2]}/{name}"


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
