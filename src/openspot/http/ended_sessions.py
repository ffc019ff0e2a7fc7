"""Follows the sessions that the REST edge ends, so that another service refuses their tokens within moments."""

import asyncio
import time

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.http.authentication import RevokedSessions
from openspot.kit.bus import Bus, BusUnavailableError, Entry
from openspot.kit.database import Connection
from openspot.kit.tasks import end_tasks

_IS_OVER = """
    SELECT EXISTS (SELECT FROM refresh_tokens WHERE family_id = $1 AND used_at IS NULL AND revoked_at IS NOT NULL)
"""
CATCH_UP_S_MAX = 30.0
FORGET_S = 10.0


class SessionOverError(Exception):
    """The session that asks has ended: nothing is added."""


async def is_over(connection: Connection, session_id: str) -> bool:
    """Whether a session was ended, also before the bus tells of it.

    Whoever ends it and removes what it left asks for no more, so the user's rows must be locked first.
    """
    return bool(await connection.fetchval(_IS_OVER, session_id))


class EndedSessionsFollower:
    """Keeps `revoked` equal to the bucket of ended sessions."""

    def __init__(self, bus: Bus, revoked: RevokedSessions, life_s: int) -> None:
        """`life_s` is how long an ended session is remembered (`UserTokenSettings.ended_session_life_s`)."""
        self._revoked = revoked
        self._life_s = life_s
        self._bucket = bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, life_s)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Read the bucket, then follow it. Raises BusUnavailableError if it cannot be read."""
        caught_up = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._bucket.watch(self._take, caught_up.set)),
            asyncio.create_task(self._forget_expired()),
        ]
        try:
            async with asyncio.timeout(CATCH_UP_S_MAX):
                await caught_up.wait()
        except TimeoutError as error:
            await self.stop()
            raise BusUnavailableError("the bucket of ended sessions cannot be read") from error

    async def stop(self) -> None:
        """End the watch."""
        await end_tasks(*self._tasks)

    def _take(self, entry: Entry[bytes]) -> None:
        if entry.value is not None:
            # The clock of the bus may be minutes behind. By its time alone tokens would work again before they expire.
            self._revoked.add(entry.key, max(entry.created_ms / 1000, time.time()) + self._life_s)

    async def _forget_expired(self) -> None:
        while True:
            await asyncio.sleep(FORGET_S)
            self._revoked.forget_expired(time.time())
