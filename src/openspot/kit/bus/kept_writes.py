"""Writes to a bucket. A write that fails because the bus is away is repeated when the bus is back."""

import asyncio
import time
from collections import OrderedDict
from typing import Generic, TypeVar

from openspot.kit.backoff import Backoff
from openspot.kit.bus.errors import KeyValueError
from openspot.kit.bus.key_value import KeyValueBucket

_REPEAT_S, _REPEAT_S_MAX = 0.1, 2.0
KEPT_MAX = 100_000
"""At most this many writes wait for the bus. A further one is not repeated, but its caller got the error."""

Value = TypeVar("Value")


class KeptWrites(Generic[Value]):
    """Writes keys of a bucket whose entries live for a limited time.

    A write that fails is repeated until it succeeds, or until its entry would have expired. Only the newest value of
    a key is kept. `run` repeats the writes.
    """

    def __init__(self, bucket: KeyValueBucket[Value], life_s: float) -> None:
        self._bucket = bucket
        self._life_s = life_s
        self._kept: OrderedDict[str, tuple[Value, float]] = OrderedDict()
        """By key: the value, and the time at which its entry expires (monotonic clock)."""
        self._has_kept = asyncio.Event()

    async def put(self, key: str, value: Value) -> None:
        """Write the key. Raises KeyValueError if that fails now; `run` then repeats the write."""
        try:
            await self._bucket.put(key, value)
        except KeyValueError:
            if key in self._kept or len(self._kept) < KEPT_MAX:
                self._kept[key] = (value, time.monotonic() + self._life_s)
                self._has_kept.set()
            raise
        self._kept.pop(key, None)

    async def run(self) -> None:
        """Repeat the writes that failed, until cancelled."""
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
