"""What is to be pushed: the table `push_messages`, with a row for each notification and device.

A row is written in the transaction of its notification, so each notification waits once for each device. It is deleted
when the push service has taken it. Rows that do not fit are dropped and counted: a push is a hint, the notification
itself is on the screen and in the mailbox.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter

from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import rows_changed
from openspot.rest_edge.push.encryption import DeviceKeys
from openspot.rest_edge.push.subscriptions import IS_ALIVE

log = get_logger("push")

OUTCOMES = Counter("openspot_push_messages_total", "Notifications for devices, by what became of them", ["outcome"])

WAITING_OF_DEVICE_MAX = 20
"""Messages that wait for one device, so that one which is not reached takes no place from the others."""
PACE = timedelta(seconds=1)
"""A device gets one message in this time."""
REFUSALS_MAX = 10
"""A subscription is deleted after as many messages in a row that its push service refused."""


@dataclass(frozen=True, slots=True)
class PushMessage:
    """What a device shows. `reference` is the id of the notification."""

    reference: str
    kind: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class QueuedPush:
    """A message that a sender has claimed, with its device. `attempts` counts this one."""

    message_id: int
    subscription_id: str
    attempts: int
    created_at: datetime
    message: PushMessage
    endpoint: str
    keys: DeviceKeys


class PushQueue:
    """The table `push_messages`, with at most `rows_max` rows."""

    def __init__(self, pool: Pool, rows_max: int, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._rows_max = rows_max
        self._now = now
        self.added = asyncio.Event()
        """Set when this process has added a message."""

    async def add(
        self, user_id: str, message: PushMessage, connection: Connection, subscription_id: str | None = None
    ) -> int:
        """Queue a message for the user's devices, or for one of them, in the transaction of `connection`.

        Returns for how many it is queued. For a device that does not get it, it is dropped, logged and counted.
        """
        row = await connection.fetchrow(
            f"""
            WITH device AS (
                SELECT subscription_id FROM push_subscriptions AS device
                WHERE user_id = $2 AND ($3::text IS NULL OR subscription_id = $3) AND {IS_ALIVE}
                -- A device that is deleted meanwhile must not undo what the user is notified of.
                FOR KEY SHARE
            ), added AS (
                INSERT INTO push_messages
                    (subscription_id, user_id, reference, kind, title, text, created_at, next_at)
                SELECT subscription_id, $2, $4, $5, $6, $7, $1, $1 FROM device
                WHERE $8 > (
                    SELECT count(*) FROM push_messages AS waiting
                    WHERE waiting.subscription_id = device.subscription_id
                ) AND $9 > (SELECT count(*) FROM (SELECT FROM push_messages LIMIT $9) AS waiting)
                RETURNING true
            )
            SELECT (SELECT count(*) FROM device) AS devices, (SELECT count(*) FROM added) AS added
            """,  # noqa: S608
            self._now(),
            user_id,
            subscription_id,
            message.reference,
            message.kind,
            message.title,
            message.text,
            WAITING_OF_DEVICE_MAX,
            self._rows_max,
        )
        assert row is not None, "an aggregate has a row"
        added, dropped = int(row["added"]), int(row["devices"] - row["added"])
        if added:
            OUTCOMES.labels("queued").inc(added)
            self.added.set()
        if dropped:
            OUTCOMES.labels("dropped").inc(dropped)
            log.warning("push dropped: too many wait", user_id=user_id, devices=dropped, kind=message.kind)
        return added

    async def claim(self, lease: timedelta) -> QueuedPush | None:
        """Take the message that has been due for longest. No other sender takes it before `lease` is over.

        Its device gets no other one before PACE is over.
        """
        now = self._now()
        # Nearly always nothing is due, and this takes one round trip instead of three.
        if not await self._pool.fetchval("SELECT EXISTS (SELECT FROM push_messages WHERE next_at <= $1)", now):
            return None
        async with self._pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow(
                """
                SELECT message_id, subscription_id, attempts + 1 AS attempts, message.created_at, reference, kind,
                    title, text, endpoint, public_key, secret
                FROM push_messages AS message JOIN push_subscriptions AS device USING (subscription_id)
                WHERE next_at <= $1 AND paused_until <= $1
                ORDER BY next_at, message_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
                """,
                now,
            )
            if row is None:
                return None
            await connection.execute(
                "UPDATE push_messages SET attempts = $2, next_at = $3 WHERE message_id = $1",
                row["message_id"],
                row["attempts"],
                now + lease,
            )
            await _pause(connection, row["subscription_id"], now + PACE)
        return QueuedPush(
            message_id=row["message_id"],
            subscription_id=row["subscription_id"],
            attempts=row["attempts"],
            created_at=row["created_at"],
            message=PushMessage(row["reference"], row["kind"], row["title"], row["text"]),
            endpoint=row["endpoint"],
            keys=DeviceKeys(row["public_key"], row["secret"]),
        )

    async def is_alive(self, subscription_id: str) -> bool:
        """Whether the session of a device can still be refreshed."""
        query = f"SELECT {IS_ALIVE} FROM push_subscriptions AS device WHERE subscription_id = $2"  # noqa: S608
        return bool(await self._pool.fetchval(query, self._now(), subscription_id))

    async def taken(self, queued: QueuedPush) -> None:
        """The push service has taken the message: delete it."""
        async with self._pool.acquire() as connection, connection.transaction():
            await self._remove(connection, queued)
            await connection.execute(
                "UPDATE push_subscriptions SET reached_at = $2, refusals = 0 WHERE subscription_id = $1",
                queued.subscription_id,
                self._now(),
            )

    async def refused(self, queued: QueuedPush) -> bool:
        """The push service will never take the message: delete it. True if its device had too many and is deleted."""
        async with self._pool.acquire() as connection, connection.transaction():
            await self._remove(connection, queued)
            refusals = await connection.fetchval(
                "UPDATE push_subscriptions SET refusals = refusals + 1 WHERE subscription_id = $1 RETURNING refusals",
                queued.subscription_id,
            )
            if refusals is None or refusals < REFUSALS_MAX:
                return False
            await connection.execute(
                "DELETE FROM push_subscriptions WHERE subscription_id = $1", queued.subscription_id
            )
            return True

    async def forget_device(self, subscription_id: str) -> None:
        """Delete a device that there is no more, with all that waits for it."""
        await self._pool.execute("DELETE FROM push_subscriptions WHERE subscription_id = $1", subscription_id)

    async def postpone(self, queued: QueuedPush, pause_s: float, *, pauses_device: bool = False) -> None:
        """Make the message due again after `pause_s` seconds, and all others of its device too with `pauses_device`."""
        due_at = self._now() + timedelta(seconds=pause_s)
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "UPDATE push_messages SET next_at = $2 WHERE message_id = $1", queued.message_id, due_at
            )
            if pauses_device:
                await _pause(connection, queued.subscription_id, due_at)

    async def drop(self, queued: QueuedPush) -> None:
        """Delete a message that is too old to be of use."""
        await self._remove(self._pool, queued)

    async def delete_older(self, age: timedelta) -> int:
        """Delete messages that have waited for longer than `age`, and return their number."""
        outcome = await self._pool.execute("DELETE FROM push_messages WHERE created_at < $1", self._now() - age)
        return rows_changed(outcome)

    async def _remove(self, connection: Connection | Pool, queued: QueuedPush) -> None:
        await connection.execute("DELETE FROM push_messages WHERE message_id = $1", queued.message_id)


async def _pause(connection: Connection, subscription_id: str, until: datetime) -> None:
    await connection.execute(
        "UPDATE push_subscriptions SET paused_until = $2 WHERE subscription_id = $1", subscription_id, until
    )
