"""Filled orders in the router's rows: who is told of them, and how often, whatever dies meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from openspot.domain.partition import partitions
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications import fills
from openspot.rest_edge.notifications.fill_store import FillStore
from openspot.rest_edge.notifications.fills import AGE_MAX, FillNotifier
from openspot.rest_edge.notifications.order_mails import ORDER_MAIL_GAP_S, OrderMails
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.schemas import NotificationPreferenceBody
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient
from tests.support.router_rows import RouterRows
from tests.support.waiting import eventually


class Exchange:
    """The rows of a router and the notifiers of edges, at a time that the test moves. A trade is made each second."""

    def __init__(self, pool: asyncpg.Pool, outbox_max: int = 1_000) -> None:
        self.pool = pool
        self.now = datetime.now(UTC)
        self.rows = RouterRows(pool)
        self._store = NotificationStore(pool, Outbox(pool, outbox_max, self._now), PushQueue(pool, 9, self._now))
        self.notifier = self.another_notifier()

    def _now(self) -> datetime:
        return self.now

    def another_notifier(self) -> FillNotifier:
        """The notifier of another edge, or of one that starts anew."""
        return FillNotifier(self.pool, self._store, FillStore(self.pool), OrderMails(), self._now)

    async def wants(self, *users: str) -> None:
        """These users want to hear of filled orders, on the screen and by mail."""
        preferences = NotificationPreferenceService(self.pool)
        body = NotificationPreferenceBody(email=True, websocket=True)
        for user in users:
            await preferences.change(user, NotificationEvent.ORDER_FILLED, body)

    async def trade(self, buyer: str, seller: str, **fields: Any) -> None:
        """A trade that fills the buyer's order."""
        self.now += timedelta(seconds=1)
        await self.rows.trade(buyer, seller, self.now, **fields)

    async def told(self) -> list[str]:
        """The ids of all notifications, in their order."""
        rows = await self.pool.fetch("SELECT notification_id FROM notifications ORDER BY number")
        return [row["notification_id"].removeprefix("order.filled:") for row in rows]

    async def mails(self) -> int:
        """The number of mails of notifications."""
        return int(await self.pool.fetchval("SELECT count(*) FROM mail_outbox WHERE kind = 'notification'"))


async def people(pool: asyncpg.Pool) -> None:
    """Ada, Bob and Carl."""
    for user in ("ada", "bob", "carl"):
        row = {"user_id": user, "email": f"{user}@example.org"}
        await insert(pool, "users", row, role="user", email=row["email"])


@pytest.fixture
async def exchange(pool: asyncpg.Pool) -> Exchange:
    """An exchange without an edge that would tell of the fills, too. Ada wants to hear of them."""
    await people(pool)
    exchange = Exchange(pool)
    await exchange.wants("ada")
    return exchange


async def test_filled_orders_are_told_to_those_who_want_it_and_mailed_once_a_minute(exchange: Exchange) -> None:
    await exchange.rows.begin()
    for buyer, seller, seller_fills in (("bob", "carl", True), ("ada", "bob", False), ("bob", "ada", False)):
        await exchange.trade(buyer, seller, seller_fills=seller_fills)
    await exchange.trade("bob", "ada", seller_fills=True)
    await exchange.notifier.tell()
    assert await exchange.told() == ["journal-buy-2", "journal-sell-4"]
    text = await exchange.pool.fetchval("SELECT text FROM notifications ORDER BY number LIMIT 1")
    assert (text, await exchange.mails()) == ("You bought 0.5 BTC at 100 USD.", 1)
    exchange.now += timedelta(seconds=ORDER_MAIL_GAP_S - 2)
    await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    assert (len(await exchange.told()), await exchange.mails()) == (3, 1)
    exchange.now += timedelta(seconds=ORDER_MAIL_GAP_S)
    await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    assert (len(await exchange.told()), await exchange.mails()) == (4, 2)


async def test_several_edges_tell_each_fill_once_in_bounded_steps(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fills, "TRADES_MAX", 7)
    monkeypatch.setattr(fills, "TOLD_MAX", 3)
    await exchange.rows.begin()
    await exchange.wants("bob")
    notifiers = [exchange.another_notifier() for _ in range(3)]
    for _ in range(2):
        for _ in range(5):
            await exchange.trade("ada", "bob", seller_fills=True)
            await exchange.trade("carl", "carl")
        await asyncio.gather(*(notifier.tell() for notifier in notifiers))
    # An edge that found the lock taken leaves the rest to the next second.
    await notifiers[0].tell()
    told = await exchange.told()
    assert (len(told), len(set(told))) == (20, 20)
    # A restored database may be behind what users were told: that is not told again.
    await exchange.pool.execute("UPDATE fill_notification_positions SET sequence = 0, executed_at = 'epoch'")
    await notifiers[1].tell()
    assert await exchange.told() == told


@pytest.mark.parametrize("dies_at", ["note", "filled_orders"])
async def test_an_edge_that_dies_before_its_commit_leaves_all_of_it_to_the_next(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch, dies_at: str
) -> None:
    await exchange.rows.begin()
    await exchange.trade("ada", "bob")

    class KilledError(BaseException):
        """The process ends here."""

    async def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(FillStore, dies_at, killed)
        with pytest.raises(KilledError):
            await exchange.another_notifier().tell()
    assert (await exchange.told(), await exchange.mails()) == ([], 0)
    await exchange.another_notifier().tell()
    assert (await exchange.told(), await exchange.mails()) == (["journal-buy-1"], 1)


async def test_a_partition_that_lags_behind_loses_no_fill_to_the_others(exchange: Exchange) -> None:
    await exchange.rows.begin(2)
    first, second = partitions(2)
    symbols = {of: next(f"{base}-USD" for base in "ABCDEFGH" if of.has(f"{base}-USD")) for of in (first, second)}
    early, late = exchange.rows.next_sequence(), exchange.rows.next_sequence()
    await exchange.trade("ada", "bob", of=first, symbol=symbols[first], sequence=late)
    await exchange.notifier.tell()
    assert await exchange.told() == []
    # Its engine time is earlier, too; its row comes later.
    exchange.now -= timedelta(seconds=2)
    await exchange.trade("ada", "bob", of=second, symbol=symbols[second], sequence=early)
    await exchange.notifier.tell()
    assert await exchange.told() == ["journal-buy-1"]
    await exchange.rows.move(second, late)
    await exchange.notifier.tell()
    assert await exchange.told() == ["journal-buy-1", "journal-buy-2"]


async def test_a_new_journal_of_the_engine_begins_anew(exchange: Exchange) -> None:
    await exchange.rows.begin()
    for _ in range(3):
        await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    await exchange.rows.begin_journal("next")
    await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    assert await exchange.told() == ["journal-buy-1", "journal-buy-2", "journal-buy-3", "next-buy-1"]


async def test_while_the_outbox_is_full_fills_wait_and_none_is_lost(pool: asyncpg.Pool) -> None:
    await people(pool)
    exchange = Exchange(pool, outbox_max=1)
    await exchange.rows.begin()
    await exchange.wants("ada")
    await pool.execute(
        "INSERT INTO mail_outbox (kind, email, detail, created_at, next_at) VALUES ('verify', 'x', '', now(), now())"
    )
    await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    assert await exchange.told() == []
    await pool.execute("DELETE FROM mail_outbox")
    await exchange.notifier.tell()
    assert (await exchange.told(), await exchange.mails()) == (["journal-buy-1"], 1)


async def test_what_was_filled_too_long_ago_is_told_to_nobody(exchange: Exchange) -> None:
    await exchange.rows.begin()
    await exchange.trade("bob", "carl")
    await exchange.notifier.tell()
    await exchange.trade("ada", "bob")
    exchange.now += AGE_MAX
    await exchange.trade("ada", "bob")
    await exchange.notifier.tell()
    assert await exchange.told() == ["journal-buy-3"]


async def test_a_running_edge_tells_of_fills(own_edge: RestClient, pool: asyncpg.Pool) -> None:
    await people(pool)
    exchange = Exchange(pool)
    await exchange.rows.begin()
    await exchange.wants("ada")
    await exchange.trade("ada", "bob")

    async def is_announced() -> bool:
        return bool(await pool.fetchval("SELECT announced FROM notifications"))

    await eventually(is_announced)
