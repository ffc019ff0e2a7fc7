"""Single flight: concurrent callers that want the same value share one call."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """Calls `fetch` at most once at a time for each key."""

    def __init__(self, fetch: Callable[[Key], Awaitable[Value]]) -> None:
        self._fetch = fetch
        self._under_way: dict[Key, asyncio.Task[Value]] = {}

    async def get(self, key: Key) -> Value:
        """Return the value of `key`. Joins a call that is already under way. Raises what `fetch` raises."""
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.ensure_future(self._fetched(key))
            task.add_done_callback(_look_at_outcome)
        # If this caller is cancelled, the call goes on: others may wait for it.
        return await asyncio.shield(task)

    async def _fetched(self, key: Key) -> Value:
        try:
            return await self._fetch(key)
        finally:
            del self._under_way[key]


def _look_at_outcome(task: asyncio.Task[Any]) -> None:
    # If every caller was cancelled, nobody retrieves the exception, and asyncio would log it as lost.
    if not task.cancelled():
        task.exception()
