"""Reads the sources of notifications, and notifies each user by mail and on the `notifications` channel.

Other services send `notifications.send`. Deposits, withdrawals, transfers and filled orders tell of themselves. A
notification counts once for its id. The bus delivers again, with growing pauses, while the database or the outbox takes
nothing, and drops what is older than the stream keeps.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    OrderEvent,
    SendNotification,
    UserNotification,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.contracts.messages.message import Message
from openspot.contracts.streams import NOTIFICATIONS
from openspot.kit.bus import Bus, Consumption, DurableConsumer
from openspot.kit.clock import DateClock, ms_from_datetime, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within
from openspot.rest_edge.notifications import templates
from openspot.rest_edge.notifications.rules import InvalidNotificationError, checked
from openspot.rest_edge.notifications.sources import (
    COMPLETED,
    DEPOSITS,
    EXECUTED,
    FAILED,
    FILLS,
    REQUESTED,
    SENT,
    NotificationSource,
)
from openspot.rest_edge.notifications.store import TAKEN, NotificationStore, OutboxFullError

log = get_logger("notifications")

BATCH_MAX = 50
FILLS_MAX = 500
FILL_MAIL_GAP_S = 60.0
"""Filled orders of a user within this time after one that was mailed are shown on the screen only."""
MAILED_USERS_MAX = 10_000
POLL_INTERVAL_S = 1.0
"""Longest time between two looks for what waits to be announced: other processes, and transactions, add to it."""

Event = TypeVar("Event", bound=Message)
Take = Callable[[Sequence[Event]], Awaitable[Collection[int]]]
"""Takes events; returns the places of those that must come again."""


class NotificationDelivery:
    """Reads the sources and notifies the users. `assets` are those that the platform has."""

    def __init__(
        self, pool: Pool, bus: Bus, store: NotificationStore, assets: Collection[str], now: DateClock = utc_now
    ) -> None:
        self._pool = pool
        self._bus = bus
        self._store = store
        self._now = now
        self._mailed: dict[str, float] = {}
        """When a user was last sent the mail of a filled order."""
        self._consumers: tuple[DurableConsumer[Any], ...] = (
            self._consumer(SENT, SendNotification, self.take, BATCH_MAX),
            self._notifying(
                DEPOSITS, DepositConfirmed, lambda event: templates.deposit_credited(event, assets, self._now_ms)
            ),
            self._notifying(
                REQUESTED, WithdrawalRequested, lambda event: templates.withdrawal_requested(event, self._now_ms)
            ),
            self._notifying(
                COMPLETED, WithdrawalOutcome, lambda event: templates.withdrawal_completed(event, self._now_ms)
            ),
            self._notifying(FAILED, WithdrawalOutcome, lambda event: templates.withdrawal_failed(event, self._now_ms)),
            self._notifying(EXECUTED, ExecutedTransfer, templates.transfer_executed),
            self._consumer(FILLS, OrderEvent, self.take_fills, FILLS_MAX),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set or the task is cancelled. All edges share the notifications."""
        await asyncio.gather(*(consumer.run(stop) for consumer in self._consumers), self._announce(stop))

    async def take(self, notifications: Sequence[SendNotification | None]) -> Collection[int]:
        """Tell the users of these notifications; returns the places of those that must come again."""
        return [
            place
            for place, notification in enumerate(notifications)
            if notification is not None and not await self._is_taken(notification)
        ]

    async def take_fills(self, events: Sequence[OrderEvent]) -> Collection[int]:
        """Tell of filled orders those users who want it; returns the places of events that must come again."""
        wanting = await self._store.who_wants_fills([event.order.user_id for event in events])
        failed = []
        for place, event in enumerate(events):
            user_id = event.order.user_id
            notification = templates.order_filled(event)
            if user_id not in wanting or self._is_old(notification):
                continue
            now_s = self._now().timestamp()
            may_mail = now_s - self._mailed.get(user_id, 0) >= FILL_MAIL_GAP_S
            if not await self._is_taken(notification, may_mail=may_mail):
                failed.append(place)
            elif may_mail:
                if len(self._mailed) >= MAILED_USERS_MAX:
                    self._mailed.clear()
                self._mailed[user_id] = now_s
        return failed

    async def _is_taken(self, notification: SendNotification, *, may_mail: bool = True) -> bool:
        """Keep a notification. False if it must come again."""
        try:
            sound = checked(notification)
            async with self._pool.acquire() as connection, connection.transaction():
                await self._store.add(sound, connection, may_mail=may_mail)
            self._store.added.set()
        except InvalidNotificationError as error:
            TAKEN.labels("refused").inc()
            log.error("notification refused", notification_id=notification.id[:64], error=str(error))
        except (OutboxFullError, asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
            log.warning("notification will be taken later", notification_id=notification.id, error=repr(error))
            return False
        return True

    def _is_old(self, notification: SendNotification | None) -> bool:
        """Whether nobody is told any more: it is older than what the bus keeps of notifications.

        A new consumer begins with all that the streams hold, and some hold a month.
        """
        return notification is not None and self._now_ms - notification.timestamp > NOTIFICATIONS.age_s_max * 1000

    @property
    def _now_ms(self) -> int:
        return ms_from_datetime(self._now())

    async def _announce(self, stop: asyncio.Event) -> None:
        """Send to the connections of users what waits for it."""

        async def send(user_id: str, notification: UserNotification) -> None:
            await self._bus.announce(subjects.of_user(subjects.NOTIFICATIONS_USER, user_id), notification)

        while not stop.is_set():
            self._store.added.clear()
            try:
                while await self._store.announce_next(send):
                    pass
            except Exception as error:
                # Whatever it is, it must not end the announcing for ever.
                log.warning("notifications will be announced later", error=repr(error))
                await asyncio.sleep(POLL_INTERVAL_S)
                continue
            await is_set_within(self._store.added, POLL_INTERVAL_S)

    def _notifying(
        self, source: NotificationSource, event_type: type[Event], notify: Callable[[Event], SendNotification | None]
    ) -> DurableConsumer[Event]:
        async def take(events: Sequence[Event]) -> Collection[int]:
            notifications = [notify(event) for event in events]
            return await self.take(
                [None if self._is_old(notification) else notification for notification in notifications]
            )

        return self._consumer(source, event_type, take, BATCH_MAX)

    def _consumer(
        self, source: NotificationSource, event_type: type[Event], take: Take[Event], batch_max: int
    ) -> DurableConsumer[Event]:
        consumption = Consumption(
            source.stream,
            source.subject,
            source.durable,
            event_type,
            batch_max,
            # Orders and money do not depend on what users are told of them.
            is_essential=False,
        )
        return DurableConsumer(self._bus, consumption, take)
