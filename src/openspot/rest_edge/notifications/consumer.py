"""Follows `notifications.send`, and tells each user by mail and on the `notifications` channel.

A notification counts once for its id: the row in `notifications` and the mail in the outbox are written in one
transaction. Only then is it announced to the user's connections; a process that dies in between leaves that to the
next delivery. The bus delivers again, with growing pauses, while the database or the outbox takes nothing, and drops
what is older than the stream keeps.
"""

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
from prometheus_client import Counter

from openspot.contracts import subjects
from openspot.contracts.messages import SendNotification, UserNotification
from openspot.contracts.streams import NOTIFICATIONS
from openspot.kit.bus import Bus, BusError, Consumption, DurableConsumer
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind
from openspot.rest_edge.notifications.rules import InvalidNotificationError, checked, mail_detail, wish_key

log = get_logger("notifications")

TAKEN = Counter("openspot_notifications_taken_total", "Notifications taken, by whether they were new", ["outcome"])

DURABLE = "rest-edge-notifications"
BATCH_MAX = 50
KEPT = timedelta(seconds=2 * NOTIFICATIONS.age_s_max)


class OutboxFullError(Exception):
    """The outbox takes no mail now."""


class Notifications:
    """Takes notifications and tells their users."""

    def __init__(self, pool: Pool, bus: Bus, outbox: Outbox, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._bus = bus
        self._outbox = outbox
        self._now = now

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set or the task is cancelled. All edges share the notifications."""
        consumption = Consumption(NOTIFICATIONS, subjects.NOTIFICATIONS_SEND, DURABLE, SendNotification, BATCH_MAX)
        await DurableConsumer(self._bus, consumption, self.take).run(stop)

    async def take(self, events: Sequence[SendNotification]) -> Collection[int]:
        """Tell the users of these notifications; returns the places of those that must come again."""
        failed = []
        for place, event in enumerate(events):
            try:
                await self._take(checked(event))
            except InvalidNotificationError as error:
                TAKEN.labels("refused").inc()
                log.error("notification refused", notification_id=event.id[:64], error=str(error))
            except (OutboxFullError, BusError, asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
                log.warning("notification will be taken later", notification_id=event.id, error=repr(error))
                failed.append(place)
        return failed

    async def delete_old(self) -> int:
        """Forget notifications that the bus cannot deliver any more; returns how many."""
        outcome = await self._pool.execute("DELETE FROM notifications WHERE taken_at < $1", self._now() - KEPT)
        return int(outcome.rpartition(" ")[2])

    async def _take(self, event: SendNotification) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            is_due = await self._keep(connection, event)
        if is_due:
            notification = UserNotification(event.id, event.kind, event.title, event.text, event.timestamp)
            await self._bus.announce(subjects.of_user(subjects.NOTIFICATIONS_USER, event.user_id), notification)
            await self._pool.execute("UPDATE notifications SET announced = true WHERE notification_id = $1", event.id)

    async def _keep(self, connection: Connection, event: SendNotification) -> bool:
        """Keep a notification that is new and queue its mail; returns whether it is still to be announced."""
        user = await connection.fetchrow(
            """
            SELECT users.email, coalesce(wish.email, true) AS by_mail, coalesce(wish.websocket, true) AS by_websocket
            FROM users LEFT JOIN notification_settings AS wish
                ON wish.user_id = users.user_id AND wish.event = $2
            WHERE users.user_id = $1 FOR SHARE OF users
            """,
            event.user_id,
            wish_key(event.kind),
        )
        if user is None:
            TAKEN.labels("unknown_user").inc()
            return False
        added = await connection.fetchval(
            """
            INSERT INTO notifications (notification_id, user_id, kind, title, text, announced, created_at, taken_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (notification_id) DO NOTHING RETURNING true
            """,
            event.id,
            event.user_id,
            event.kind,
            event.title,
            event.text,
            not user["by_websocket"],
            datetime.fromtimestamp(event.timestamp / 1000, UTC),
            self._now(),
        )
        if not added:
            TAKEN.labels("repeated").inc()
            announced = await connection.fetchval(
                "SELECT announced FROM notifications WHERE notification_id = $1 AND user_id = $2",
                event.id,
                event.user_id,
            )
            return announced is False
        detail = mail_detail(event.title, event.text)
        if user["by_mail"] and not await self._outbox.add(MailKind.NOTIFICATION, user["email"], detail, connection):
            raise OutboxFullError("the outbox is full")
        TAKEN.labels("new").inc()
        return bool(user["by_websocket"])
