"""An engine whose events do not continue those before: a new journal, and one that is older than the candles."""

import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import asyncpg

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.integration.market_data.test_publishing import SYMBOL, reaches_the_engines_book
from tests.support.engine_client import EngineClient, running_engine
from tests.support.market_data import Heard, listening, running_market_data
from tests.support.waiting import eventually


async def trade(engine: EngineClient, price: str) -> None:
    for user in ("alice", "bob"):
        await engine.fund(user)
    await engine.place("sell", price, "1", "alice")
    await engine.place("buy", price, "0.25", "bob")


def published(heard: Heard) -> list[str]:
    return [trade.price for trade in heard.trades[SYMBOL]]


async def counted(pool: asyncpg.Pool, trades: int) -> None:
    async def reached() -> bool:
        return bool(await pool.fetchval("SELECT count(*) FROM market_trades") == trades)

    await eventually(reached, 60)


async def test_a_new_journal_begins_new_books_and_goes_on_with_the_candles(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    heard = await listening(bus)
    async with AsyncExitStack() as stack:
        async with running_engine(settings) as engine:
            await stack.enter_async_context(running_market_data(settings))
            await trade(engine, "100")
            await counted(pool, 1)
            await reaches_the_engines_book(heard, engine)
        async with running_engine(settings.model_copy(update={"data_dir": tmp_path / "new"})) as engine:
            await trade(engine, "200")
            await counted(pool, 2)
            await reaches_the_engines_book(heard, engine)
            await eventually(lambda: published(heard) == ["100", "200"])
            # The sequences have started again, so no trade of this journal came before.
            assert heard.trades[SYMBOL][1].prev_seq == 0
            rows = await pool.fetch("SELECT open, close, trades FROM market_candles WHERE interval = '1w'")
            assert [(row["open"], row["close"], row["trades"]) for row in rows] == [(100, 200, 2)]


async def test_an_engine_older_than_the_candles_is_not_followed(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    older = tmp_path / "older"
    async with running_engine(settings) as engine:
        await trade(engine, "100")
    shutil.copytree(settings.data_dir / "engine", older / "engine")
    async with running_engine(settings) as engine, running_market_data(settings):
        await trade(engine, "101")
        await counted(pool, 2)
    async with running_engine(settings.model_copy(update={"data_dir": older})):
        heard = await listening(bus)
        async with running_market_data(settings, await_ready=False):
            await eventually(lambda: told(settings, "its data directory is older than the platform's"), 60)
        assert heard.book_messages == {}
        assert published(heard) == []
    assert await pool.fetchval("SELECT count(*) FROM market_trades") == 2


async def told(settings: Settings, reason: str) -> bool:
    """Whether readiness is refused with this reason."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{settings.host}:{settings.market_data_port}/ready") as response,
        ):
            return response.status == 503 and reason in await response.text()
    except aiohttp.ClientError:
        return False
