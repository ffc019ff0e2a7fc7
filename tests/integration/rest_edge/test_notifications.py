"""Notifications of other services, on the real bus: by mail and to the user's connections, once, as the user wants."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import SendNotification
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.consumer import Notifications
from openspot.rest_edge.site_settings.notifications import NotificationEvent, NotificationService
from openspot.rest_edge.site_settings.schemas import NotificationBody
from tests.support.filled_tables import insert
from tests.support.waiting import eventually
from tests.support.websocket_edge import open_as, receive, running_edge

KIND = "margin.liquidation"


def notification(number: int, user: str = "ada") -> SendNotification:
    return SendNotification(f"n-{number}", user, KIND, f"Title {number}", "A text.", 1_700_000_000_000 + number)


@asynccontextmanager
async def consuming(bus: Bus, pool: asyncpg.Pool, outbox_max: int = 100) -> AsyncIterator[Notifications]:
    """The consumer of one edge."""
    taking, stop = Notifications(pool, bus, Outbox(pool, outbox_max)), asyncio.Event()
    task = asyncio.create_task(taking.run(stop))
    try:
        yield taking
    finally:
        stop.set()
        await asyncio.wait_for(task, 30)


@pytest.fixture
async def users(pool: asyncpg.Pool) -> None:
    """Ada and Bob."""
    for user in ("ada", "bob"):
        row = {"user_id": user, "email": f"{user}@example.org"}
        await insert(pool, "users", row, role="user", email=row["email"])


async def mails(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    rows = await pool.fetch("SELECT email, detail FROM mail_outbox WHERE kind = 'notification' ORDER BY mail_id")
    return [(row["email"], row["detail"].partition("\n")[0]) for row in rows]


async def send(bus: Bus, event: SendNotification, message_id: str = "") -> None:
    await bus.publish(subjects.NOTIFICATIONS_SEND, event, message_id or event.id)


async def is_announced(pool: asyncpg.Pool, number: int) -> bool:
    query = "SELECT announced FROM notifications WHERE notification_id = $1"
    return bool(await pool.fetchval(query, f"n-{number}"))


@pytest.mark.spec("A6.1-35")
async def test_a_notification_reaches_mail_and_connections_of_its_user_once_as_the_user_wants(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    wishes = NotificationService(pool)
    async with (
        running_edge(settings),
        open_as(settings, "ada") as client,
        open_as(settings, "bob") as other,
        consuming(bus, pool),
        consuming(bus, pool),
    ):
        await send(bus, notification(1))
        assert await receive(client) == {
            "channel": "notifications", "type": "update", "event": "notification", "seq": 1, "ts": 1_700_000_000_001,
            "data": {
                "id": "n-1", "kind": KIND, "title": "Title 1", "text": "A text.", "createdAt": 1_700_000_000_001,
            },
        }  # fmt: skip
        # The same id again, as a publisher sends it that was killed before it noted what it had done.
        await send(bus, notification(1), "again")
        # Of an unknown user, and of a bad form: neither holds the others up.
        await send(bus, notification(2, "nobody"))
        await send(bus, SendNotification("n-3", "ada", "Bad kind", "t", "t", 0))
        await send(bus, notification(4, "bob"))
        assert (await receive(other))["data"]["id"] == "n-4"
        await eventually(lambda: is_announced(pool, 4))
        assert await mails(pool) == [("ada@example.org", "Title 1"), ("bob@example.org", "Title 4")]

        event = next(found for found in await wishes.settings_of("ada") if found.event == "margin_liquidation")
        assert (event.email, event.websocket) == (True, True)
        await set_wishes(wishes, email=False, websocket=True)
        await send(bus, notification(5))
        assert (await receive(client))["data"]["id"] == "n-5"
        await set_wishes(wishes, email=True, websocket=False)
        await send(bus, notification(6))
        await eventually(lambda: is_announced(pool, 6))
        await set_wishes(wishes, email=True, websocket=True)
        await send(bus, notification(7))
        # Neither the repeat nor the sixth came in between.
        assert (await receive(client))["data"]["id"] == "n-7"
        await eventually(lambda: is_announced(pool, 7))
        assert [title for email, title in await mails(pool) if email.startswith("ada")] == [
            "Title 1", "Title 6", "Title 7",
        ]  # fmt: skip


async def set_wishes(wishes: NotificationService, *, email: bool, websocket: bool) -> None:
    await wishes.change("ada", NotificationEvent.MARGIN_LIQUIDATION, NotificationBody(email=email, websocket=websocket))


async def test_a_full_outbox_takes_nothing_of_a_notification_which_comes_again(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute(
        "INSERT INTO mail_outbox (kind, email, detail, created_at, next_at) VALUES ('notice', 'x', '', now(), now())"
    )
    async with consuming(bus, pool, outbox_max=1) as taking:
        assert await taking.take([notification(1)]) == [0]
        assert await pool.fetchval("SELECT count(*) FROM notifications") == 0
        await send(bus, notification(2))
        await pool.execute("DELETE FROM mail_outbox")
        await eventually(lambda: is_announced(pool, 2))
        assert await mails(pool) == [("ada@example.org", "Title 2")]


async def test_what_was_kept_but_not_announced_before_a_kill_is_announced_by_the_next_delivery(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    class DyingError(Exception):
        """The process ends here."""

    class DyingBus:
        async def announce(self, *_: Any) -> None:
            raise DyingError

    dying: Any = DyingBus()
    with pytest.raises(DyingError):
        await Notifications(pool, dying, Outbox(pool, 100)).take([notification(1)])
    assert not await is_announced(pool, 1)
    async with running_edge(settings), open_as(settings, "ada") as client, consuming(bus, pool) as taking:
        assert await taking.take([notification(1)]) == []
        assert (await receive(client))["data"]["id"] == "n-1"
        assert await is_announced(pool, 1)
        assert len(await mails(pool)) == 1


async def test_old_notifications_are_forgotten_after_the_bus_has_dropped_them(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    taking = Notifications(pool, bus, Outbox(pool, 100))
    await taking.take([notification(1), notification(2)])
    await pool.execute(
        "UPDATE notifications SET taken_at = taken_at - interval '15 days' WHERE notification_id = 'n-1'"
    )
    assert await taking.delete_old() == 1
    assert await pool.fetchval("SELECT notification_id FROM notifications") == "n-2"
