"""Answers that take long to find: all who ask share one search, and its answer stays for a while."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from openspot.kit.single_flight import SingleFlight

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_REST = 9
_KEPT_FROM_S = 0.02
_KEPT_MAX = 16


class KeptAnswers(Generic[Key, Value]):
    """Calls `find` for one key at a time, and gives an answer again for nine times as long as finding it took.

    So searches for one key take at most a tenth of the time, however many ask. A quick answer is not kept.
    """

    def __init__(self, find: Callable[[Key], Awaitable[Value]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._find = find
        self._clock = clock
        self._flight = SingleFlight(self._found)
        self._one_at_a_time = asyncio.Lock()
        self._kept: dict[Key, tuple[float, Value]] = {}

    async def get(self, key: Key) -> Value:
        """Return the answer for `key`. Raises what `find` raises."""
        until, value = self._kept.get(key, (0.0, None))
        if value is not None and self._clock() < until:
            return value
        return await self._flight.get(key)

    async def _found(self, key: Key) -> Value:
        async with self._one_at_a_time:
            started = self._clock()
            value = await self._find(key)
            ended = self._clock()
        self._kept.pop(key, None)
        if ended - started >= _KEPT_FROM_S:
            self._kept[key] = ended + _REST * (ended - started), value
            if len(self._kept) > _KEPT_MAX:
                del self._kept[next(iter(self._kept))]
        return value
