"""Makes what notifications consist of: the store, the users' preferences, and the delivery in the background."""

import asyncio
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass

from openspot.kit.bus import Bus
from openspot.kit.database import Pool
from openspot.kit.tasks import end_tasks
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.delivery import NotificationDelivery
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.store import NotificationStore


@dataclass(frozen=True, slots=True)
class NotificationServices:
    """What the routes of notifications are made of. Who notifies a user adds to `store`."""

    store: NotificationStore
    preferences: NotificationPreferenceService


def make_notification_services(
    pool: Pool, bus: Bus, outbox: Outbox, assets: Collection[str], stack: AsyncExitStack
) -> NotificationServices:
    """Make the services and begin to deliver; `stack` ends it. `assets` are those that the platform has."""
    store = NotificationStore(pool, outbox)
    delivery = NotificationDelivery(pool, bus, store, assets)
    delivering = asyncio.create_task(delivery.run(asyncio.Event()))
    cleaning = asyncio.create_task(repeat("delete old notifications", store.delete_old, CLEAN_UP_INTERVAL_S))
    stack.push_async_callback(end_tasks, delivering, cleaning)
    return NotificationServices(store, NotificationPreferenceService(pool))
