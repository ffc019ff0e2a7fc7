"""Checks the archive, and brings its rows back into the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openspot.archive.files import ArchiveError, manifests, read, set_aside
from openspot.archive.kinds import KINDS, Kind
from openspot.archive.store import open_store


@dataclass(slots=True)
class Checked:
    """How much of the archive is sound, by kind, and what is wrong."""

    files: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


async def verify(folder: Path, database_url: str = "") -> Checked:
    """Read every file, compare its checksum, its rows and its totals with its manifest.

    With a database, the files must also be those that it has registered. Raises ArchiveError if it does not answer.
    """
    checked = Checked()
    sums: dict[str, str] = {}
    try:
        found = manifests(folder)
    except ArchiveError as error:
        checked.problems.append(str(error))
        return checked
    for manifest in found:
        sums[manifest.file] = manifest.sha256
        try:
            rows = read(folder, manifest)
        except ArchiveError as error:
            checked.problems.append(str(error))
            continue
        checked.files[manifest.kind] = checked.files.get(manifest.kind, 0) + 1
        checked.rows[manifest.kind] = checked.rows.get(manifest.kind, 0) + len(rows)
    if database_url:
        async with open_store(database_url) as store:
            known = await store.registered()
        for file in sorted(known.keys() - sums.keys()):
            checked.problems.append(f"{file}: the database has registered it, and it is not there")
        for file in sorted(sums.keys() - known.keys()):
            checked.problems.append(f"{file}: the database does not know it")
        for file in sorted(known.keys() & sums.keys()):
            if known[file] != sums[file]:
                checked.problems.append(f"{file}: the database has registered another SHA-256")
    return checked


async def restore(
    database_url: str, folder: Path, kinds: Sequence[Kind], step: Callable[[str], None] = lambda _: None
) -> dict[str, int]:
    """Bring all rows of these kinds back, and return how many by kind.

    The files stay, set aside. A restore that ended half way goes on when it is repeated. Raises ArchiveError, OSError.
    """
    restored: dict[str, int] = {}
    async with open_store(database_url) as store:
        known = await store.registered()
        found = {manifest.file: manifest for manifest in manifests(folder)}
        wanted = {kind.name: kind for kind in KINDS.values() if kind in kinds}
        for file in found.keys() - known.keys():
            # An earlier restore ended before it did that.
            set_aside(folder, file)
        still_there = await store.registered("written")
        for file, sha256 in known.items():
            name = file.split("/")[0]
            if name not in wanted:
                continue
            manifest = found.get(file)
            if manifest is None or manifest.sha256 != sha256:
                raise ArchiveError(f"{folder / file}: it is not there, or not what was registered")
            rows = read(folder, manifest)
            if file in still_there:
                await store.forget(file)
            else:
                await store.restore(wanted[name], file, rows)
                restored[name] = restored.get(name, 0) + len(rows)
            step("restored")
            set_aside(folder, file)
            step("set aside")
        for kind in wanted.values():
            await store.drop_floor(kind)
    return restored
