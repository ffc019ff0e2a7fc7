"""Makes the services of notifications: the store, the users' preferences, and the delivery in the background."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from openspot.kit.bus import Bus
from openspot.kit.database import Pool
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.delivery import NotificationDelivery
from openspot.rest_edge.notifications.fill_store import FillStore
from openspot.rest_edge.notifications.fills import INTERVAL_S as FILLS_INTERVAL_S
from openspot.rest_edge.notifications.fills import FillNotifier
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue


@dataclass(frozen=True, slots=True)
class NotificationServices:
    """The services behind the routes of notifications. Other parts notify a user by adding to `store`."""

    store: NotificationStore
    preferences: NotificationPreferenceService


def make_notification_services(
    pool: Pool, bus: Bus, outbox: Outbox, pushes: PushQueue, assets: Collection[str], frame: ServiceFrame
) -> NotificationServices:
    """Make the services and start the delivery; `frame` ends it. `assets` are the platform's assets."""
    store = NotificationStore(pool, outbox, pushes)
    mails = OrderMails()
    delivery = NotificationDelivery(pool, bus, store, mails, assets)
    frame.start("deliver notifications", delivery.run(asyncio.Event()), is_essential=False)
    fills = FillNotifier(pool, store, FillStore(pool), mails)
    repeat(frame, "tell of filled orders", fills.tell, FILLS_INTERVAL_S)
    repeat(frame, "delete old notifications", store.delete_old, CLEAN_UP_INTERVAL_S)
    return NotificationServices(store, NotificationPreferenceService(pool))
