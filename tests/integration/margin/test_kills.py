"""The service as child processes: kill -9 after each step of a liquidation and at random, and a leader that stops."""

import asyncio
import random
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import nats
import pytest
import pytest_asyncio

from openspot.contracts import subjects
from openspot.margin.liquidation import LiquidationStep
from openspot.margin.settings import MarginSettings
from tests.support.databases import TestDatabases
from tests.support.margin import MarginMarket, margin_market
from tests.support.margin_child import MarginChild
from tests.support.ports import free_port
from tests.support.router_client import listening
from tests.support.suspension import frozen
from tests.support.waiting import eventually, stretched

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(stretched(900))]

WAIT_S = 120.0
RANDOM_KILLS = 4
SEQUENCE = [subjects.MARGIN_POSITION_CLOSED, subjects.NOTIFICATIONS_SEND, subjects.ORDERS_LIQUIDATION]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def market(run_folder: Path, databases: TestDatabases) -> AsyncIterator[MarginMarket]:
    """A market without a margin process. A lease of one second lets the next process begin soon."""
    async with margin_market(run_folder, databases) as made:
        made.settings = made.settings.model_copy(update={"margin_lease_s": 1.0})
        yield made


async def open_longs(market: MarginMarket, child: MarginChild, *users: str) -> None:
    """Accounts of 10 USD that buy 0.8 BTC at 100 on credit."""
    await market.trade_at("100")
    for user in users:
        await market.deposit(user, "USD", "10")
        await eventually(lambda user=user: market.engine.balances(user))
        assert (await market.move(user, "10")).success
        await market.place("sell", "100", "0.8", "bob")
        opened = await market.open(user, "buy", "0.8", "10")
        assert opened.success, opened


async def drop(market: MarginMarket, count: int) -> int:
    """Let the price fall to 92, with a bid that takes everything; returns the id of the bid."""
    bid = await market.place("buy", "92", str(count), "bob")
    await market.place("sell", "92", "0.01", "carol")
    await market.prices.publish("BTC-USD", "92")
    return bid


async def under_way(market: MarginMarket, user: str) -> bool:
    query = (
        "SELECT EXISTS (SELECT FROM margin_liquidations JOIN margin_accounts USING (account_id) WHERE user_id = $1"
        " AND step IS NULL)"
    )
    return not await market.pool.fetchval(query, user)


async def is_liquidated(market: MarginMarket, *users: str) -> bool:
    return not any([await under_way(market, user) for user in users])


async def stored(market: MarginMarket) -> int:
    """How many messages the streams of liquidations hold; a stream drops a repeated id."""
    client = await nats.connect(market.settings.nats_url)
    try:
        return (await client.jetstream().stream_info("NOTIFICATIONS")).state.messages
    finally:
        await client.close()


async def check_once(market: MarginMarket, *users: str) -> None:
    """Each user was liquidated once: two orders in all, one repaid loan, nothing lost."""
    for user in users:
        account_id = f"margin:{user}"
        rows = await market.pool.fetch("SELECT side, status FROM orders WHERE user_id = $1 ORDER BY side", account_id)
        assert [tuple(row) for row in rows] == [("buy", "filled"), ("sell", "filled")], user
        for table in ("margin_liquidations", "margin_positions", "margin_loans"):
            query = f"SELECT count(*) FROM {table} WHERE account_id = $1"
            assert await market.pool.fetchval(query, account_id) == 1, (user, table)
        query = "SELECT status FROM margin_loans WHERE account_id = $1"
        assert await market.pool.fetchval(query, account_id) == "repaid"
    assert Decimal(await market.total("house:lending")) == 50_000
    assert await market.differences() == []


async def test_a_process_killed_after_each_step_leaves_it_to_the_next_one(market: MarginMarket) -> None:
    children = [MarginChild(market.settings, free_port())]
    try:
        await children[0].start()
        await open_longs(market, children[0], "stepwise")
        children[0].kill()
        patterns = ("margin.position.closed", "notifications.>", "orders.liquidation")
        before = await stored(market)
        async with listening(market.settings.nats_url, *patterns) as heard:
            bid = await drop(market, 1)
            for step in LiquidationStep:
                child = MarginChild(market.settings, free_port())
                children.append(child)
                await child.start(dies_after=step.value)
                assert await child.end() == -9, f"it did not reach {step}"
                row = await market.pool.fetchrow("SELECT step FROM margin_liquidations")
                assert row["step"] == step.value, "a step is stored when it has ended"
            last = MarginChild(market.settings, free_port())
            children.append(last)
            await last.start()
            await eventually(lambda: is_liquidated(market, "stepwise"), WAIT_S)
            # The bus has stored the last message before this connection has heard it.
            await eventually(lambda: {subject for subject, *_ in heard.messages} >= set(SEQUENCE))
            told = [subject for subject, *_ in heard.messages]
        assert sorted(set(told), key=SEQUENCE.index) == SEQUENCE
        assert told == sorted(told, key=SEQUENCE.index)
        assert await stored(market) == before + 1
        await check_once(market, "stepwise")
        await market.engine.cancel(bid, "bob")
    finally:
        for child in children:
            child.kill()


@pytest.mark.proof
async def test_processes_killed_at_random_liquidate_every_account_once(market: MarginMarket) -> None:
    chance = random.Random(11)
    users = [f"random{number}" for number in range(6)]
    child = MarginChild(market.settings, free_port())
    try:
        await child.start()
        await open_longs(market, child, *users)
        before = await stored(market)
        bid = await drop(market, 6)
        for _ in range(RANDOM_KILLS):
            done = await market.pool.fetchval("SELECT count(*) FROM margin_liquidations")
            await eventually(lambda done=done: _begun(market, done, users), WAIT_S)
            # Any moment of the work will do; each run comes to another place.
            await asyncio.sleep(chance.random() * 0.05)
            child.kill()
            await child.start()
        await eventually(lambda: is_liquidated(market, *users), WAIT_S)
        assert await stored(market) == before + len(users)
        await check_once(market, *users)
        await market.engine.cancel(bid, "bob")
    finally:
        child.kill()


async def _begun(market: MarginMarket, before: int, users: list[str]) -> bool:
    count = await market.pool.fetchval("SELECT count(*) FROM margin_liquidations")
    return count > before or await is_liquidated(market, *users)


@pytest.mark.proof
@pytest.mark.spec("A1.1-06", "A1.1-49", "A1.1-51")
async def test_a_stopped_leader_is_replaced_and_does_nothing_again_when_it_goes_on(market: MarginMarket) -> None:
    first, second = (MarginChild(market.settings, free_port()) for _ in range(2))
    try:
        await first.start()
        await open_longs(market, first, "paused")
        await second.start()
        assert MarginSettings().margin_port == 3009
        for child in (first, second):
            # One scans, the other stands by: both are healthy, and ready once the other is known to scan.
            for path in ("/health", "/ready"):
                await eventually(lambda child=child, path=path: _is_ok(child, path), WAIT_S)
        before = await stored(market)
        with frozen(first.pid):
            bid = await drop(market, 1)
            await eventually(lambda: is_liquidated(market, "paused"), WAIT_S)
        # The first process goes on where it stood, and scans again only when it gets the lease back.
        second.kill()

        async def leads() -> bool:
            return "openspot_margin_leads 1.0" in await _metrics(first)

        await eventually(leads, WAIT_S)
        assert await stored(market) == before + 1
        await check_once(market, "paused")
        await market.engine.cancel(bid, "bob")
    finally:
        first.kill()
        second.kill()


async def _is_ok(child: MarginChild, path: str) -> bool:
    settings: Any = child.settings
    async with aiohttp.ClientSession() as session, session.get(f"{settings.margin_url}{path}") as response:
        return response.status == 200 and (await response.json())["status"] == "ok"


async def _metrics(child: MarginChild) -> str:
    settings: Any = child.settings
    async with aiohttp.ClientSession() as session, session.get(f"{settings.margin_url}/metrics") as response:
        return await response.text()
