"""The tables `notifications` and `notification_settings`: the users' notifications, once for each id.

A notification, its mail and its pushes are written in one transaction. It may be the transaction of the change that
the user is notified of. A notification for the screen waits in its row until an edge announces it, so none is lost when
a process dies.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter

from openspot.contracts.messages import SendNotification, UserNotification
from openspot.contracts.streams import NOTIFICATIONS
from openspot.kit.clock import DateClock, datetime_from_ms, ms_from_datetime, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.languages.amounts import with_shown_amounts
from openspot.rest_edge.languages.catalogue import language_of, translated
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind, notification_detail
from openspot.rest_edge.notifications.preferences import (
    NotificationEvent,
    default_preference,
    event_of_kind,
    is_of_security,
)
from openspot.rest_edge.push.queue import PushMessage, PushQueue

TAKEN = Counter("openspot_notifications_taken_total", "Notifications taken, by whether they were new", ["outcome"])

KEPT = timedelta(seconds=2 * NOTIFICATIONS.age_s_max)
ANNOUNCED_MAX = 100
"""One transaction announces at most this many notifications."""

Announce = Callable[[str, UserNotification], Awaitable[None]]
"""Sends a notification to the connections of a user. Raises BusError."""


class OutboxFullError(Exception):
    """The outbox is full: it takes no mail now."""


@dataclass(frozen=True, slots=True)
class KeptNotification:
    """A stored notification. `number` grows with each one."""

    number: int
    notification_id: str
    kind: str
    title: str
    text: str
    created_at: datetime


class NotificationStore:
    """Stores notifications.

    `added` is set with each. Set it after the transaction too, and the notification is announced without a pause.
    """

    def __init__(self, pool: Pool, outbox: Outbox, pushes: PushQueue, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._outbox = outbox
        self._pushes = pushes
        self._now = now
        self.added = asyncio.Event()

    async def add(self, event: SendNotification, connection: Connection, *, may_mail: bool = True) -> None:
        """Store a notification if it is new, and queue its mail and its pushes, in the transaction of `connection`.

        Its texts are those of the user's language at this moment; what has no translation stays English. Mail and
        pushes have amounts with the signs of that language. Those of the screen are stored as they came: the page
        writes them as its user has chosen.

        Without `may_mail` it goes to screen and devices only. Raises OutboxFullError if it is stored but its mail
        cannot be queued.
        """
        default = default_preference(event_of_kind(event.kind))
        user = await connection.fetchrow(
            """
            SELECT users.email, users.language, coalesce(chosen.email, $3) AS by_mail,
                coalesce(chosen.websocket, $4) AS by_websocket, coalesce(chosen.push, $5) AS by_push
            FROM users LEFT JOIN notification_settings AS chosen
                ON chosen.user_id = users.user_id AND chosen.event = $2
            WHERE users.user_id = $1 FOR SHARE OF users
            """,
            event.user_id,
            event_of_kind(event.kind),
            default.email,
            default.websocket,
            default.push,
        )
        if user is None:
            TAKEN.labels("unknown_user").inc()
            return
        language = language_of(user["language"])
        title, text = translated(event.title, language), translated(event.text, language)
        added = await connection.fetchval(
            """
            INSERT INTO notifications
                (notification_id, user_id, kind, title, text, on_screen, announced, created_at, taken_at)
            VALUES ($1, $2, $3, $4, $5, $6, NOT $6, $7, $8) ON CONFLICT (notification_id) DO NOTHING RETURNING true
            """,
            event.id,
            event.user_id,
            event.kind,
            title,
            text,
            user["by_websocket"],
            datetime_from_ms(event.timestamp),
            self._now(),
        )
        if not added:
            TAKEN.labels("repeated").inc()
            return
        TAKEN.labels("new").inc()
        self.added.set()
        title, text = with_shown_amounts(title, language), with_shown_amounts(text, language)
        if user["by_push"]:
            await self._pushes.add(event.user_id, PushMessage(event.id, event.kind, title, text), connection)
        detail = notification_detail(title, text)
        if not (user["by_mail"] and may_mail):
            return
        if not await self._outbox.add(
            MailKind.NOTIFICATION, user["email"], detail, connection, is_security=is_of_security(event.kind)
        ):
            raise OutboxFullError("the outbox is full")

    async def who_wants(
        self, event: NotificationEvent, user_ids: Sequence[str], connection: Connection | None = None
    ) -> frozenset[str]:
        """Those of the users who have asked to be notified of `event`, or are notified of it on a device."""
        if not user_ids:
            return frozenset()
        rows = await (connection or self._pool).fetch(
            """
            SELECT user_id FROM notification_settings
            WHERE user_id = ANY($1::text[]) AND event = $2 AND (email OR websocket)
            UNION
            SELECT user_id FROM push_subscriptions AS device
            WHERE user_id = ANY($1::text[]) AND coalesce(
                (SELECT push FROM notification_settings WHERE user_id = device.user_id AND event = $2), $3
            )
            """,
            list(set(user_ids)),
            event.value,
            default_preference(event).push,
        )
        return frozenset(row["user_id"] for row in rows)

    async def announce_next(self, announce: Announce) -> int:
        """Announce the oldest waiting notifications, and return their number. Raises what `announce` raises."""
        async with self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(
                """
                SELECT notification_id, user_id, kind, title, text, created_at FROM notifications
                WHERE NOT announced ORDER BY taken_at LIMIT $1 FOR UPDATE SKIP LOCKED
                """,
                ANNOUNCED_MAX,
            )
            for row in rows:
                created_ms = ms_from_datetime(row["created_at"])
                about = row["kind"], row["title"], row["text"]
                await announce(row["user_id"], UserNotification(row["notification_id"], *about, created_ms))
            await connection.execute(
                "UPDATE notifications SET announced = true WHERE notification_id = ANY($1::text[])",
                [row["notification_id"] for row in rows],
            )
        return len(rows)

    async def page(
        self,
        user_id: str,
        limit: int,
        before: int | None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[KeptNotification]:
        """At most `limit` of the user's notifications on the screen, newest first, with numbers below `before`.

        They are of `since` or later and before `until`; None bounds nothing.
        """
        rows = await self._pool.fetch(
            """
            SELECT number, notification_id, kind, title, text, created_at FROM notifications
            WHERE user_id = $1 AND on_screen AND ($3::bigint IS NULL OR number < $3)
                AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
            ORDER BY number DESC LIMIT $2
            """,
            user_id,
            limit,
            before,
            since,
            until,
        )
        return [KeptNotification(**dict(row)) for row in rows]

    async def delete_old(self) -> int:
        """Delete the notifications that the bus can no longer deliver, and return their number."""
        outcome = await self._pool.execute("DELETE FROM notifications WHERE taken_at < $1", self._now() - KEPT)
        return rows_changed(outcome)
