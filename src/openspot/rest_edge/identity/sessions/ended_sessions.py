"""Tells every process of the edge within moments that a session has ended.

A logout revokes the session's refresh tokens in the database, and writes the session's id to a bucket of the bus whose
entries live as long as an access token. Each process watches the bucket, so that a token check is a look-up in a small
dictionary. If the bus does not take the id, it is sent again until it does.

A process may die after the database has taken the end of a session and before the bus has. So a process that starts,
and every process now and then, reads from the database which sessions have ended, and tells of those that nobody has
told of.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import timedelta

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.http.authentication import RevokedSessions
from openspot.http.ended_sessions import EndedSessionsFollower
from openspot.kit.bus import Bus, BusUnavailableError, KeptWrites, KeyValueError
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks

log = get_logger("sessions")

UNTOLD_INTERVAL_S = 10.0
"""Every edge looks this often for sessions whose end nobody has told of."""


class SessionsUnavailableError(Exception):
    """The end of a session could not be announced to the other processes."""


class EndedSessions:
    """Ends sessions in all processes, and follows the sessions that other processes end."""

    def __init__(self, bus: Bus, revoked: RevokedSessions, life_s: int) -> None:
        """An ended session is remembered for `life_s` seconds (`Settings.ended_session_life_s`)."""
        self._revoked = revoked
        self._life_s = life_s
        self._follower = EndedSessionsFollower(bus, revoked, life_s)
        self._writes = KeptWrites(bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, life_s), life_s)
        self._telling: list[asyncio.Task[None]] = []

    @property
    def life(self) -> timedelta:
        """The time for which the end of a session must be remembered."""
        return timedelta(seconds=self._life_s)

    async def start(self, ended: Iterable[str]) -> None:
        """Follow the bucket, refuse the sessions in `ended`, and begin to tell of those that nobody has told of.

        Raises SessionsUnavailableError if the bucket cannot be read.
        """
        try:
            await self._follower.start()
        except BusUnavailableError as error:
            raise SessionsUnavailableError(str(error)) from error
        untold = self._unknown(ended)
        for session_id in untold:
            self._revoked.add(session_id, time.time() + self._life_s)
        self._telling = [
            asyncio.create_task(self._writes.run()),
            asyncio.create_task(self.end_as_far_as_possible(untold)),
        ]

    async def tell_untold(self, ended: Iterable[str]) -> None:
        """End the sessions in `ended` that this process has not heard of: whoever ended them may be dead."""
        await self.end_as_far_as_possible(self._unknown(ended))

    def _unknown(self, session_ids: Iterable[str]) -> list[str]:
        return [session_id for session_id in session_ids if session_id not in self._revoked]

    async def end(self, session_id: str) -> None:
        """Refuse the session's access tokens from now on.

        Raises SessionsUnavailableError if the other processes could not be told. This one refuses them already, and
        tells the others when the bus comes back.
        """
        self._revoked.add(session_id, time.time() + self._life_s)
        try:
            await self._writes.put(session_id, b"")
        except KeyValueError as error:
            raise SessionsUnavailableError(str(error)) from error

    async def end_as_far_as_possible(self, session_ids: Iterable[str]) -> None:
        """End sessions whose refresh tokens are revoked already.

        If the bus does not respond, the other processes learn of it when the bus comes back.
        """
        for session_id in session_ids:
            try:
                await self.end(session_id)
            except SessionsUnavailableError as error:
                log.warning("the end of a session is not told to other processes yet", error=str(error))

    async def stop(self) -> None:
        """Stop following the bucket and announcing."""
        await self._follower.stop()
        await end_tasks(*self._telling)
