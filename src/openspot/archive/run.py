"""A run of the archive: old rows go into files, batch by batch, and then out of the database.

For each batch: the file and its manifest are on disk; the file is registered; its rows are read back from it, compared
with the table, and removed in one transaction. A run that ended between two of these steps is finished by the next: a
registered file whose rows are still there has them removed, and a file that nobody registered is set aside.

A batch is read by pages of the table, in a statement of its own. So no transaction lasts longer than a batch, and no
index is needed to find what is old.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from openspot.archive.files import ArchiveError, Manifest, manifests, read, set_aside, write
from openspot.archive.kinds import KINDS, Kind, Row
from openspot.archive.store import ArchiveStore, Compacted, Selection, open_store

ROWS_PER_FILE = 20_000
"""So many rows are written and removed together; on the last page of a range there may be more."""
PAGES_AT_A_TIME = 256

Step = Callable[[str], None]
"""Is told the name of each step that is done."""


@dataclass(slots=True)
class Moved:
    """What a run moved, or with `is_dry` would move: rows by kind and month, and the files that are new."""

    is_dry: bool
    rows: dict[str, dict[str, int]] = field(default_factory=dict)
    files: list[Manifest] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, kind: Kind, month: str, rows: int) -> None:
        """Count rows."""
        months = self.rows.setdefault(kind.name, {})
        months[month] = months.get(month, 0) + rows


async def archive(
    database_url: str, folder: Path, before: Mapping[str, datetime], *, is_dry: bool, step: Step = lambda _: None
) -> Moved:
    """Move the rows of each kind in `before` that are older than its time. Raises ArchiveError and OSError."""
    moved = Moved(is_dry)
    async with open_store(database_url) as store:
        if not is_dry:
            await _finish(store, folder, moved, step)
        for name, kind in KINDS.items():
            if name not in before:
                continue
            selection = await store.select(kind, before[name])
            if selection is not None:
                await _Run(store, folder, selection, moved, step).move()
    return moved


async def compact(database_url: str, names: Collection[str]) -> list[Compacted]:
    """Make the indexes of these kinds' tables anew. Raises ArchiveError."""
    async with open_store(database_url) as store:
        return [each for kind in KINDS.values() if kind.name in names for each in await store.compact(kind)]


async def _finish(store: ArchiveStore, folder: Path, moved: Moved, step: Step) -> None:
    """Finish what an earlier run left."""
    known = await store.registered()
    found = {manifest.file: manifest for manifest in manifests(folder)}
    for file in found.keys() - known.keys():
        target = set_aside(folder, file)
        moved.notes.append(f"{file} was never registered, its rows are in the database: set aside in {target}")
        step("set aside")
    for file, sha256 in (await store.registered("written")).items():
        manifest = found.get(file)
        if manifest is None or manifest.sha256 != sha256:
            # The rows are all there, so the file is not needed.
            await store.forget(file)
            moved.notes.append(f"{file} is gone or not what was registered; its rows are in the database, and stay")
            continue
        await _remove(store, folder, manifest, moved, step)


async def _remove(store: ArchiveStore, folder: Path, manifest: Manifest, moved: Moved, step: Step) -> None:
    """Remove the rows that a registered file holds."""
    rows = read(folder, manifest)
    kind = KINDS[manifest.kind]
    if await store.remove(kind, manifest.file, rows):
        moved.files.append(manifest)
        step("removed")
        return
    await store.forget(manifest.file)
    target = set_aside(folder, manifest.file)
    raise ArchiveError(
        f"{manifest.file}: its rows have changed since it was written. Nothing was removed, the file was set aside in "
        f"{target}. Run the same command again"
    )


class _Run:
    """The rows of one kind."""

    def __init__(self, store: ArchiveStore, folder: Path, selection: Selection, moved: Moved, step: Step) -> None:
        self._store = store
        self._folder = folder
        self._selection = selection
        self._moved = moved
        self._step = step
        self._months: defaultdict[str, list[Row]] = defaultdict(list)
        self._is_raised = False

    async def move(self) -> None:
        """Move all of them, or count them."""
        kind = self._selection.kind
        pages = await self._store.pages(kind)
        for first in range(0, pages, PAGES_AT_A_TIME):
            for row in await self._store.find(self._selection, first, first + PAGES_AT_A_TIME):
                self._months[kind.month_of(row)].append(row)
            for month in [name for name, rows in self._months.items() if len(rows) >= ROWS_PER_FILE]:
                await self._flush(month)
        for month in sorted(self._months):
            await self._flush(month)
        if self._is_raised:
            await self._store.make_room(kind)
            self._step("room")

    async def _flush(self, month: str) -> None:
        rows, kind = self._months.pop(month), self._selection.kind
        self._moved.add(kind, month, len(rows))
        if self._moved.is_dry:
            return
        if not self._is_raised:
            await self._store.raise_floor(self._selection)
            self._is_raised = True
            self._step("floor")
        manifest = write(self._folder, kind, month, rows)
        self._step("written")
        await self._store.register(manifest)
        self._step("registered")
        await _remove(self._store, self._folder, manifest, self._moved, self._step)
