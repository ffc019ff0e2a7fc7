"""The dead man's switch: all open orders of a user are cancelled some time after the last renewal.

A timer is a row, so it outlives every process. All edges look for due timers; a claim in the row lets one of them act,
and another one goes on if that one dies. The database's clock counts, so no edge is early. If the engine cannot be
reached, the timer stays due and is tried again.

A timer that is due is carried out whatever its user does then: a renewal that comes too late first cancels the orders.

Whoever had open orders is notified, in the transaction that ends the timer. A claim notes whether there are any, so
that the user also hears of it if an edge dies between the cancel and that transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from openspot.http.errors import HttpError
from openspot.kit.clock import iso_of, ms_from_datetime
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError
from openspot.rest_edge.notifications.templates import orders_cancelled_by_timer
from openspot.rest_edge.orders.cancel_schemas import CancelTimer

log = get_logger("cancel_timers")

LOOK_INTERVAL_S = 1.0
"""Every edge looks for due timers this often: no timer is late by more, while everything is up."""
CLAIM_S = 5
"""After this time another edge carries out what one has claimed. To cancel twice does no harm."""
CLAIMED_AT_ONCE = 16

_COLUMNS = "timeout_s, fires_at, fired_at, cancelled_orders"
_IS_FREE = "(claimed_until IS NULL OR claimed_until <= now())"
_CLAIMED = """
    claimed_until = now() + $1 * interval '1 second',
    had_orders = had_orders OR EXISTS (
        SELECT FROM orders
        WHERE orders.user_id = cancel_timers.user_id AND status IN ('pending', 'open', 'partially_filled')
    )
"""


class CancelTimers:
    """The timers of all users, in the table `cancel_timers`."""

    def __init__(
        self, pool: Pool, cancel_all: Callable[[str], Awaitable[Sequence[str]]], notifications: NotificationStore
    ) -> None:
        """`cancel_all` cancels whatever a user has open and returns the ids. Raises HttpError unless none remains."""
        self._pool = pool
        self._cancel_all = cancel_all
        self._notifications = notifications

    async def get(self, user_id: str) -> CancelTimer:
        """The user's timer."""
        row = await self._pool.fetchrow(f"SELECT {_COLUMNS} FROM cancel_timers WHERE user_id = $1", user_id)  # noqa: S608
        return _timer_of(row)

    async def set(self, user_id: str, timeout_s: int) -> CancelTimer:
        """Start or renew the user's timer, or end it with 0.

        A timer that has run out is carried out first. Raises HttpError (409) while an edge does so, (503) if that is
        not possible at this moment.
        """
        row = await self._begin(user_id, timeout_s)
        if row is None:
            due = await self._claim_of(user_id)
            if due is None:
                raise _due()
            await self._carry_out(user_id, due)
            row = await self._begin(user_id, timeout_s)
            if row is None:
                raise _due()
        return _timer_of(row)

    async def run_out(self, user_id: str) -> None:
        """Let the user's timer be due now, whether it runs or not, so that nothing renews it before the orders end.

        The time is a new one even if the timer was due: whoever is carrying that out may have cancelled too early.
        """
        await self._pool.execute(
            """
            INSERT INTO cancel_timers (user_id, timeout_s, fires_at) VALUES ($1, 0, now())
            ON CONFLICT (user_id) DO UPDATE
            SET timeout_s = EXCLUDED.timeout_s, fires_at = EXCLUDED.fires_at, claimed_until = NULL
            """,
            user_id,
        )

    async def carry_out_due(self) -> None:
        """Carry out every timer that is due and that no other edge has claimed."""
        while claimed := await self._claim():
            await asyncio.gather(*(self._carried_out(user_id, fires_at) for user_id, fires_at in claimed))

    async def _begin(self, user_id: str, timeout_s: int) -> Any:
        """The row with its new time; None if its timer is due."""
        # The clock is read once the row is locked: a statement may have begun before `run_out` did.
        return await self._pool.fetchrow(
            f"""
            INSERT INTO cancel_timers (user_id, timeout_s, fires_at)
            VALUES ($1, $2, CASE WHEN $2 > 0 THEN now() + $2 * interval '1 second' END)
            ON CONFLICT (user_id) DO UPDATE
            SET timeout_s = EXCLUDED.timeout_s, fires_at = EXCLUDED.fires_at, claimed_until = NULL
            WHERE cancel_timers.fires_at IS NULL OR cancel_timers.fires_at > clock_timestamp()
            RETURNING {_COLUMNS}
            """,  # noqa: S608
            user_id,
            timeout_s,
        )

    async def _claim(self) -> list[tuple[str, datetime]]:
        rows = await self._pool.fetch(
            f"""
            UPDATE cancel_timers SET {_CLAIMED} WHERE user_id IN (
                SELECT user_id FROM cancel_timers WHERE fires_at <= now() AND {_IS_FREE}
                ORDER BY fires_at LIMIT $2 FOR UPDATE SKIP LOCKED
            )
            RETURNING user_id, fires_at
            """,  # noqa: S608
            CLAIM_S,
            CLAIMED_AT_ONCE,
        )
        return [(row["user_id"], row["fires_at"]) for row in rows]

    async def _claim_of(self, user_id: str) -> datetime | None:
        due: datetime | None = await self._pool.fetchval(
            f"""
            UPDATE cancel_timers SET {_CLAIMED}
            WHERE user_id = $2 AND fires_at <= now() AND {_IS_FREE} RETURNING fires_at
            """,  # noqa: S608
            CLAIM_S,
            user_id,
        )
        return due

    async def _carried_out(self, user_id: str, fires_at: datetime) -> None:
        try:
            await self._carry_out(user_id, fires_at)
        except HttpError as error:
            # It stays due: the next look after the claim tries again.
            log.warning("orders not cancelled by their timer", user_id=user_id, reason=error.message)

    async def _carry_out(self, user_id: str, fires_at: datetime) -> None:
        cancelled = await self._cancel_all(user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            row = await connection.fetchrow(
                """
                UPDATE cancel_timers
                SET fires_at = NULL, claimed_until = NULL, fired_at = now(), cancelled_orders = $3, had_orders = false
                FROM (SELECT user_id, had_orders FROM cancel_timers WHERE user_id = $1 FOR UPDATE) AS before
                WHERE cancel_timers.user_id = before.user_id AND fires_at = $2
                RETURNING before.had_orders, fired_at
                """,
                user_id,
                fires_at,
                len(cancelled),
            )
            if row is None:
                # Another edge ended this timer, after this edge's claim did.
                return
            if cancelled or row["had_orders"]:
                await self._notify(user_id, fires_at, row["fired_at"], connection)
        self._notifications.added.set()
        log.info("orders cancelled by their timer", user_id=user_id, orders=len(cancelled))

    async def _notify(self, user_id: str, fires_at: datetime, fired_at: datetime, connection: Connection) -> None:
        """Notify the user. Without room in the outbox only on the screen: the timer must end."""
        notification = orders_cancelled_by_timer(user_id, ms_from_datetime(fires_at), ms_from_datetime(fired_at))
        try:
            async with connection.transaction():
                await self._notifications.add(notification, connection)
        except OutboxFullError:
            await self._notifications.add(notification, connection, may_mail=False)


def _due() -> HttpError:
    message = "your timer has run out, and your orders are being cancelled: repeat the request"
    return HttpError(409, message, "CANCEL_TIMER_DUE")


def _timer_of(row: Any) -> CancelTimer:
    """The timer of a row; None is that of a user who never had one."""
    if row is None:
        return CancelTimer(0, None, None, None)
    runs = row["fires_at"] is not None
    return CancelTimer(
        row["timeout_s"] if runs else 0,
        iso_of(row["fires_at"]) if runs else None,
        None if row["fired_at"] is None else iso_of(row["fired_at"]),
        row["cancelled_orders"],
    )
