"""Daily check-in: once each UTC day. Days in a row make a streak."""

from dataclasses import dataclass
from datetime import date, timedelta

from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.identity.credentials.refusals import user_not_found


@dataclass(frozen=True, slots=True)
class CheckIn:
    """A user's newest check-in: its day, the number of days in a row that it ends, and the number of all days."""

    day: date
    streak: int
    total: int


def next_check_in(last: CheckIn | None, today: date) -> CheckIn:
    """The check-in of `today`. It continues yesterday's streak or begins a new one. A second one changes nothing.

    A day before the last one changes nothing either: near midnight, the clock of another process may be ahead.
    """
    if last is None:
        return CheckIn(today, 1, 1)
    if today <= last.day:
        return last
    streak = last.streak + 1 if today - last.day == timedelta(days=1) else 1
    return CheckIn(today, streak, last.total + 1)


def current_streak(last: CheckIn | None, today: date) -> int:
    """The number of days in a row up to today or yesterday, 0 if the streak is broken."""
    return last.streak if last is not None and today - last.day <= timedelta(days=1) else 0


@dataclass(frozen=True, slots=True)
class CheckInStatus:
    """A user's check-ins as of today."""

    day: date
    checked_in: bool
    streak: int
    total: int


class CheckIns:
    """The table `check_ins`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def status(self, user_id: str) -> CheckInStatus:
        """The user's check-ins as of today."""
        row = await self._pool.fetchrow("SELECT day, streak, total FROM check_ins WHERE user_id = $1", user_id)
        return self._status(None if row is None else CheckIn(**dict(row)))

    async def check_in(self, user_id: str) -> CheckInStatus:
        """Check in for today. A second call on the same day changes nothing. HttpError (404) for a deleted user."""
        async with self._pool.acquire() as connection, connection.transaction():
            # This locks the user, so that of two check-ins at once the second sees the first.
            if not await connection.fetchval("SELECT TRUE FROM users WHERE user_id = $1 FOR UPDATE", user_id):
                raise user_not_found()
            row = await connection.fetchrow("SELECT day, streak, total FROM check_ins WHERE user_id = $1", user_id)
            checked_in = next_check_in(None if row is None else CheckIn(**dict(row)), utc_now().date())
            await connection.execute(
                """
                INSERT INTO check_ins (user_id, day, streak, total) VALUES ($1, $2, $3, $4)
                ON CONFLICT (user_id) DO UPDATE SET
                    day = excluded.day, streak = excluded.streak, total = excluded.total
                """,
                user_id,
                checked_in.day,
                checked_in.streak,
                checked_in.total,
            )
        return self._status(checked_in)

    def _status(self, last: CheckIn | None) -> CheckInStatus:
        today = utc_now().date()
        is_done = last is not None and last.day >= today
        return CheckInStatus(today, is_done, current_streak(last, today), last.total if last is not None else 0)
