"""A lease: one of several processes holds it and works, and another takes over within seconds.

The lease is a key with a short life in a bucket of the bus. A renewal names the key's last revision, so only one of two
processes can renew it. If renewals fail, the holder treats the lease as lost when the key may have expired by the
holder's own clock.

A holder that was paused may still believe that it holds the lease. So it calls `check` before each piece of work. That
is not enough for writes to other places: those need a fence of their own, which refuses an earlier holder.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from openspot.kit.bus import KeyValueBucket, KeyValueError, WrongRevisionError
from openspot.kit.log import get_logger

log = get_logger("lease")

TRY_PAUSE_S = 0.5

Result = TypeVar("Result")


class LeaseLostError(Exception):
    """This process no longer holds the lease."""


class LeaseBus(Protocol):
    """What a lease needs of the bus."""

    def key_value(self, bucket: str, value_type: type[bytes], life_s: float | None = None) -> KeyValueBucket[bytes]:
        """The bucket of that name, whose entries expire after `life_s` seconds."""


class Lease:
    """A lease as one process sees it. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, bucket: KeyValueBucket[bytes], key: str, life_s: float, monotonic: Callable[[], float]) -> None:
        """`key` names the lease in `bucket`, whose entries must expire after `life_s` seconds."""
        self._bucket = bucket
        self._key = key
        self._life_s = life_s
        self._monotonic = monotonic
        self._holder = b""
        self._revision = 0
        self._held_until = 0.0

    @classmethod
    def on(cls, bus: LeaseBus, bucket: str, key: str, life_s: float) -> "Lease":
        """The lease `key` in a bucket of `bus` that holds only leases with this life."""
        return cls(bus.key_value(bucket, bytes, life_s), key, life_s, time.monotonic)

    @property
    def life_s(self) -> float:
        """Seconds for which the lease outlives its last renewal."""
        return self._life_s

    @property
    def is_held(self) -> bool:
        """Whether this process is certain to hold the lease now."""
        return self._monotonic() < self._held_until

    def check(self) -> None:
        """Raise LeaseLostError unless this process is certain to hold the lease."""
        if not self.is_held:
            raise LeaseLostError(f"the lease {self._key} was lost")

    async def acquire(self) -> None:
        """Wait until the lease is free, and take it."""
        while True:
            began = self._monotonic()
            # Each attempt writes a new name. If the reply is lost, the name shows whose key it is.
            self._holder = secrets.token_hex(8).encode()
            try:
                self._revision = await self._within(self._bucket.create(self._key, self._holder))
            except WrongRevisionError:
                pass
            except (KeyValueError, TimeoutError) as error:
                log.warning("attempt to take the lease failed", error=repr(error))
            else:
                self._held_until = began + self._life_s
                return
            await asyncio.sleep(TRY_PAUSE_S)

    async def keep(self) -> None:
        """Renew the lease until cancelled. Raises LeaseLostError when it is lost."""
        while True:
            await asyncio.sleep(self._life_s / 4)
            began = self._monotonic()
            try:
                self._revision = await self._within(self._bucket.put(self._key, self._holder, self._revision))
            except WrongRevisionError:
                if not await self._is_ours():
                    self._held_until = 0.0
                    raise LeaseLostError(f"another process holds the lease {self._key}") from None
            except (KeyValueError, TimeoutError) as error:
                log.warning("lease not renewed", error=repr(error))
                self.check()
            else:
                self._held_until = began + self._life_s

    async def release(self) -> None:
        """Release the lease, so that another process can take it at once."""
        if not self.is_held:
            return
        self._held_until = 0.0
        try:
            await self._within(self._bucket.delete(self._key, self._revision))
        except (KeyValueError, TimeoutError) as error:
            log.warning("lease not released: it expires by itself", error=repr(error))

    async def _is_ours(self) -> bool:
        """Whether the key still has our name. Its revision may differ: the reply to a renewal may be lost."""
        try:
            entry = await self._within(self._bucket.get(self._key))
        except (KeyValueError, TimeoutError):
            return False
        if entry is None or entry.value != self._holder:
            return False
        self._revision = entry.revision
        return True

    async def _within(self, call: Coroutine[Any, Any, Result]) -> Result:
        async with asyncio.timeout(self._life_s / 4):
            return await call
