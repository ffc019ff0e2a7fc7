"""The lease of the translator: one of several routers translates, and another takes over within seconds.

The lease is a key with a short life in a bucket of the bus. A renewal names the key's last revision, so only one of two
routers can renew it. If no renewal succeeds, the holder treats the lease as lost as soon as the key may have expired by
the holder's own clock.

A holder that was paused may come back late and still believe that it holds the lease. Three things prevent harm. The
holder checks the lease before each batch. It saves the published position by revision, and moves the cursor of the rows
from its last value: both fail if another router has taken over. And every router gives an event the same message ids.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from openspot.kit.bus import KeyValueBucket, KeyValueError, WrongRevisionError
from openspot.kit.log import get_logger
from openspot.router.store import FencedError
from openspot.router.stream_position import Position

log = get_logger("lease")

LEASE_BUCKET = "router-lease"
POSITION_BUCKET = "router-position"
KEY = "translator"
TRY_PAUSE_S = 0.5

Result = TypeVar("Result")


class LeaseLostError(Exception):
    """This process no longer holds the lease."""


class Lease:
    """The lease as one process sees it. `monotonic` returns seconds of a clock that never goes back."""

    def __init__(self, bucket: KeyValueBucket[bytes], life_s: float, monotonic: Callable[[], float]) -> None:
        self._bucket = bucket
        self._life_s = life_s
        self._monotonic = monotonic
        self._holder = b""
        self._revision = 0
        self._held_until = 0.0

    @property
    def is_held(self) -> bool:
        """Whether this process is certain to hold the lease now."""
        return self._monotonic() < self._held_until

    def check(self) -> None:
        """Raise LeaseLostError unless this process is certain to hold the lease."""
        if not self.is_held:
            raise LeaseLostError("the translator's lease was lost")

    async def acquire(self) -> None:
        """Wait until the lease is free, and take it."""
        while True:
            began = self._monotonic()
            # Each attempt has a new name: if the reply is lost, the name shows whose key it is.
            self._holder = secrets.token_hex(8).encode()
            try:
                self._revision = await self._within(self._bucket.create(KEY, self._holder))
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
                self._revision = await self._within(self._bucket.put(KEY, self._holder, self._revision))
            except WrongRevisionError:
                if not await self._is_ours():
                    self._held_until = 0.0
                    raise LeaseLostError("another router holds the translator's lease") from None
            except (KeyValueError, TimeoutError) as error:
                log.warning("lease not renewed", error=repr(error))
                self.check()
            else:
                self._held_until = began + self._life_s

    async def release(self) -> None:
        """Give the lease up, so that another process can take it at once."""
        if not self.is_held:
            return
        self._held_until = 0.0
        try:
            await self._within(self._bucket.delete(KEY, self._revision))
        except (KeyValueError, TimeoutError) as error:
            log.warning("lease not released: it expires by itself", error=repr(error))

    async def _is_ours(self) -> bool:
        """Whether the key is still ours. A renewal whose reply was lost has changed the revision."""
        try:
            entry = await self._within(self._bucket.get(KEY))
        except (KeyValueError, TimeoutError):
            return False
        if entry is None or entry.value != self._holder:
            return False
        self._revision = entry.revision
        return True

    async def _within(self, call: Coroutine[Any, Any, Result]) -> Result:
        async with asyncio.timeout(self._life_s / 4):
            return await call


class PublishedPosition:
    """The position up to which the engine's events are published. It is saved after the bus has acknowledged them."""

    def __init__(self, bucket: KeyValueBucket[Position]) -> None:
        self._bucket = bucket
        self._revision = 0

    async def load(self) -> Position | None:
        """The saved position, or None before the first one. Raises KeyValueError if it cannot be read."""
        entry = await self._bucket.get(KEY)
        self._revision = 0 if entry is None else entry.revision
        return None if entry is None else entry.value

    async def save(self, position: Position) -> None:
        """Save. Raises FencedError if another process has saved since, KeyValueError if the bus fails."""
        try:
            self._revision = await self._bucket.put(KEY, position, self._revision)
        except WrongRevisionError as error:
            raise FencedError("the published position is no longer ours") from error
