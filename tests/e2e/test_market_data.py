"""Market data over the real platform and real order flow: equal to the engine and to the trade rows, through kills."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import aiohttp
import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.reconcile.store import EngineReader
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.engine_client import EngineClient
from tests.support.fault_run import Beside, Run, running
from tests.support.market_data import Heard, listening
from tests.support.ports import free_port
from tests.support.shared_data import BITSTAMP, needs_bitstamp
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof

EVENTS = 3_000
SYMBOL = "BTC-USDT"
LEADS = "openspot_market_data_leads"
PROCESSES = ("market-data", "market-data-2")


@pytest.fixture
async def run(breakable: ChildPlatform) -> AsyncIterator[Run]:
    """The platform, with a second market data process beside its own."""
    second = Beside(breakable, SERVICES["market-data"], free_port())
    try:
        await second.child.start()
        await second.child.await_started()
        async with running(breakable, {"market-data-2": second}) as made:
            yield made
    finally:
        await second.child.stop()


async def leader(run: Run) -> str:
    """The process that leads now, once there is one."""

    async def found() -> str | None:
        leading = [name for name in PROCESSES if await run.metric(name, LEADS)]
        return leading[0] if len(leading) == 1 else None

    return str(await eventually(found, 120, 0.1))


async def replay(run: Run) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.cli", "replay", str(BITSTAMP), "--events", str(EVENTS), "--symbol", SYMBOL,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(run.platform.data_dir)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


@needs_bitstamp
@pytest.mark.timeout(stretched(900))
@pytest.mark.spec("A6.3-02", "A6.3-03", "B4.1-30")
async def test_real_order_flow_with_kills_leaves_book_trades_and_candles_equal(run: Run) -> None:
    operator = await Bus.connect(run.settings, "operator")
    engine = EngineClient(run.settings)
    try:
        heard = await listening(operator)
        async with EngineReader(run.settings) as reader:
            begins = (await reader.position()).last_seq
        flow = await replay(run)
        output = asyncio.create_task(flow.communicate())
        for _ in range(2):
            published = len(heard.trades[SYMBOL])
            await eventually(
                lambda published=published: len(heard.trades[SYMBOL]) > published or flow.returncode is not None, 120
            )
            name = await leader(run)
            run.kill(name)
            await leader(run)
        text = (await output)[0].decode()
        assert flow.returncode == 0, text
        assert "0 differences" in text
        await run.healed()
        await equal(run, heard, begins, engine)
    finally:
        await engine.close()
        await operator.close()
    outcome = await asyncio.to_thread(run.openspot, "market-data", "verify", "--wait", str(stretched(60)))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert ": 0 differences" in outcome.stdout


async def equal(run: Run, heard: Heard, begins: int, engine: EngineClient) -> None:
    """Wait until a client's book and trades, and the edge's answers, are the engine's and the trade rows'.

    The client has heard the events after the sequence `begins`.
    """
    _, expected = await engine.request("GET", f"/api/v1/marketdata/orderbook/{SYMBOL}?depth=1000")
    sides = tuple([tuple(level) for level in expected[side]] for side in ("bids", "asks"))
    assert min(map(len, sides)) > 20
    await eventually(lambda: heard.books[SYMBOL].levels == sides, 60)
    connection = await asyncpg.connect(run.settings.database_url)
    try:
        rows = await connection.fetch("SELECT trade_id, sequence FROM trades WHERE symbol = $1", SYMBOL)
        new = {row["trade_id"] for row in rows if row["sequence"] > begins}
        assert len(new) > 50
        await eventually(lambda: {trade.trade_id for trade in heard.trades[SYMBOL]} == new, 60)
        counted = "SELECT sum(trades) FROM market_candles WHERE symbol = $1 AND interval = '1h'"

        async def all_are_counted() -> bool:
            return bool(await connection.fetchval(counted, SYMBOL) == len(rows))

        await eventually(all_are_counted, 60, 0.1)
    finally:
        await connection.close()
    async with aiohttp.ClientSession(f"{run.settings.rest_url}") as session:
        async with session.get(f"/api/v1/markets/{SYMBOL}/orderbook?depth=1000") as response:
            book = await response.json()
        async with session.get(f"/api/v1/markets/{SYMBOL}/trades?limit=1") as response:
            newest = await response.json()
        async with session.get(f"/api/v1/markets/{SYMBOL}/candles?interval=1w") as response:
            candles = await response.json()
    assert (book["bids"], book["asks"]) == (expected["bids"], expected["asks"])
    assert newest[0]["sequence"] == max(row["sequence"] for row in rows)
    assert sum(candle["trades"] for candle in candles) == len(rows)


@pytest.mark.timeout(stretched(900))
async def test_verify_finds_a_tampered_row(run: Run) -> None:
    async with run.flowing():
        await run.takes_orders(30)
    await run.healed()

    async def verify() -> tuple[int, str]:
        outcome = await asyncio.to_thread(run.openspot, "market-data", "verify", "--wait", str(stretched(60)))
        return outcome.returncode, outcome.stdout + outcome.stderr

    code, text = await verify()
    assert code == 0, text
    connection = await asyncpg.connect(run.settings.database_url)
    try:
        row = await connection.fetchrow("SELECT * FROM market_candles WHERE interval = '1m' ORDER BY begins_at LIMIT 1")
        assert row is not None
        change = "UPDATE market_candles SET high = high + $4 WHERE (symbol, interval, begins_at) = ($1, $2, $3)"
        await connection.execute(change, row["symbol"], "1m", row["begins_at"], 1)
        code, text = await verify()
        assert code == 1, text
        assert f"{row['symbol']} 1m {row['begins_at']:%Y-%m-%dT%H:%MZ}: high is" in text
        await connection.execute(change, row["symbol"], "1m", row["begins_at"], -1)
    finally:
        await connection.close()
    code, text = await verify()
    assert code == 0, text
