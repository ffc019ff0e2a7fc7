"""Ended sessions, known to every process of the edge within moments.

A logout revokes the session's refresh tokens in the database, and writes the session's id to a bucket of the bus whose
entries live as long as an access token. Each process watches the bucket, so that a token check is a look-up in a small
dictionary. A process that starts reads the database first. If the bus does not take the id, it is sent again until it
does.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import timedelta

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.http.authentication import RevokedSessions
from openspot.kit.backoff import Backoff
from openspot.kit.bus import Bus, Entry, KeyValueError
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks

log = get_logger("sessions")

_CATCH_UP_S_MAX = 10.0
_FORGET_S = 10.0
_TELL_S, _TELL_S_MAX = 0.1, 2.0
_UNTOLD_MAX = 100_000
"""Ended sessions that the bus has not taken yet. Beyond that, the end is told to nobody else."""


class SessionsUnavailableError(Exception):
    """The end of a session could not be told to the other processes."""


class EndedSessions:
    """Ends sessions in all processes, and follows what other processes end."""

    def __init__(self, bus: Bus, revoked: RevokedSessions, life_s: int) -> None:
        """`life_s` is how long an ended session is remembered (`Settings.ended_session_life_s`)."""
        self._revoked = revoked
        self._life_s = life_s
        self._bucket = bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, self._life_s)
        self._tasks: list[asyncio.Task[None]] = []
        self._untold: dict[str, float] = {}
        """Sessions of which the other processes do not know yet, and when their last access tokens expire."""
        self._has_untold = asyncio.Event()

    @property
    def life(self) -> timedelta:
        """How long the end of a session has to be remembered."""
        return timedelta(seconds=self._life_s)

    async def start(self, ended: Iterable[str]) -> None:
        """Refuse the sessions that have `ended` already, then follow the bucket.

        Raises SessionsUnavailableError if the bucket cannot be read.
        """
        for session_id in ended:
            self._revoked.add(session_id, time.time() + self._life_s)
        caught_up = asyncio.Event()
        watching = asyncio.create_task(self._bucket.watch(self._take, caught_up.set))
        self._tasks = [
            watching,
            asyncio.create_task(self._forget_expired()),
            asyncio.create_task(self._tell_again()),
        ]
        try:
            async with asyncio.timeout(_CATCH_UP_S_MAX):
                await caught_up.wait()
        except TimeoutError as error:
            await self.stop()
            raise SessionsUnavailableError("the bucket of ended sessions cannot be read") from error

    async def end(self, session_id: str) -> None:
        """Refuse the session's access tokens from now on.

        Raises SessionsUnavailableError if the other processes could not be told. This one refuses them already, and
        tells the others when the bus comes back.
        """
        until = time.time() + self._life_s
        self._revoked.add(session_id, until)
        try:
            await self._bucket.put(session_id, b"")
        except KeyValueError as error:
            if len(self._untold) < _UNTOLD_MAX:
                self._untold[session_id] = until
                self._has_untold.set()
            raise SessionsUnavailableError(str(error)) from error

    async def end_as_far_as_possible(self, session_ids: Iterable[str]) -> None:
        """End sessions whose refresh tokens are revoked already. If the bus does not respond, the others learn of it
        when it comes back.
        """
        for session_id in session_ids:
            try:
                await self.end(session_id)
            except SessionsUnavailableError as error:
                log.warning("the end of a session is not told to other processes yet", error=str(error))

    async def stop(self) -> None:
        """End the watch."""
        await end_tasks(*self._tasks)

    def _take(self, entry: Entry[bytes]) -> None:
        if entry.value is not None:
            self._revoked.add(entry.key, entry.created_ms / 1000 + self._life_s)

    async def _forget_expired(self) -> None:
        while True:
            await asyncio.sleep(_FORGET_S)
            self._revoked.forget_expired(time.time())

    async def _tell_again(self) -> None:
        """Tell the others what the bus did not take at first."""
        backoff = Backoff(_TELL_S, _TELL_S_MAX)
        while True:
            await self._has_untold.wait()
            session_id, until = next(iter(self._untold.items()))
            try:
                if until > time.time():
                    await self._bucket.put(session_id, b"")
            except KeyValueError:
                await asyncio.sleep(backoff.failed())
                continue
            backoff.succeeded()
            del self._untold[session_id]
            if not self._untold:
                self._has_untold.clear()
