"""Records when keys were last used: in batches, some seconds late, so that no request waits for it."""

import asyncio

from openspot.http.api_keys.checker import ApiKeyChecker
from openspot.http.api_keys.store import ApiKeyStore
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks

log = get_logger("api_keys")

WRITE_INTERVAL_S = 30.0


class UseRecorder:
    """Writes the uses that a checker has noted."""

    def __init__(self, checker: ApiKeyChecker, store: ApiKeyStore) -> None:
        self._checker = checker
        self._store = store
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start writing."""
        self._task = asyncio.create_task(self._write_all())

    async def stop(self) -> None:
        """Stop writing after one last attempt to write the rest."""
        if self._task is not None:
            await end_tasks(self._task)
            await self._write()

    async def _write_all(self) -> None:
        while True:
            await asyncio.sleep(WRITE_INTERVAL_S)
            await self._write()

    async def _write(self) -> None:
        uses = self._checker.take_uses()
        if not uses:
            return
        try:
            await self._store.note_uses(uses)
        except TRANSIENT_ERRORS as error:
            self._checker.give_back_uses(uses)
            log.warning("uses of API keys not recorded yet", keys=len(uses), error=repr(error))
