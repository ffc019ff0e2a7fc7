"""The lease of the translator: of several routers one translates, and another takes over within seconds.

The lease is a key with a short life in a NATS key-value bucket. Its holder renews it by its revision, so
that of two only one can; when renewing fails for the key's whole life, the holder counts it as lost from the
moment at which the key may be gone, by its own clock. Three fences keep a late holder, a process that was
paused, from doing harm: it looks at the lease before each batch; it saves its published position by
revision, and moves the rows' cursor from where it left it, both of which fail once another has gone on; and
message ids are the same whoever publishes.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import msgspec
import nats.errors
import nats.js.errors

from openspot.kit.log import get_logger
from openspot.router.schemas import Position
from openspot.router.store import FencedError

log = get_logger("lease")

LEASE_BUCKET = "router-lease"
POSITION_BUCKET = "router-position"
KEY = "translator"
TRY_PAUSE_S = 0.5

_BUS_ERRORS = (nats.errors.Error, TimeoutError, OSError)


class LeaseLostError(Exception):
    """This process no longer holds the lease."""


class Lease:
    """The lease as one process sees it. `monotonic` answers seconds of a clock that never goes back."""

    def __init__(self, bucket: Any, life_s: float, monotonic: Callable[[], float]) -> None:
        self._bucket = bucket
        self._life_s = life_s
        self._monotonic = monotonic
        self._holder = b""
        self._revision = 0
        self._held_until = 0.0

    @property
    def is_held(self) -> bool:
        """Whether this process surely holds the lease at this moment."""
        return self._monotonic() < self._held_until

    def check(self) -> None:
        """Raise LeaseLostError unless the lease is surely held."""
        if not self.is_held:
            raise LeaseLostError("the translator's lease was lost")

    async def acquire(self) -> None:
        """Wait until the lease is free and take it."""
        while True:
            began = self._monotonic()
            self._holder = secrets.token_hex(8).encode()
            try:
                # A fresh name for each attempt: a lost answer is told from another holder's key.
                self._revision = await self._within(self._bucket.create(KEY, self._holder))
            except nats.js.errors.KeyWrongLastSequenceError:
                pass
            except _BUS_ERRORS as error:
                log.warning("lease not tried", error=repr(error))
            else:
                self._held_until = began + self._life_s
                return
            await asyncio.sleep(TRY_PAUSE_S)

    async def keep(self) -> None:
        """Renew until cancelled. Raises LeaseLostError when it is lost."""
        while True:
            await asyncio.sleep(self._life_s / 4)
            began = self._monotonic()
            try:
                self._revision = await self._within(self._bucket.update(KEY, self._holder, last=self._revision))
            except nats.js.errors.KeyWrongLastSequenceError:
                if not await self._is_ours():
                    self._held_until = 0.0
                    raise LeaseLostError("another router holds the translator's lease") from None
            except _BUS_ERRORS as error:
                log.warning("lease not renewed", error=repr(error))
                self.check()
            else:
                self._held_until = began + self._life_s

    async def release(self) -> None:
        """Let another take it at once."""
        if not self.is_held:
            return
        self._held_until = 0.0
        try:
            await self._within(self._bucket.delete(KEY, last=self._revision))
        except _BUS_ERRORS as error:
            log.warning("lease not released: it ends by itself", error=repr(error))

    async def _is_ours(self) -> bool:
        """Whether the key is ours after all: a renewal whose answer was lost has moved the revision."""
        try:
            entry = await self._within(self._bucket.get(KEY))
        except _BUS_ERRORS:
            return False
        if entry.value != self._holder:
            return False
        self._revision = entry.revision
        return True

    async def _within(self, call: Any) -> Any:
        async with asyncio.timeout(self._life_s / 4):
            return await call


class PublishedPosition:
    """How far the engine's events are published: saved after the acknowledgements, by one process at a time."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket
        self._revision = 0

    async def load(self) -> Position | None:
        """The saved position, or None before the first. Raises nats.errors.Error if it cannot be read."""
        try:
            entry = await self._bucket.get(KEY)
        except nats.js.errors.KeyNotFoundError:
            self._revision = 0
            return None
        self._revision = entry.revision
        return msgspec.json.decode(entry.value, type=Position)

    async def save(self, position: Position) -> None:
        """Save. Raises FencedError if another process has saved since, nats.errors.Error if it cannot be done."""
        try:
            self._revision = await self._bucket.update(KEY, msgspec.json.encode(position), last=self._revision)
        except nats.js.errors.KeyWrongLastSequenceError as error:
            raise FencedError("the published position is no longer ours") from error
