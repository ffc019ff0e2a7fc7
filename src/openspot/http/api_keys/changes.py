"""Rotated and revoked keys, known to every process within moments.

Whoever changes a key commits the change and then writes the key's id to a bucket of the bus. Each process that takes
keys watches the bucket.
"""

import asyncio
from collections.abc import Callable

from openspot.contracts.subjects import API_KEYS_CHANGED_BUCKET
from openspot.http.api_keys.store import Ended
from openspot.kit.bus import Bus, Entry, KeyValueError
from openspot.kit.tasks import end_tasks

LIFE_S = 3600.0
"""How long the bucket keeps an entry: for processes that lose the bus for a while."""


class ChangeNotToldError(Exception):
    """The change of a key is committed, but the other processes could not be told."""


class KeyChanges:
    """Tells other processes about changed keys, and hears from them."""

    def __init__(self, bus: Bus, on_change: Callable[[Ended], None]) -> None:
        """`on_change` is called with every key that any process changes, this one included."""
        self._bucket = bus.key_value(API_KEYS_CHANGED_BUCKET, int, LIFE_S)
        self._on_change = on_change
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow the bucket. Nobody waits for it: a process that has just begun has read no key yet."""
        self._watching = asyncio.create_task(self._bucket.watch(self._take))

    async def tell(self, ended: Ended) -> None:
        """Make every process drop the key's earlier versions. Raises ChangeNotToldError; this process drops them."""
        self._on_change(ended)
        try:
            await self._bucket.put(ended.key_id, ended.first_valid)
        except KeyValueError as error:
            raise ChangeNotToldError(str(error)) from error

    async def stop(self) -> None:
        """End the watch."""
        if self._watching is not None:
            await end_tasks(self._watching)

    def _take(self, entry: Entry[int]) -> None:
        if entry.value is not None:
            self._on_change(Ended(entry.key, entry.value))
