"""Writes to a bucket that the bus did not take at first, and gets when it is back."""

import asyncio
import time
from collections import OrderedDict
from typing import Generic, TypeVar

from openspot.kit.backoff import Backoff
from openspot.kit.bus.errors import KeyValueError
from openspot.kit.bus.key_value import KeyValueBucket

_REPEAT_S, _REPEAT_S_MAX = 0.1, 2.0
KEPT_MAX = 100_000
"""Writes that wait for the bus. A write beyond that is not repeated; its caller has been told."""

Value = TypeVar("Value")


class KeptWrites(Generic[Value]):
    """Writes keys of a bucket whose entries live for a limited time.

    A write that fails is repeated until the bus takes it or its entry would have expired. Of one key, only the newest
    value is kept. `run` repeats the writes; without it they only wait.
    """

    def __init__(self, bucket: KeyValueBucket[Value], life_s: float) -> None:
        self._bucket = bucket
        self._life_s = life_s
        self._kept: OrderedDict[str, tuple[Value, float]] = OrderedDict()
        """Value, and when its entry would have expired (monotonic clock)."""
        self._has_kept = asyncio.Event()

    async def put(self, key: str, value: Value) -> None:
        """Write the key. Raises KeyValueError if the bus does not take it now; it is written later."""
        try:
            await self._bucket.put(key, value)
        except KeyValueError:
            if key in self._kept or len(self._kept) < KEPT_MAX:
                self._kept[key] = (value, time.monotonic() + self._life_s)
                self._has_kept.set()
            raise
        self._kept.pop(key, None)

    async def run(self) -> None:
        """Repeat what the bus did not take, until cancelled."""
        backoff = Backoff(_REPEAT_S, _REPEAT_S_MAX)
        while True:
            await self._has_kept.wait()
            while self._kept:
                key, kept = next(iter(self._kept.items()))
                value, expires = kept
                try:
                    if expires > time.monotonic():
                        await self._bucket.put(key, value)
                except KeyValueError:
                    await asyncio.sleep(backoff.failed())
                    continue
                backoff.succeeded()
                if self._kept.get(key) is kept:
                    del self._kept[key]
            self._has_kept.clear()
