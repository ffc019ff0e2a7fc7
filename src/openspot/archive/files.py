"""The files of the archive: rows as CSV, compressed with gzip, each beside a manifest in JSON.

`<kind>/<month>/<name>.csv.gz` has a line of column names, then the rows. NULL is `\\N`; a text that begins with a
backslash has one more. `<name>.json` is the manifest: format, kind, month, rows, the times of the oldest and the newest
row, sums of money by asset, and the SHA-256 of the file. Both are complete and synced, or not there.

CSV, because Python writes it without another package and everything reads it: a row is written once, and read seldom.
"""

import csv
import gzip
import hashlib
import io
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from decimal import InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from openspot.archive.kinds import KINDS, Kind, Row
from openspot.domain.money import decimal_to_text
from openspot.kit.folders import sync_folder

FORMAT = 1
NOT_REGISTERED = "not-registered"
"""The folder of files that no database knows: their rows were never removed."""
_NULL = "\\N"
_DRAFT = ".draft"
_PARTS = 3
"""A file is named by kind, month and name."""


class ArchiveError(Exception):
    """A file of the archive is missing, damaged, or says something else than its manifest; the message says which."""


class Manifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a file holds. `file` is its path below the folder of the archive; `totals` are decimals as text."""

    format: int
    kind: str
    month: str
    file: str
    sha256: str
    rows: int
    first_at: str
    last_at: str
    totals: dict[str, dict[str, str]]


def write(folder: Path, kind: Kind, month: str, rows: Sequence[Row]) -> Manifest:
    """Write rows of one month, and their manifest after them. Both are on disk on return. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kind.columns)
    writer.writerows([_escaped(value) for value in row] for row in rows)
    content = gzip.compress(text.getvalue().encode(), compresslevel=6, mtime=0)
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"
    path = folder / kind.name / month / f"{name}.csv.gz"
    at = list(kind.columns).index(kind.time)
    times = [str(row[at]) for row in rows]
    manifest = Manifest(
        format=FORMAT,
        kind=kind.name,
        month=month,
        file=str(path.relative_to(folder)),
        sha256=hashlib.sha256(content).hexdigest(),
        rows=len(rows),
        first_at=min(times),
        last_at=max(times),
        totals=_totals(kind, rows),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_synced(path, content)
    _write_synced(manifest_path(folder, manifest.file), msgspec.json.format(msgspec.json.encode(manifest)))
    for made in (path.parent, path.parent.parent, folder, folder.parent):
        sync_folder(made)
    return manifest


def manifest_path(folder: Path, file: str) -> Path:
    """The manifest of a file."""
    return folder / f"{file.removesuffix('.csv.gz')}.json"


def manifests(folder: Path) -> list[Manifest]:
    """Every manifest, by kind and month. Raises ArchiveError for one that cannot be read."""
    found = []
    for path in sorted(folder.glob("*/*/*.json")):
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
        except (OSError, msgspec.MsgspecError) as error:
            raise ArchiveError(f"{path}: the manifest cannot be read: {error}") from error
        if manifest.format != FORMAT or manifest.kind not in KINDS:
            raise ArchiveError(f"{path}: format {manifest.format} of kind {manifest.kind!r} is not known")
        if manifest_path(folder, manifest.file) != path or len(Path(manifest.file).parts) != _PARTS:
            raise ArchiveError(f"{path}: it is the manifest of another file, {manifest.file!r}")
        found.append(manifest)
    return found


def read(folder: Path, manifest: Manifest) -> list[Row]:
    """The rows of a file, after its checksum, their number and their totals were compared. Raises ArchiveError."""
    path, kind = folder / manifest.file, KINDS[manifest.kind]
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ArchiveError(f"{path}: the file cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != manifest.sha256:
        raise ArchiveError(f"{path}: its SHA-256 is not the one of the manifest")
    try:
        lines = csv.reader(io.StringIO(gzip.decompress(content).decode(), newline=""))
        given, columns = next(lines), list(kind.columns)
        if not given or given != columns[: len(given)]:
            raise ArchiveError(f"{path}: its columns are not those of {kind.name}")
        # A file of an earlier release lacks the columns that came since, which were empty for its rows.
        later = [None] * (len(columns) - len(given))
        rows: list[Row] = [[*(_unescaped(value) for value in line), *later] for line in lines]
        totals = _totals(kind, rows)
    except (OSError, EOFError, ValueError, csv.Error, StopIteration, InvalidOperation) as error:
        raise ArchiveError(f"{path}: it cannot be read: {error}") from error
    if len(rows) != manifest.rows:
        raise ArchiveError(f"{path}: it has {len(rows)} rows, its manifest says {manifest.rows}")
    if totals != manifest.totals:
        raise ArchiveError(f"{path}: its totals are {totals}, its manifest says {manifest.totals}")
    return rows


def found_rows(folder: Path, kind: Kind, user: str, since: str = "", until: str = "") -> Iterator[dict[str, Any]]:
    """A user's rows in the archive, by month, each with the names of its columns. Raises ArchiveError.

    `since` and `until` are times as the files have them, or a beginning such as `2026-03`; empty: without bound.
    """
    for manifest in manifests(folder):
        if manifest.kind != kind.name or manifest.last_at < since or (until and manifest.first_at >= until):
            continue
        for row in kind.named(read(folder, manifest)):
            is_wanted = str(row[kind.time]) >= since and (not until or str(row[kind.time]) < until)
            if is_wanted and user in (row[name] for name in kind.users):
                yield row


def set_aside(folder: Path, file: str) -> Path:
    """Move a file with its manifest to the folder of those that no database knows. Raises OSError."""
    target = folder / NOT_REGISTERED
    target.mkdir(parents=True, exist_ok=True)
    for path in (manifest_path(folder, file), folder / file):
        if path.exists():
            path.replace(target / f"{path.parent.parent.name}-{path.name}")
    return target


def _totals(kind: Kind, rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    totals = kind.totals(kind.named(rows))
    return {name: {asset: decimal_to_text(sum_) for asset, sum_ in sums.items()} for name, sums in totals.items()}


def _escaped(value: str | None) -> str:
    return _NULL if value is None else f"\\{value}" if value.startswith("\\") else value


def _unescaped(value: str) -> str | None:
    return None if value == _NULL else value[1:] if value.startswith("\\") else value


def _write_synced(path: Path, content: bytes) -> None:
    draft = path.with_name(path.name + _DRAFT)
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
