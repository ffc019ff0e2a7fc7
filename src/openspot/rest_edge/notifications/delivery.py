"""Reads the sources of notifications, and notifies each user by mail, on devices and on the `notifications` channel.

Other services send `notifications.send`. Deposits, withdrawals, transfers, orders and margin need no such
message: their own events are read. A notification counts once for its id. While the database or the outbox takes
nothing, the bus delivers the events again, with growing pauses, until they are too old for its stream.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    IncompleteOrder,
    MarginPositionClosed,
    MarginWarning,
    RiskCheckFailed,
    SendNotification,
    UserNotification,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.contracts.messages.message import Message
from openspot.contracts.streams import NOTIFICATIONS, StreamConsumer
from openspot.kit.bus import Bus, Consumption, DurableConsumer
from openspot.kit.clock import DateClock, ms_from_datetime, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.tasks import PollPauses
from openspot.rest_edge.notifications import templates
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.rules import InvalidNotificationError, checked
from openspot.rest_edge.notifications.sources import (
    CLOSED,
    COMPLETED,
    DEPOSITS,
    EXECUTED,
    FAILED,
    INCOMPLETE,
    REFUSALS,
    REQUESTED,
    SENT,
    WARNINGS,
)
from openspot.rest_edge.notifications.store import TAKEN, NotificationStore, OutboxFullError

log = get_logger("notifications")

WANTED_INTERVAL_S = 0.25
"""Seconds between two batches of refused or incomplete orders, at least: each asks the database who wants them."""
POLL_INTERVAL_S = 5.0
"""The table is read at least this often for notifications to announce, because other processes add some too."""

Event = TypeVar("Event", bound=Message)
Take = Callable[[Sequence[Event]], Awaitable[Collection[int]]]
"""Takes events, and returns the indexes of those that the bus must deliver again."""


class NotificationDelivery:
    """Reads the sources and notifies the users. `assets` are the platform's assets."""

    def __init__(
        self,
        pool: Pool,
        bus: Bus,
        store: NotificationStore,
        mails: OrderMails,
        assets: Collection[str],
        now: DateClock = utc_now,
    ) -> None:
        self._pool = pool
        self._bus = bus
        self._store = store
        self._mails = mails
        self._now = now
        self._consumers: tuple[DurableConsumer[Any], ...] = (
            self._consumer(SENT, SendNotification, self.take),
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
            self._consumer(REFUSALS, RiskCheckFailed, self.take_refusals, WANTED_INTERVAL_S),
            self._consumer(INCOMPLETE, IncompleteOrder, self.take_incomplete, WANTED_INTERVAL_S),
            self._notifying(WARNINGS, MarginWarning, templates.margin_warning),
            self._notifying(CLOSED, MarginPositionClosed, templates.margin_position_closed),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until `stop` is set or the task is cancelled. All edges share the work."""
        await asyncio.gather(*(consumer.run(stop) for consumer in self._consumers), self._announce(stop))

    async def take(self, notifications: Sequence[SendNotification | None]) -> Collection[int]:
        """Deliver notifications. Returns the indexes of those that the bus must deliver again."""
        return [
            place
            for place, notification in enumerate(notifications)
            if notification is not None and not await self._is_taken(notification)
        ]

    async def take_refusals(self, events: Sequence[RiskCheckFailed]) -> Collection[int]:
        """Notify users of refused orders, if they want that. Returns the indexes of events that must come again."""
        told = [templates.order_refused(event) for event in events]
        return await self._take_wanted(NotificationEvent.ORDER_REFUSED, told)

    async def take_incomplete(self, events: Sequence[IncompleteOrder]) -> Collection[int]:
        """Notify users of incomplete orders, if they want to hear of fills. Returns as `take_refusals` does."""
        told = [templates.order_incomplete(event) for event in events]
        return await self._take_wanted(NotificationEvent.ORDER_FILLED, told)

    async def _take_wanted(
        self, wish: NotificationEvent, notifications: Sequence[SendNotification | None]
    ) -> Collection[int]:
        """Notify the users who want it, by mail once a minute at most. Returns the indexes of what must come again."""
        wanting = await self._store.who_wants(wish, [one.user_id for one in notifications if one is not None])
        failed = []
        for place, notification in enumerate(notifications):
            if notification is None or notification.user_id not in wanting or self._is_old(notification):
                continue
            user_id, now_s = notification.user_id, self._now().timestamp()
            may_mail = self._mails.may_mail(user_id, now_s)
            if not await self._is_taken(notification, may_mail=may_mail):
                failed.append(place)
            else:
                self._mails.note([user_id], now_s)
        return failed

    async def _is_taken(self, notification: SendNotification, *, may_mail: bool = True) -> bool:
        """Store a notification. False if the bus must deliver it again."""
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
        """Whether the notification is too old to deliver: older than the bus keeps notifications.

        A new consumer begins with the oldest event of its stream, and some streams hold a month.
        """
        return notification is not None and self._now_ms - notification.timestamp > NOTIFICATIONS.age_s_max * 1000

    @property
    def _now_ms(self) -> int:
        return ms_from_datetime(self._now())

    async def _announce(self, stop: asyncio.Event) -> None:
        """Send waiting notifications to the connections of their users."""

        async def send(user_id: str, notification: UserNotification) -> None:
            await self._bus.announce(subjects.of_user(subjects.NOTIFICATIONS_USER, user_id), notification)

        pauses = PollPauses(self._store.added, POLL_INTERVAL_S)
        while not stop.is_set():
            self._store.added.clear()
            try:
                while await self._store.announce_next(send):
                    pass
            except Exception as error:
                # No error may end the announcements.
                log.warning("notifications will be announced later", error=repr(error))
                await asyncio.sleep(POLL_INTERVAL_S)
                continue
            await pauses.pause()

    def _notifying(
        self, source: StreamConsumer, event_type: type[Event], notify: Callable[[Event], SendNotification | None]
    ) -> DurableConsumer[Event]:
        async def take(events: Sequence[Event]) -> Collection[int]:
            notifications = [notify(event) for event in events]
            return await self.take(
                [None if self._is_old(notification) else notification for notification in notifications]
            )

        return self._consumer(source, event_type, take)

    def _consumer(
        self, source: StreamConsumer, event_type: type[Event], take: Take[Event], interval_s: float = 0.0
    ) -> DurableConsumer[Event]:
        # Orders and money do not depend on notifications.
        consumption = Consumption.of(source, event_type, interval_s=interval_s, is_essential=False)
        return DurableConsumer(self._bus, consumption, take)
