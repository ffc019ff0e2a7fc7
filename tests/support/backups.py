"""Backups of a platform of a test, and what is restored from them."""

import asyncio
import itertools
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from openspot.backup.create import PLATFORM, back_up
from openspot.backup.manifest import Manifest, Place
from openspot.backup.restore import EngineTerms, Point, Restored, Target, choose, restore
from openspot.backup.sealing import Seal
from openspot.backup.storage import FolderStorage, Storage
from openspot.engine.core.selection import make_core
from openspot.engine.engine import journal_path
from openspot.engine.journal.journal import JournalReader
from openspot.kit.settings import Settings
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.fixtures import platform_settings

EVENTS_SKIPPED = 1000
EVERYTHING = Point()
_serial = itertools.count(1)


class BackupSite:
    """A folder of backups, or another storage. Restored databases are new ones on the server of the tests."""

    def __init__(
        self, folder: Path, server: EmbeddedPostgres, seal: Seal | None = None, storage: Storage | None = None
    ) -> None:
        self.folder = folder
        self.storage = storage or FolderStorage(folder)
        self.seal = seal or Seal()
        self._server = server

    @property
    def place(self) -> Place:
        """The place of the backups."""
        return Place(self.storage, self.seal)

    async def back_up(self, settings: Any, **given: Any) -> Manifest:
        """Back up a platform while it runs."""
        arguments = {
            "data_dir": settings.data_dir,
            "journal": journal_path(settings),
            "databases": {PLATFORM: settings.database_url},
            "archive": settings.archive_folder,
            "storage": self.storage,
            "seal": self.seal,
            "keep": 10,
        }
        return await asyncio.to_thread(partial(back_up, **arguments | given))

    async def restore(
        self,
        data_dir: Path,
        nats_url: str,
        point: Point = EVERYTHING,
        *,
        name: str = "",
        url: str = "",
        archive: Path | None = None,
        **given: Any,
    ) -> tuple[Restored, Settings]:
        """Restore to a new data directory. Returns the settings of the restored platform, too."""
        url = url or self.empty_database()
        settings = platform_settings(data_dir, url, nats_url)
        settings = settings.model_copy(update={"archive_dir": str(archive or "")})

        @contextmanager
        def databases(draft: Path, names: list[str]) -> Iterator[Mapping[str, str]]:
            assert names == [PLATFORM]
            yield {PLATFORM: url}

        target = Target(data_dir, journal_path(settings), settings.archive_folder, databases, lambda: None)
        target = target._replace(clear=partial(shutil.rmtree, target.draft, ignore_errors=True))
        terms = EngineTerms(
            partial(make_core, "auto"), settings.engine_orders_remembered, settings.engine_event_retention
        )
        chosen = choose(self.place, point, name)
        work = partial(restore, self.place, chosen, point, target, terms, EVENTS_SKIPPED, **given)
        return await asyncio.to_thread(work), settings

    def empty_database(self) -> str:
        """The address of a new database."""
        name = f"restored_{next(_serial)}"
        self._server.ensure_database(name)
        return self._server.url(name)


def state_at(settings: Any, command: int) -> tuple[int, str]:
    """(event, state hash) of a journal after a command that ends a batch."""
    core = make_core("auto")
    with closing(JournalReader(journal_path(settings))) as reader:
        for batch in reader.read():
            if batch.last_sequence > command:
                break
            core.apply(batch.commands)
    assert core.command_sequence == command
    return core.event_sequence, core.state_hash()
