"""The devices as users manage them, and the parts that push to them."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from openspot.domain.ids import short_id
from openspot.http.context import Identity
from openspot.http.ended_sessions import SessionOverError
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.languages.catalogue import language_of, translated
from openspot.rest_edge.push.encryption import BadDeviceKeyError, DeviceKeys
from openspot.rest_edge.push.endpoints import endpoint_fault
from openspot.rest_edge.push.queue import PushMessage, PushQueue
from openspot.rest_edge.push.schemas import PushRenewalBody, PushSubscription, PushSubscriptionBody
from openspot.rest_edge.push.sender import USEFUL, PushSender
from openspot.rest_edge.push.settings import PushSettings
from openspot.rest_edge.push.subscriptions import (
    DEVICES_MAX,
    KeptDevice,
    PushSubscriptions,
    TooManyDevicesError,
)
from openspot.rest_edge.push.transport import HttpPushTransport
from openspot.rest_edge.push.vapid import PushKey, contact_of, read_without_padding

SUBSCRIPTION_ID_LENGTH = 16
TEST_TITLE = "Test of notifications"
TEST_TEXT = "This device shows what you asked to be told."

EndpointFault = Callable[[str], str | None]


class DeviceService:
    """Handles the requests to the routes of devices. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        pool: Pool,
        subscriptions: PushSubscriptions,
        queue: PushQueue,
        endpoint_fault: EndpointFault,
        public_key: str | None,
    ) -> None:
        """`public_key` is None if this exchange notifies no devices."""
        self._pool = pool
        self._subscriptions = subscriptions
        self._queue = queue
        self._endpoint_fault = endpoint_fault
        self.public_key = public_key

    async def all_of(self, identity: Identity) -> list[PushSubscription]:
        """The caller's devices, newest first."""
        return [_shown(device, identity) for device in await self._subscriptions.all_of(identity.user_id)]

    async def add(self, identity: Identity, body: PushSubscriptionBody) -> PushSubscription:
        """Notify the caller on this device while the session lasts."""
        keys = self._checked(body)
        new_id = short_id(os.urandom(SUBSCRIPTION_ID_LENGTH), SUBSCRIPTION_ID_LENGTH)
        try:
            device = await self._subscriptions.add(new_id, identity.user_id, identity.session_id, body.endpoint, keys)
        except TooManyDevicesError:
            message = f"you may be notified on at most {DEVICES_MAX} devices: remove one"
            raise HttpError(409, message, "TOO_MANY_DEVICES") from None
        except SessionOverError:
            raise HttpError(409, "your session has ended: log in again", "SESSION_OVER") from None
        return _shown(device, identity)

    async def renew(self, body: PushRenewalBody) -> None:
        """Replace a subscription by the one that the browser has renewed it with. It stays with its session."""
        keys = self._checked(body.renewed, "renewed.")
        old = _keys_of(body.old, "old.")
        if not await self._subscriptions.renew(body.old.endpoint, old, body.renewed.endpoint, keys):
            raise _unknown()

    def _checked(self, body: PushSubscriptionBody, place: str = "") -> DeviceKeys:
        """The keys of a subscription that can be sent to. `place` is where the body stands in the request."""
        if self.public_key is None:
            raise HttpError(409, "this exchange notifies no devices", "PUSH_OFF")
        fault = self._endpoint_fault(body.endpoint)
        if fault is not None:
            raise validation_error([f"{place}endpoint {fault}"])
        return _keys_of(body, place)

    async def delete(self, user_id: str, subscription_id: str) -> None:
        """Notify the user on this device no more."""
        if not await self._subscriptions.delete(user_id, subscription_id):
            raise _unknown()

    async def test(self, user_id: str, subscription_id: str) -> None:
        """Queue a test message for a device."""
        if not any(one.subscription_id == subscription_id for one in await self._subscriptions.all_of(user_id)):
            raise _unknown()
        language = language_of(await self._pool.fetchval("SELECT language FROM users WHERE user_id = $1", user_id))
        reference = f"push.test:{secrets.token_hex(8)}"
        message = PushMessage(reference, "push.test", translated(TEST_TITLE, language), translated(TEST_TEXT, language))
        async with self._pool.acquire() as connection, connection.transaction():
            if not await self._queue.add(user_id, message, connection, subscription_id):
                raise HttpError(409, "too many messages wait for this device: try again later", "PUSH_QUEUE_FULL")


@dataclass(frozen=True, slots=True)
class PushServices:
    """The queue, which other parts add to, and what is behind the routes."""

    queue: PushQueue
    devices: DeviceService


def make_push_services(settings: PushSettings, mail_from: str, pool: Pool, frame: ServiceFrame) -> PushServices:
    """Make the services and start the sender; `frame` ends it. Raises BadPushKeyError."""
    queue, subscriptions = PushQueue(pool, settings.push_queue_max), PushSubscriptions(pool)
    public_key = None
    if settings.push_hosts.strip():
        key = PushKey(settings.push_key, contact_of(settings.push_contact, mail_from))
        public_key = key.public_key
        transport = HttpPushTransport(allows_private=settings.push_private_addresses)
        frame.at_end(transport.close)
        frame.start("push to devices", PushSender(queue, key, transport).run(), is_essential=False)
    repeat(frame, "delete devices of ended sessions", subscriptions.delete_ended, CLEAN_UP_INTERVAL_S)
    repeat(frame, "delete old messages for devices", lambda: queue.delete_older(USEFUL * 2), CLEAN_UP_INTERVAL_S)

    def fault(endpoint: str) -> str | None:
        return endpoint_fault(endpoint, settings.push_hosts, allows_private=settings.push_private_addresses)

    return PushServices(queue, DeviceService(pool, subscriptions, queue, fault, public_key))


def _keys_of(body: PushSubscriptionBody, place: str) -> DeviceKeys:
    try:
        keys = DeviceKeys(read_without_padding(body.keys.p256dh), read_without_padding(body.keys.auth))
        keys.point()
    except BadDeviceKeyError as error:
        raise validation_error([f"{place}keys: {error}"]) from error
    except ValueError as error:
        raise validation_error([f"{place}keys {error}"]) from error
    return keys


def _unknown() -> HttpError:
    return HttpError(404, "you have no such device", "PUSH_SUBSCRIPTION_NOT_FOUND")


def _shown(device: KeptDevice, identity: Identity) -> PushSubscription:
    return PushSubscription(
        id=device.subscription_id,
        endpoint=device.endpoint,
        current=device.session_id == identity.session_id,
        user_agent=device.user_agent,
        created_at=iso_of(device.created_at),
        reached_at=None if device.reached_at is None else iso_of(device.reached_at),
    )
