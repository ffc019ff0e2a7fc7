"""Ended sessions, known to every process of the edge within moments.

A logout revokes the session's refresh tokens in the database, and writes its id to a bucket of the bus whose
entries live as long as an access token. Each process watches the bucket, so that a token check is a look into
a small dictionary and asks nobody. A process that starts reads the database first; one that loses the bus reads
the bucket again afterwards.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import nats.errors
import nats.js.errors

from openspot.http.authentication import RevokedSessions
from openspot.kit.bus import Bus
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks

log = get_logger("sessions")

BUCKET = "sessions-revoked"
# A clock that is a little behind must not outlive the entry.
_MARGIN_S = 60
_WATCH_S = 10.0
_PAUSE_S = 1.0
_BUS_FAULTS = (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError)


class SessionsUnavailableError(Exception):
    """The end of a session could not be told to the other processes."""


class EndedSessions:
    """Ends sessions here and everywhere, and follows what others end."""

    def __init__(self, bus: Bus, revoked: RevokedSessions, access_token_s: int) -> None:
        self._bus = bus
        self._revoked = revoked
        self._life_s = access_token_s + _MARGIN_S
        self._bucket: Any = None
        self._task: asyncio.Task[None] | None = None

    @property
    def life(self) -> timedelta:
        """How long the end of a session has to be remembered."""
        return timedelta(seconds=self._life_s)

    async def start(self, ended: Iterable[str]) -> None:
        """Begin with the sessions that have `ended` already, then follow. Raises SessionsUnavailableError."""
        for session_id in ended:
            self._revoked.add(session_id, time.time() + self._life_s)
        try:
            self._bucket = await self._bus.key_value(BUCKET, ttl_s=self._life_s)
            watcher = await self._bucket.watchall()
        except _BUS_FAULTS as error:
            raise SessionsUnavailableError(repr(error)) from error
        self._task = asyncio.create_task(self._follow(watcher))

    async def end(self, session_id: str) -> None:
        """Refuse the session's access tokens from now on.

        Raises SessionsUnavailableError if the other processes could not be told; this one refuses them already.
        """
        self._revoked.add(session_id, time.time() + self._life_s)
        try:
            await self._bucket.put(session_id, b"")
        except _BUS_FAULTS as error:
            raise SessionsUnavailableError(repr(error)) from error

    async def stop(self) -> None:
        """End the watch."""
        if self._task is not None:
            await end_tasks(self._task)

    async def _follow(self, watcher: Any) -> None:
        while True:
            try:
                watcher = watcher or await self._bucket.watchall()
                await self._take(watcher)
                await watcher.stop()
            except _BUS_FAULTS as error:
                log.warning("ended sessions not followed", error=repr(error))
                await asyncio.sleep(_PAUSE_S)
            self._revoked.forget_expired(time.time())
            watcher = None

    async def _take(self, watcher: Any) -> None:
        """Take entries for a while. A watch that is begun anew starts with all that the bucket holds."""
        until = time.monotonic() + _WATCH_S
        while (rest := until - time.monotonic()) > 0:
            try:
                entry = await watcher.updates(timeout=rest)
            except nats.errors.TimeoutError:
                return
            if entry is not None and entry.operation is None:
                ended = entry.created.timestamp() if entry.created is not None else time.time()
                self._revoked.add(entry.key, ended + self._life_s)
