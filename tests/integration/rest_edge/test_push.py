"""Notifications on devices: who gets them, and what the replies of push services do. The service is a real one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import SendNotification
from openspot.http.ended_sessions import SessionOverError
from openspot.kit.token_hash import new_token, token_hash
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.fill_store import FillStore
from openspot.rest_edge.notifications.fills import FillNotifier
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.schemas import NotificationPreferenceBody
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.encryption import DeviceKeys
from openspot.rest_edge.push.queue import PACE, REFUSALS_MAX, WAITING_OF_DEVICE_MAX, PushMessage, PushQueue
from openspot.rest_edge.push.sender import LEASE, USEFUL, PushSender
from openspot.rest_edge.push.subscriptions import (
    DEVICES_MAX,
    PushSubscriptions,
    TooManyDevicesError,
)
from openspot.rest_edge.push.transport import HttpPushTransport, PushReply, PushUnavailableError
from openspot.rest_edge.push.vapid import PushKey, without_padding
from tests.support.authenticator import PASSWORD, log_in, register
from tests.support.filled_tables import insert
from tests.support.push_service import Device, PushService, new_device, running_push_service
from tests.support.rest_client import RestClient
from tests.support.router_rows import RouterRows

KEY = PushKey(without_padding(b"\x07" * 32), "mailto:operator@example.org")


class Exchange:
    """The parts of an edge that push, at a time that the test moves."""

    def __init__(self, pool: asyncpg.Pool, transport: Any, rows_max: int = 100) -> None:
        self.now = datetime.now(UTC)
        self.pool = pool
        self.subscriptions = PushSubscriptions(pool, self.time)
        self.queue = PushQueue(pool, rows_max, self.time)
        self.store = NotificationStore(pool, Outbox(pool, 100, self.time), self.queue, self.time)
        self.sender = PushSender(self.queue, KEY, transport, self.time)

    def time(self) -> datetime:
        return self.now

    async def user(self, name: str, language: str | None = None) -> str:
        """A user with a session, and the session's id."""
        email = f"{name}@example.org"
        await insert(self.pool, "users", {"user_id": name, "email": email}, role="user", email=email)
        await self.pool.execute("UPDATE users SET language = $2 WHERE user_id = $1", name, language)
        return await self.session(name)

    async def session(self, name: str) -> str:
        session_id, ends = new_token(), self.now + timedelta(days=30)
        await self.pool.execute(
            "INSERT INTO user_sessions (session_id, user_id, address, user_agent, created_at)"
            " VALUES ($1, $2, '127.0.0.1', 'Firefox', $3)",
            session_id,
            name,
            self.now,
        )
        await self.pool.execute(
            "INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at) VALUES ($1, $2, $3, $4)",
            token_hash(session_id),
            session_id,
            name,
            ends,
        )
        return session_id

    async def end(self, session_id: str) -> None:
        query = "UPDATE refresh_tokens SET revoked_at = $2 WHERE family_id = $1"
        await self.pool.execute(query, session_id, self.now)

    async def add(self, user: str, session_id: str, endpoint: str, device: Device, number: int = 0) -> None:
        keys = DeviceKeys(device.public_key, device.secret)
        await self.subscriptions.add(f"{user}{session_id[:8]}{number}", user, session_id, endpoint, keys)

    async def tell(self, number: int, user: str = "ada", kind: str = "deposit.credited") -> None:
        time_ms = round(self.now.timestamp() * 1000)
        text = f"{number} BTC arrived and can be used."
        event = SendNotification(f"n-{number}-{user}", user, kind, "Deposit credited", text, time_ms)
        async with self.pool.acquire() as connection, connection.transaction():
            await self.store.add(event, connection)

    async def send_all(self) -> None:
        """Send what is due now."""
        while await self.sender.send_next():
            pass

    async def waiting(self) -> int:
        return int(await self.pool.fetchval("SELECT count(*) FROM push_messages"))

    async def devices(self) -> int:
        return int(await self.pool.fetchval("SELECT count(*) FROM push_subscriptions"))


class Scripted:
    """A transport whose replies a test gives."""

    def __init__(self, *replies: int | Exception) -> None:
        self.replies = list(replies)
        self.bodies: list[bytes] = []

    async def send(self, endpoint: str, headers: dict[str, str], body: bytes) -> PushReply:
        self.bodies.append(body)
        reply = self.replies.pop(0) if self.replies else 201
        if isinstance(reply, Exception):
            raise reply
        return PushReply(reply)


@asynccontextmanager
async def connected(pool: asyncpg.Pool, service: PushService) -> AsyncIterator[Exchange]:
    transport = HttpPushTransport(allows_private=True, verifies_with=service.verifies_with)
    try:
        yield Exchange(pool, transport)
    finally:
        await transport.close()


async def test_a_device_shows_a_notification_once_in_the_users_language_and_nobody_else_can_read_it(
    pool: asyncpg.Pool,
) -> None:
    device, other = Device(), Device()
    async with running_push_service() as service, connected(pool, service) as exchange:
        await exchange.add("ada", await exchange.user("ada", "de-AT"), service.endpoint("ada"), device)
        await exchange.add("bob", await exchange.user("bob"), service.endpoint("bob"), other)
        # The second time as the bus delivers it again.
        await exchange.tell(1)
        await exchange.tell(1)
        await exchange.send_all()
        [pushed] = service.taken
        assert pushed.path == "/push/ada"
        assert b"BTC" not in pushed.body
        assert pushed.shown_by(device) == {
            "id": "n-1-ada", "kind": "deposit.credited", "title": "Einzahlung gutgeschrieben",
            "text": "1 BTC sind angekommen und nutzbar.", "createdAt": round(exchange.now.timestamp() * 1000),
        }  # fmt: skip
        with pytest.raises(Exception):  # noqa: B017
            pushed.shown_by(other)
        [shown] = await exchange.subscriptions.all_of("ada")
        assert shown.reached_at == exchange.now
        assert await exchange.waiting() == 0


async def test_a_process_that_dies_after_sending_sends_again_with_the_same_tag_and_topic(pool: asyncpg.Pool) -> None:
    device = Device()
    async with running_push_service() as service, connected(pool, service) as exchange:
        await exchange.add("ada", await exchange.user("ada"), service.endpoint("ada"), device)
        await exchange.tell(1)
        taken = exchange.queue.taken

        async def killed(*_: object) -> None:
            raise asyncio.CancelledError

        exchange.queue.taken = killed  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await exchange.sender.send_next()
        exchange.queue.taken = taken  # type: ignore[method-assign]
        await exchange.send_all()
        assert len(service.taken) == 1
        exchange.now += LEASE
        await exchange.send_all()
        first, second = service.taken
        assert first.shown_by(device) == second.shown_by(device)
        assert first.headers["Topic"] == second.headers["Topic"]


async def test_the_end_of_a_session_ends_its_devices_even_for_what_waits_already(pool: asyncpg.Pool) -> None:
    transport = Scripted()
    exchange = Exchange(pool, transport)
    first = await exchange.user("ada")
    second = await exchange.session("ada")
    await exchange.add("ada", first, "https://push.example/1", Device())
    await exchange.add("ada", second, "https://push.example/2", Device())
    await exchange.tell(1)
    await exchange.end(first)
    await exchange.send_all()
    assert len(transport.bodies) == 1
    await exchange.end(second)
    await exchange.tell(2)
    assert await exchange.waiting() == 0
    assert await exchange.subscriptions.all_of("ada") == []
    assert await exchange.subscriptions.delete_ended() == 1
    assert await exchange.devices() == 0
    with pytest.raises(SessionOverError):
        await exchange.add("ada", second, "https://push.example/3", Device())


@pytest.mark.parametrize("status", [404, 410])
async def test_a_device_that_is_gone_is_forgotten_with_all_that_waits_for_it(pool: asyncpg.Pool, status: int) -> None:
    transport = Scripted(status)
    exchange = Exchange(pool, transport)
    await exchange.add("ada", await exchange.user("ada"), "https://push.example/1", Device())
    await exchange.tell(1)
    await exchange.tell(2)
    await exchange.send_all()
    assert len(transport.bodies) == 1
    assert (await exchange.devices(), await exchange.waiting()) == (0, 0)


async def test_a_push_service_that_asks_for_a_pause_gets_nothing_before_it_is_over(pool: asyncpg.Pool) -> None:
    async with running_push_service() as service, connected(pool, service) as exchange:
        await exchange.add("ada", await exchange.user("ada"), service.endpoint("ada"), Device())
        service.replies.append((429, {"Retry-After": "300"}))
        await exchange.tell(1)
        await exchange.tell(2)
        for _ in range(2):
            exchange.now += timedelta(seconds=140)
            await exchange.send_all()
        assert service.taken == []
        for _ in range(3):
            exchange.now += timedelta(seconds=160)
            await exchange.send_all()
        assert len(service.taken) == 2


async def test_a_message_that_cannot_be_sent_is_tried_until_it_is_of_no_use(pool: asyncpg.Pool) -> None:
    transport = Scripted(*(PushUnavailableError("down") for _ in range(100)))
    exchange = Exchange(pool, transport)
    await exchange.add("ada", await exchange.user("ada"), "https://push.example/1", Device())
    await exchange.tell(1)
    for _ in range(20):
        await exchange.send_all()
        exchange.now += USEFUL / 9
    assert await exchange.waiting() == 0
    # The pauses grow, so it is fewer than the times at which it could have been sent.
    assert 5 <= len(transport.bodies) <= 13
    assert await exchange.devices() == 1


async def test_a_push_service_that_refuses_again_and_again_loses_the_device(pool: asyncpg.Pool) -> None:
    transport = Scripted(*[403] * (REFUSALS_MAX - 1), 201, *[403] * REFUSALS_MAX)
    exchange = Exchange(pool, transport)
    await exchange.add("ada", await exchange.user("ada"), "https://push.example/1", Device())
    for number in range(2 * REFUSALS_MAX - 1):
        await exchange.tell(number)
        await exchange.send_all()
        assert await exchange.devices() == 1
        exchange.now += PACE
    await exchange.tell(99)
    await exchange.send_all()
    assert await exchange.devices() == 0


async def test_what_waits_is_bounded_by_device_and_in_all_and_a_device_gets_one_a_second(pool: asyncpg.Pool) -> None:
    transport = Scripted()
    exchange = Exchange(pool, transport, rows_max=WAITING_OF_DEVICE_MAX + 3)
    for user in ("ada", "bob"):
        await exchange.add(user, await exchange.user(user), f"https://push.example/{user}", Device())
    for number in range(WAITING_OF_DEVICE_MAX + 5):
        await exchange.tell(number)
    assert await exchange.waiting() == WAITING_OF_DEVICE_MAX
    for number in range(5):
        await exchange.tell(number, "bob")
    assert await exchange.waiting() == WAITING_OF_DEVICE_MAX + 3
    # What is not pushed is told on the screen and by mail all the same.
    assert len(await exchange.store.page("ada", 100, None)) == WAITING_OF_DEVICE_MAX + 5
    await exchange.send_all()
    assert len(transport.bodies) == 2
    exchange.now += PACE
    await exchange.send_all()
    assert len(transport.bodies) == 4


async def test_fills_come_to_devices_unless_the_user_turns_them_off_and_to_nothing_else(pool: asyncpg.Pool) -> None:
    exchange = Exchange(pool, Scripted())
    await exchange.user("bob")
    await exchange.add("ada", await exchange.user("ada"), "https://push.example/1", Device())
    notifier = FillNotifier(pool, exchange.store, FillStore(pool), OrderMails(), exchange.time)
    rows = RouterRows(pool)
    await rows.begin()
    await rows.trade("bob", "carl", exchange.now)
    await rows.trade("ada", "bob", exchange.now)
    await notifier.tell()
    [row] = await pool.fetch("SELECT reference, kind FROM push_messages")
    assert tuple(row) == ("order.filled:journal-buy-2", "order.filled")
    assert await exchange.store.page("ada", 9, None) == []
    assert await pool.fetchval("SELECT count(*) FROM mail_outbox") == 0
    preferences = NotificationPreferenceService(pool)
    fills = NotificationEvent.ORDER_FILLED
    off = NotificationPreferenceBody(email=False, websocket=False, push=False)
    assert (await preferences.change("ada", fills, off)).push is False
    await rows.trade("ada", "bob", exchange.now)
    await notifier.tell()
    assert await exchange.waiting() == 1
    # A client that does not know of devices leaves their choice alone.
    unaware = NotificationPreferenceBody(email=True, websocket=False)
    assert (await preferences.change("ada", fills, unaware)).push is False


async def test_a_user_has_a_bounded_number_of_devices_and_one_of_each_browser(pool: asyncpg.Pool) -> None:
    exchange = Exchange(pool, Scripted())
    session = await exchange.user("ada")
    for number in range(DEVICES_MAX):
        await exchange.add("ada", session, f"https://push.example/{number}", Device(), number)
    await exchange.add("ada", session, "https://push.example/0", Device(), 77)
    assert await exchange.devices() == DEVICES_MAX
    with pytest.raises(TooManyDevicesError):
        await exchange.add("ada", session, "https://push.example/new", Device(), 78)
    later = await exchange.session("ada")
    await exchange.end(session)
    await exchange.add("ada", later, "https://push.example/new", Device(), 79)
    assert [device.endpoint for device in await exchange.subscriptions.all_of("ada")] == ["https://push.example/new"]


async def test_a_name_that_leads_inside_is_not_connected_to() -> None:
    async with running_push_service() as service:
        transport = HttpPushTransport(allows_private=False, verifies_with=service.verifies_with)
        try:
            with pytest.raises(PushUnavailableError):
                await transport.send(service.endpoint("ada"), {}, b"x")
        finally:
            await transport.close()
        assert service.taken == []


async def test_a_user_manages_devices_and_they_end_with_the_session(edge: RestClient, pool: asyncpg.Pool) -> None:
    await register(edge, "ada@example.org")
    key = (await edge("GET", "/push-subscriptions/key")).body["publicKey"]
    assert len(key) == 87
    added = await edge("POST", "/push-subscriptions", new_device())
    assert added.status == 201, added.body
    assert added.body["current"] is True
    assert (await edge("GET", "/push-subscriptions")).body == [added.body]
    for endpoint in ("https://127.0.0.1/x", "https://inside.example/x", "http://fcm.googleapis.com/x"):
        refused = await edge("POST", "/push-subscriptions", new_device(endpoint))
        assert (refused.status, refused.code) == (400, "VALIDATION_FAILED")
        assert refused.message[0].startswith("endpoint ")
    bad_key = new_device() | {"keys": {"p256dh": "AAAA", "auth": "AAAA"}}
    assert (await edge("POST", "/push-subscriptions", bad_key)).message == ["keys: the secret must have 16 bytes"]
    # A session that has ended by a change of the password from elsewhere.
    other = await log_in(edge, "ada@example.org")
    first_token, edge.token = edge.token, other.body["accessToken"]
    body = {"currentPassword": PASSWORD, "newPassword": "another long password"}
    assert (await edge("POST", "/users/me/password", body)).status == 200
    assert (await edge("GET", "/push-subscriptions")).body == []
    again = await edge("POST", "/push-subscriptions", new_device())
    assert (await edge("DELETE", f"/push-subscriptions/{again.body['id']}")).body == {"success": True}
    gone = await edge("DELETE", f"/push-subscriptions/{again.body['id']}")
    assert (gone.status, gone.code) == (404, "PUSH_SUBSCRIPTION_NOT_FOUND")
    await edge("POST", "/push-subscriptions", new_device())
    assert (await edge("POST", "/auth/logout")).status == 200
    edge.token = first_token
    assert (await edge("GET", "/push-subscriptions")).status == 401
    devices = "FROM push_subscriptions JOIN refresh_tokens ON family_id = session_id WHERE revoked_at IS NULL"
    assert await pool.fetchval(f"SELECT count(*) {devices}") == 0


async def test_a_browser_renews_its_subscription_without_a_session_but_with_its_secret(edge: RestClient) -> None:
    await register(edge, "ada@example.org")
    host = "https://updates.push.services.mozilla.com/wpush/v2/"
    token, old, renewed = edge.token, new_device(host + "old"), new_device(host + "renewed")
    added = (await edge("POST", "/push-subscriptions", old)).body
    edge.token = None
    other_secret = old | {"keys": old["keys"] | {"auth": new_device()["keys"]["auth"]}}
    for wrong in (other_secret, new_device()):
        refused = await edge("POST", "/push-subscriptions/renewal", {"old": wrong, "renewed": renewed})
        assert (refused.status, refused.code) == (404, "PUSH_SUBSCRIPTION_NOT_FOUND")
    inside = {"old": old, "renewed": renewed | {"endpoint": "https://127.0.0.1/x"}}
    assert (await edge("POST", "/push-subscriptions/renewal", inside)).message[0].startswith("renewed.endpoint ")
    # The second time is a repetition whose first reply was lost.
    for _ in range(2):
        assert (await edge("POST", "/push-subscriptions/renewal", {"old": old, "renewed": renewed})).status == 200
    edge.token = token
    [device] = (await edge("GET", "/push-subscriptions")).body
    assert device == added | {"endpoint": renewed["endpoint"]}
    # With the session the right to renew ends, too.
    assert (await edge("POST", "/auth/logout")).status == 200
    again = {"old": renewed, "renewed": new_device()}
    assert (await edge("POST", "/push-subscriptions/renewal", again)).status == 404


async def test_a_test_message_goes_to_one_device(pool: asyncpg.Pool) -> None:
    exchange = Exchange(pool, Scripted())
    await exchange.add("ada", await exchange.user("ada"), "https://push.example/1", Device(), 1)
    await exchange.add("ada", await exchange.session("ada"), "https://push.example/2", Device(), 2)
    first, _ = await exchange.subscriptions.all_of("ada")
    async with pool.acquire() as connection, connection.transaction():
        message = PushMessage("push.test:1", "push.test", "Test", "A test.")
        assert await exchange.queue.add("ada", message, connection, first.subscription_id) == 1
    assert [row[0] for row in await pool.fetch("SELECT subscription_id FROM push_messages")] == [first.subscription_id]
