"""`openspot up --demo`: all markets live, in a fresh data directory, after a second start, and after a kill."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from openspot.client import OpenSpotClient, Push
from openspot.demo.settings import DemoSettings
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS, DEMO_MAKER
from openspot.up.child_platform import ChildPlatform
from tests.support.platforms import child_platform
from tests.support.waiting import STARVED, eventually, eventually_served, stretched

pytestmark = pytest.mark.proof

LIVE_S_MAX = 180.0
START_TIMEOUT_S = stretched(240)
PAUSE_S = 0.25
OPEN = ["pending", "open", "partially_filled"]
ASSETS = 7


@pytest.fixture(scope="module")
def demo() -> Iterator[ChildPlatform]:
    """A platform with the demo market in a fresh data directory, with throttling on."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-demo-"))
    child = child_platform(folder, arguments=["--demo"])
    try:
        child.start(START_TIMEOUT_S)
        yield child
    finally:
        child.stop()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def maker(platform: ChildPlatform) -> AsyncIterator[OpenSpotClient]:
    """A session of the maker's own user, whom nobody throttles."""
    settings = platform.settings
    async with OpenSpotClient(settings.rest_url, settings.ws_url) as client:
        await eventually_served(lambda: client.login(DEMO_MAKER.email, settings.demo_password), LIVE_S_MAX, PAUSE_S)
        yield client


async def fetch(platform: ChildPlatform, query: str, *values: object) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        return [tuple(row) for row in await connection.fetch(query, *values)]
    finally:
        await connection.close()


async def still(platform: ChildPlatform, client: OpenSpotClient, since_ms: int) -> list[str]:
    """What the markets still lack: books with two sides, and a trade and its candle since that time."""
    await client.login(DEMO_MAKER.email, platform.settings.demo_password)
    found = []
    tickers = await client.tickers()
    assert len(tickers) == 12
    for ticker in tickers:
        book = await client.order_book(ticker.symbol)
        if not (book.bids and book.asks and book.bids[0].price < book.asks[0].price):
            found.append(f"{ticker.symbol}: two sides")
        trades = await client.trades(ticker.symbol, limit=1)
        if not (trades.entries and trades.entries[0].timestamp >= since_ms):
            found.append(f"{ticker.symbol}: a trade")
        candles = await client.candles(ticker.symbol, interval="1m", limit=1)
        if not (candles and candles[-1].timestamp >= since_ms - 60_000):
            found.append(f"{ticker.symbol}: a candle")
    return found


async def await_live_markets(platform: ChildPlatform, since_ms: int) -> None:
    settings = platform.settings
    async with OpenSpotClient(settings.rest_url, settings.ws_url) as client:
        lacking = ["everything"]

        async def all_live() -> bool:
            lacking[:] = await still(platform, client, since_ms)
            return not lacking

        await eventually_served(all_live, LIVE_S_MAX, PAUSE_S)


async def deposits(platform: ChildPlatform) -> list[tuple[object, ...]]:
    return await fetch(
        platform,
        "SELECT user_id, asset, amount FROM ledger_entries WHERE entry_type = 'deposit'"
        " AND (user_id LIKE 'demo-%' OR user_id LIKE 'house:%') AND user_id <> 'house:external' ORDER BY 1, 2",
    )


async def funded(platform: ChildPlatform) -> list[tuple[object, ...]]:
    """The deposits once every bot and every account of the house has its own, in every asset."""
    accounts = len(DEMO_ACCOUNTS) + len(DemoSettings().house_dollars)

    async def all_funds() -> list[tuple[object, ...]]:
        found = await deposits(platform)
        return found if len(found) == accounts * ASSETS else []

    return await eventually(all_funds, LIVE_S_MAX, PAUSE_S)


async def lives(platform: ChildPlatform) -> set[str]:
    """The lives of the bots that have open orders: all but the number of each client order id."""
    rows = await fetch(platform, "SELECT client_order_id FROM orders WHERE status = ANY($1::text[])", OPEN)
    return {str(name).rpartition("-")[0] for (name,) in rows}


async def maker_life(platform: ChildPlatform) -> str:
    """The one life of the maker that has open orders, once there is one."""

    async def only_one() -> str:
        found = {life for life in await lives(platform) if life.startswith(DEMO_MAKER.user_id)}
        return found.pop() if len(found) == 1 else ""

    return await eventually(only_one, LIVE_S_MAX, PAUSE_S)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def test_every_market_has_a_book_trades_and_candles_and_a_stream_of_them(demo: ChildPlatform) -> None:
    await await_live_markets(demo, 0)
    async with (
        maker(demo) as client,
        client.stream("orderbook:ETH-BTC", "trades:ETH-BTC", "candles:ETH-BTC:1m") as live,
    ):
        wanted = {"orderbook:ETH-BTC", "trades:ETH-BTC", "candles:ETH-BTC:1m"}
        async for event in live:
            assert isinstance(event, Push)
            wanted.discard(event.channel if event.type == "update" else "")
            if not wanted:
                break


async def test_a_stranger_converts_stakes_and_borrows_and_sees_a_past_and_positions(demo: ChildPlatform) -> None:
    await funded(demo)
    settings, credentials = demo.settings, ("stranger@example.com", "correct horse battery")
    async with OpenSpotClient(settings.rest_url, settings.ws_url) as client:
        user = await client.register(*credentials)
        await client.login(*credentials)
        for asset, amount in (("USD", "5000"), ("USDT", "500")):
            given = await asyncio.to_thread(openspot, demo, "deposit", user.user_id, asset, amount)
            assert given.returncode == 0, given.stderr

        async def accepted(request: Callable[[], Awaitable[object]]) -> None:
            """Wait until the platform does it: prices need some seconds of quotes and takes."""

            async def is_done() -> bool:
                await request()
                return True

            await eventually_served(is_done, LIVE_S_MAX, 1.0, refusals=STARVED | {409})

        async def convert() -> None:
            quote = await client.quote_conversion("USD", "BTC", from_amount=100)
            assert (await client.convert(quote.quote_id)).status == "completed"

        await accepted(convert)
        stake = await client.stake("usdt-flexible", 100)
        await client.unstake(stake.id, amount=25)
        await client.move_collateral("USD", 1000, "in")
        await accepted(lambda: client.borrow("USD", 500))
        await accepted(lambda: client.borrow("BTC", "0.003"))

        async def is_sure() -> bool:
            return (await client.fair_price("BTC-USD")).state == "good"

        await eventually_served(is_sure, 2 * LIVE_S_MAX, 1.0)
    [(past,)] = await fetch(
        demo, "SELECT count(*) FROM market_candles WHERE symbol = 'BTC-USD' AND interval = '1m' AND is_imported"
    )
    assert isinstance(past, int)
    assert past >= 12 * 60
    assert await fetch(demo, "SELECT 1 FROM positions LIMIT 1")


async def test_a_killed_bot_process_comes_back_and_clears_its_former_orders(demo: ChildPlatform) -> None:
    former = await maker_life(demo)
    funds = await funded(demo)
    killed = demo.kill("demo")
    await eventually(lambda: demo.state.pids.get("demo") not in (None, killed), LIVE_S_MAX, PAUSE_S)

    async def replaced() -> bool:
        found = {life for life in await lives(demo) if life.startswith(DEMO_MAKER.user_id)}
        return bool(found) and former not in found

    await eventually(replaced, LIVE_S_MAX, PAUSE_S)
    assert await deposits(demo) == funds
    bots = "SELECT user_id, email FROM users WHERE user_id LIKE 'demo-%' ORDER BY 1"
    assert await fetch(demo, bots) == sorted(DEMO_ACCOUNTS)


async def test_it_stops_without_leftovers_and_starts_again_with_the_same_funds(demo: ChildPlatform) -> None:
    await await_live_markets(demo, 0)
    funds = await funded(demo)
    former = await maker_life(demo)
    assert demo.stop() == 0
    stopped = datetime.now(UTC)
    demo.start(START_TIMEOUT_S)
    async with maker(demo) as client:
        totals = {balance.asset: balance.total for balance in await client.balances()}
    # They are what trading has left, not new funds.
    [given] = [amount for user_id, asset, amount in funds if (user_id, asset) == (DEMO_MAKER.user_id, "USD")]
    assert 0 < abs(totals["USD"] / given - 1) < 0.05
    # The former orders were cancelled by the stop, not by the next start.
    left = "SELECT order_id FROM orders WHERE client_order_id LIKE $1 AND (status = ANY($2::text[]) OR updated_at > $3)"
    await eventually(lambda: no_rows(demo, left, f"{former}-%", OPEN, stopped), LIVE_S_MAX, PAUSE_S)
    await await_live_markets(demo, int(stopped.timestamp() * 1000))
    assert await deposits(demo) == funds
    for check in ("reconcile",), ("market-data", "verify"):
        outcome = await asyncio.to_thread(openspot, demo, *check, "--wait", str(stretched(120)))
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def openspot(platform: ChildPlatform, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )


async def no_rows(platform: ChildPlatform, query: str, *values: object) -> bool:
    return not await fetch(platform, query, *values)
