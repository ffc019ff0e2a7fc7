"""Tells every process within moments that a key was rotated or revoked.

Whoever changes a key commits the change and then writes the key's id to a bucket of the bus. Each process that takes
keys watches the bucket. If the bus does not take the id, it is sent again until it does.
"""

import asyncio
from collections.abc import Callable

from openspot.contracts.subjects import API_KEYS_CHANGED_BUCKET, API_KEYS_CHANGED_LIFE_S
from openspot.http.api_keys.store import Ended
from openspot.kit.bus import Bus, Entry, KeptWrites, KeyValueError
from openspot.kit.tasks import end_tasks


class ChangeNotToldError(Exception):
    """The change of a key is committed, but the other processes could not be told yet."""


class KeyChanges:
    """Tells other processes about changed keys, and hears from them."""

    def __init__(self, bus: Bus, on_change: Callable[[Ended], None]) -> None:
        """`on_change` is called with every key that any process changes, this one included."""
        self._bucket = bus.key_value(API_KEYS_CHANGED_BUCKET, int, API_KEYS_CHANGED_LIFE_S)
        self._writes = KeptWrites(self._bucket, API_KEYS_CHANGED_LIFE_S)
        self._on_change = on_change
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start following the bucket, without waiting for it: a process that has just started has read no key yet."""
        self._tasks = [asyncio.create_task(self._bucket.watch(self._take)), asyncio.create_task(self._writes.run())]

    async def tell(self, ended: Ended) -> None:
        """Make every process drop the key's earlier versions.

        Raises ChangeNotToldError if the other processes could not be told. This one drops them already, and tells the
        others when the bus comes back.
        """
        self._on_change(ended)
        try:
            await self._writes.put(ended.key_id, ended.first_valid)
        except KeyValueError as error:
            raise ChangeNotToldError(str(error)) from error

    async def stop(self) -> None:
        """End the watch."""
        await end_tasks(*self._tasks)

    def _take(self, entry: Entry[int]) -> None:
        if entry.value is not None:
            self._on_change(Ended(entry.key, entry.value))
