"""What users are told of, on the real bus: by mail and to the user's connections, once, as the user wants."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import pytest
from msgspec.structs import replace

from openspot.contracts import subjects
from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    IncompleteOrder,
    MarginPositionClosed,
    MarginWarning,
    RiskCheckFailed,
    SendNotification,
    TransferMovement,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.contracts.messages.message import Message
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.settings import Settings
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications import delivery
from openspot.rest_edge.notifications.delivery import NotificationDelivery
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.schemas import NotificationPreferenceBody, NotificationResponse
from openspot.rest_edge.notifications.sources import INCOMPLETE
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import open_as, receive, running_edge

KIND = "margin.liquidation"
START_MS = round(datetime.now(UTC).timestamp() * 1000)


def notification(number: int, user: str = "ada") -> SendNotification:
    return SendNotification(f"n-{number}", user, KIND, f"Title {number}", "A text.", START_MS + number)


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


def notifications(
    bus: Any, pool: asyncpg.Pool, outbox_max: int = 100, now: DateClock = utc_now
) -> NotificationDelivery:
    store = NotificationStore(pool, Outbox(pool, outbox_max, now), PushQueue(pool, 100, now), now)
    return NotificationDelivery(pool, bus, store, OrderMails(), {"BTC", "USD"}, now)


@asynccontextmanager
async def consuming(bus: Bus, pool: asyncpg.Pool, outbox_max: int = 100) -> AsyncIterator[NotificationDelivery]:
    """The consumer of one edge."""
    async with running(notifications(bus, pool, outbox_max)) as taking:
        yield taking


@asynccontextmanager
async def running(taking: NotificationDelivery) -> AsyncIterator[NotificationDelivery]:
    """A consumer at work."""
    stop = asyncio.Event()
    task = asyncio.create_task(taking.run(stop))
    try:
        yield taking
    finally:
        stop.set()
        await asyncio.wait_for(task, stretched(30))


@pytest.fixture
async def users(pool: asyncpg.Pool) -> None:
    """Ada and Bob."""
    for user in ("ada", "bob"):
        row = {"user_id": user, "email": f"{user}@example.org"}
        await insert(pool, "users", row, role="user", email=row["email"])


async def mails(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    rows = await pool.fetch("SELECT email, detail FROM mail_outbox WHERE kind = 'notification' ORDER BY mail_id")
    return [(row["email"], row["detail"].partition("\n")[0]) for row in rows]


async def test_a_user_is_told_in_the_language_of_the_profile_and_another_one_in_english(
    pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute("UPDATE users SET language = 'de-AT' WHERE user_id = 'ada'")
    store = NotificationStore(pool, Outbox(pool, 100), PushQueue(pool, 100))
    for user in ("ada", "bob"):
        event = SendNotification(
            f"d-{user}", user, "deposit.credited", "Deposit credited", "1 BTC arrived and can be used.", START_MS
        )
        async with pool.acquire() as connection, connection.transaction():
            await store.add(event, connection)
    assert [(one.title, one.text) for user in ("ada", "bob") for one in await store.page(user, 9, None)] == [
        ("Einzahlung gutgeschrieben", "1 BTC sind angekommen und nutzbar."),
        ("Deposit credited", "1 BTC arrived and can be used."),
    ]
    assert await mails(pool) == [
        ("ada@example.org", "Einzahlung gutgeschrieben"),
        ("bob@example.org", "Deposit credited"),
    ]


async def test_a_mail_and_a_push_have_the_signs_of_the_language_and_the_bell_gets_the_text_as_it_came(
    pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute("UPDATE users SET language = 'de' WHERE user_id = 'ada'")
    pushes: Any = AsyncMock()
    store = NotificationStore(pool, Outbox(pool, 100), pushes)
    came = SendNotification(
        "d-1", "ada", "deposit.credited", "Deposit credited", "1234.5 USDT arrived and can be used.", START_MS
    )
    async with pool.acquire() as connection, connection.transaction():
        await store.add(came, connection)
    written = "1.234,5 USDT sind angekommen und nutzbar."
    assert [one.text for one in await store.page("ada", 9, None)] == ["1234.5 USDT sind angekommen und nutzbar."]
    detail = await pool.fetchval("SELECT detail FROM mail_outbox WHERE kind = 'notification'")
    assert detail == f"Einzahlung gutgeschrieben\n{written}"
    assert pushes.add.await_args.args[1].text == written


async def send(bus: Bus, event: SendNotification, message_id: str = "") -> None:
    await bus.publish(subjects.NOTIFICATIONS_SEND, event, message_id or event.id)


async def is_announced(pool: asyncpg.Pool, number: int) -> bool:
    query = "SELECT announced FROM notifications WHERE notification_id = $1"
    return bool(await pool.fetchval(query, f"n-{number}"))


@pytest.mark.spec("A6.1-35")
async def test_a_notification_reaches_mail_and_connections_of_its_user_once_as_the_user_wants(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    preferences = NotificationPreferenceService(pool)
    async with (
        running_edge(settings),
        open_as(settings, "ada") as client,
        open_as(settings, "bob") as other,
        consuming(bus, pool),
        consuming(bus, pool),
    ):
        await send(bus, notification(1))
        assert await receive(client) == {
            "channel": "notifications", "type": "update", "event": "notification", "seq": 1, "ts": START_MS + 1,
            "data": {
                "id": "n-1", "kind": KIND, "title": "Title 1", "text": "A text.", "createdAt": START_MS + 1,
            },
        }  # fmt: skip
        # The same id again, as a publisher sends it that was killed before it noted what it had done.
        await send(bus, notification(1), "again")
        # Of an unknown user, and of a bad form: neither holds the others up.
        await send(bus, notification(2, "nobody"))
        await send(bus, SendNotification("n-3", "ada", "Bad kind", "t", "t", START_MS))
        await send(bus, notification(4, "bob"))
        assert (await receive(other))["data"]["id"] == "n-4"
        await eventually(lambda: is_announced(pool, 4))
        assert await mails(pool) == [("ada@example.org", "Title 1"), ("bob@example.org", "Title 4")]

        event = next(found for found in await preferences.settings_of("ada") if found.event == "margin_liquidation")
        assert (event.email, event.websocket) == (True, True)
        await set_preferences(preferences, email=False, websocket=True)
        await send(bus, notification(5))
        assert (await receive(client))["data"]["id"] == "n-5"
        await set_preferences(preferences, email=True, websocket=False)
        await send(bus, notification(6))
        await eventually(lambda: is_announced(pool, 6))
        await set_preferences(preferences, email=True, websocket=True)
        await send(bus, notification(7))
        # Neither the repeat nor the sixth came in between.
        assert (await receive(client))["data"]["id"] == "n-7"
        await eventually(lambda: is_announced(pool, 7))
        assert [title for email, title in await mails(pool) if email.startswith("ada")] == [
            "Title 1", "Title 6", "Title 7",
        ]  # fmt: skip


async def set_preferences(preferences: NotificationPreferenceService, *, email: bool, websocket: bool) -> None:
    await preferences.change(
        "ada", NotificationEvent.MARGIN_LIQUIDATION, NotificationPreferenceBody(email=email, websocket=websocket)
    )


async def test_a_full_outbox_takes_nothing_of_a_notification_which_comes_again(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute(
        "INSERT INTO mail_outbox (kind, email, detail, created_at, next_at)"
        " VALUES ('notification', 'x', '', now(), now())"
    )
    async with consuming(bus, pool, outbox_max=1) as taking:
        assert await taking.take([notification(1)]) == [0]
        assert await pool.fetchval("SELECT count(*) FROM notifications") == 0
        await send(bus, notification(2))
        await pool.execute("DELETE FROM mail_outbox")
        await eventually(lambda: is_announced(pool, 2))
        assert await mails(pool) == [("ada@example.org", "Title 2")]


async def test_what_was_kept_but_not_announced_before_a_kill_is_announced_by_another_edge(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, users: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "POLL_INTERVAL_S", 0.2)
    # Nothing announces here: the process has died just after it kept the notification.
    assert await notifications(bus, pool).take([notification(1)]) == []
    assert not await is_announced(pool, 1)
    async with running_edge(settings), open_as(settings, "ada") as client, consuming(bus, pool):
        assert (await receive(client))["data"]["id"] == "n-1"
        await eventually(lambda: is_announced(pool, 1))
        assert len(await mails(pool)) == 1


async def test_what_cannot_be_announced_now_is_announced_later(
    pool: asyncpg.Pool, bus: Bus, users: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    failures = 2

    async def announce(_: str, message: Any) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise BusUnavailableError("no bus")
        heard.append(message.id)

    monkeypatch.setattr(bus, "announce", announce)
    monkeypatch.setattr(delivery, "POLL_INTERVAL_S", 0.2)
    async with consuming(bus, pool) as taking:
        await taking.take([notification(1), notification(2)])
        await eventually(lambda: len(heard) == 2, 20)
    assert heard == ["n-1", "n-2"]
    assert failures == 0


async def test_old_notifications_are_forgotten_after_the_bus_has_dropped_them(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    await notifications(bus, pool).take([notification(1), notification(2)])
    await pool.execute(
        "UPDATE notifications SET taken_at = taken_at - interval '15 days' WHERE notification_id = 'n-1'"
    )
    assert await NotificationStore(pool, Outbox(pool, 100), PushQueue(pool, 100)).delete_old() == 1
    assert await pool.fetchval("SELECT notification_id FROM notifications") == "n-2"


# What tells of itself


async def test_movements_of_a_users_money_are_told_once_by_mail_and_on_the_screen(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    movement = TransferMovement("house:rewards", "ada", "BTC", "0.01")
    told: list[tuple[str, Message, str]] = [
        (subjects.CUSTODY_DEPOSIT_CONFIRMED, DepositConfirmed("tx1", "ada", "BTC", "0.5"), "Deposit credited"),
        (
            subjects.CUSTODY_WITHDRAWAL_REQUESTED,
            WithdrawalRequested("w1", "ada", "BTC", "0.1", "bc1qx"),
            "Withdrawal requested",
        ),
        (
            subjects.CUSTODY_WITHDRAWAL_COMPLETED,
            WithdrawalOutcome("w1", "ada", "BTC", "0.1"),
            "Withdrawal completed",
        ),
        (
            subjects.CUSTODY_WITHDRAWAL_FAILED,
            WithdrawalOutcome("w2", "ada", "BTC", "0.1", "no"),
            "Withdrawal not carried out",
        ),
        (
            subjects.TRANSFERS_EXECUTED,
            ExecutedTransfer("reward:1", "reward", [movement], 7, START_MS),
            "Staking reward paid",
        ),
        (
            subjects.MARGIN_LIQUIDATION_WARNING,
            MarginWarning("margin:ada:warning:1", "margin:ada", "ada", "1.4", "40", "100", START_MS),
            "Your margin account is at risk",
        ),
        (
            subjects.MARGIN_POSITION_CLOSED,
            MarginPositionClosed(
                id="l1:p1",
                liquidation_id="l1",
                margin_account_id="margin:ada",
                user_id="ada",
                position_id="p1",
                symbol="ETH-USD",
                side="buy",
                quantity="1",
                reason="liquidation",
                timestamp=START_MS,
            ),
            "Margin position closed: ETH-USD",
        ),
    ]
    async with running_edge(settings), open_as(settings, "ada") as client, consuming(bus, pool), consuming(bus, pool):
        for number, (subject, event, _) in enumerate(told):
            await bus.publish(subject, event, f"first-{number}")
            await bus.publish(subject, event, f"again-{number}")
        titles = {(await receive(client))["data"]["title"] for _ in told}
        await send(bus, notification(1))
        assert (await receive(client))["data"]["id"] == "n-1"
    expected = {title for _, _, title in told}
    assert titles == expected
    mailed = [title for _, title in await mails(pool)]
    assert sorted(mailed) == sorted([*expected, "Title 1"])


async def test_refused_orders_are_told_to_those_who_want_it_with_the_reason_in_their_language(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute("UPDATE users SET language = 'es' WHERE user_id = 'ada'")
    await NotificationPreferenceService(pool).change(
        "ada", NotificationEvent.ORDER_REFUSED, NotificationPreferenceBody(email=True, websocket=True)
    )
    async with consuming(bus, pool):
        for number, user in enumerate(("bob", "ada", "margin:ada")):
            event = RiskCheckFailed(f"o-{number}", user, "BTC-USD", "quantity", "quantity is required", START_MS)
            await bus.publish(subjects.RISK_CHECK_FAILED, event, f"refused-{number}")

        async def told() -> bool:
            return bool(await pool.fetchval("SELECT count(*) = 2 FROM notifications"))

        await eventually(told)
    rows = await pool.fetch("SELECT notification_id, user_id FROM notifications ORDER BY notification_id")
    assert [tuple(row) for row in rows] == [
        ("order.refused:ada:o-1", "ada"), ("order.refused:margin:ada:o-2", "ada"),
    ]  # fmt: skip
    text = "La orden o-1 no se colocó: cantidad: falta."
    assert await pool.fetchval("SELECT text FROM notifications WHERE notification_id = 'order.refused:ada:o-1'") == text
    mailed = await pool.fetch("SELECT detail FROM mail_outbox WHERE kind = 'notification'")
    assert [row["detail"] for row in mailed] == [f"Orden rechazada: BTC-USD\n{text}"]


async def test_incomplete_orders_are_told_once_to_those_who_want_to_hear_of_fills(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    await pool.execute("UPDATE users SET language = 'es' WHERE user_id = 'ada'")
    await NotificationPreferenceService(pool).change(
        "ada", NotificationEvent.ORDER_FILLED, NotificationPreferenceBody(email=True, websocket=True)
    )

    async def send_all(*, repeat: str) -> None:
        for order, user, filled in (("o-0", "bob", "1"), ("o-1", "ada", "1"), ("o-2", "ada", "0")):
            event = IncompleteOrder(order, user, "BTC-USD", "sell", "2", filled, "100", "IOC_REMAINDER", START_MS)
            await bus.publish(f"{subjects.ORDERS_INCOMPLETE}.{user}", event, f"{order}-{repeat}")

    async with consuming(bus, pool), consuming(bus, pool):
        await send_all(repeat="first")
        # As a router sends them that died before it noted what it had published.
        await send_all(repeat="second")

        async def are_all_taken() -> bool:
            state = await bus.consumer_state(INCOMPLETE.stream.name, INCOMPLETE.durable)
            return state is not None and state.pending == state.unacknowledged == 0

        await eventually(are_all_taken)
    rows = await pool.fetch("SELECT notification_id, kind, title FROM notifications ORDER BY notification_id")
    assert [tuple(row) for row in rows] == [
        ("order.incomplete:o-1", "order.partly_filled", "Orden ejecutada en parte: BTC-USD"),
        ("order.incomplete:o-2", "order.not_filled", "Orden terminada sin operación: BTC-USD"),
    ]
    text = "Vendiste 1 BTC de 2 BTC a 100 USD, y la orden ha terminado."
    stored = await pool.fetchval("SELECT text FROM notifications WHERE notification_id = 'order.incomplete:o-1'")
    assert stored.splitlines()[0] == text
    # Each process writes one mail a minute about orders, and bob wanted none.
    written = await mails(pool)
    assert written
    assert len(set(written)) == len(written)
    assert set(written) <= {("ada@example.org", title) for _, _, title in map(tuple, rows)}


@pytest.mark.usefixtures("users")
async def test_what_was_told_on_the_screen_is_listed_newest_first_in_pages(
    edge: RestClient, bus: Bus, pool: asyncpg.Pool
) -> None:
    preferences = NotificationPreferenceService(pool)
    taking = notifications(bus, pool)
    await taking.take([notification(number) for number in (1, 2, 3)])
    await set_preferences(preferences, email=True, websocket=False)
    await taking.take([notification(4)])
    await taking.take([notification(5, "bob")])
    edge.as_user("ada")
    told = (await edge("GET", "/users/me/notifications")).body
    for row in told:
        NotificationResponse.model_validate(row)
    assert [row["id"] for row in told] == ["n-3", "n-2", "n-1"]
    assert (told[0]["kind"], told[0]["title"], told[0]["text"]) == (KIND, "Title 3", "A text.")
    assert datetime.fromisoformat(told[0]["createdAt"]).timestamp() * 1000 == pytest.approx(START_MS + 3)
    first = await edge("GET", "/users/me/notifications?limit=2")
    rest = await edge("GET", f"/users/me/notifications?limit=2&cursor={first.headers['X-Next-Cursor']}")
    assert first.body + rest.body == told
    assert "X-Next-Cursor" not in rest.headers
    assert (await edge("GET", "/users/me/notifications?cursor=x")).status == 400


async def test_what_is_older_than_the_bus_keeps_notifications_is_told_to_nobody(
    bus: Bus, pool: asyncpg.Pool, users: None
) -> None:
    time = Time()
    taking = notifications(bus, pool, now=time)
    time.now += timedelta(days=7, minutes=1)
    deposit = DepositConfirmed("tx1", "ada", "BTC", "0.5", timestamp=START_MS)
    async with running(taking):
        await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, deposit, "old")
        await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, replace(deposit, tx_hash="tx2", timestamp=None), "new")
        await eventually(lambda: pool.fetchval("SELECT true FROM notifications"))
    assert await pool.fetchval("SELECT notification_id FROM notifications") == "deposit.credited:tx2"
