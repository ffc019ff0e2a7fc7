"""Who computes results now: one request of a user at a time, and a few in all.

Whoever waits for a turn holds no connection. A computation may take a minute, and its connection is one of the pool
that all readers and the followers of fills share.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from openspot.http.errors import service_unavailable

COMPUTATIONS_MAX = 4
"""So many users' results are computed at a time."""


class Turns:
    """The computations under way in this process."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(COMPUTATIONS_MAX)
        self._users: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, user_id: str, wait_s: float | None = None) -> AsyncIterator[None]:
        """Wait for the user's turn and for a place, and hold both.

        Raises HttpError (503) if that takes longer than `wait_s`; None: it takes as long as it takes.
        """
        turn = self._users.setdefault(user_id, asyncio.Lock())
        try:
            async with asyncio.timeout(wait_s):
                await turn.acquire()
                try:
                    await self._places.acquire()
                except BaseException:
                    turn.release()
                    raise
        except TimeoutError as error:
            message = "too many results are being computed: try again in a moment"
            raise service_unavailable(message, "TOO_MANY_COMPUTATIONS") from error
        try:
            yield
        finally:
            self._places.release()
            turn.release()
