"""Candles: each trade counts once, whatever is killed, paused or lost, and the check that proves it."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetBook, GetBookReply, GetTickers, GetTickersReply, MarketTradeEvent
from openspot.domain.candles import Interval, begin_of
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import Bus
from openspot.kit.clock import utc_now
from openspot.kit.settings import Settings, environment_of
from openspot.market_data.candle_import import CandlesImported, import_candles
from openspot.market_data.imported_candles import ImportedCandle, read_candles
from openspot.market_data.store import FencedError, MarketDataStore
from openspot.market_data.verify import CandlesNotComparableError, CandleVerification, verify
from tests.support.engine_client import EngineClient
from tests.support.market_data import (
    Heard,
    MarketDataProcess,
    listening,
    market_data_process,
    market_data_ready,
    running_market_data,
)
from tests.support.mirrored_market import MirroredMarket, mirrored_market
from tests.support.parts import first_then_proof
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

SYMBOL = "BTC-USD"
WAIT_S = stretched(60.0)
QUICK_LEASE = {"market_data_lease_s": 5.0}
BACKLOG_MAX = 500
"""Sequences that the load of a test may be ahead of the recording."""
"""Long enough that a busy machine takes it from no process that runs."""


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Engine, router and ledger, and users with funds."""
    async with mirrored_market(settings, bus, pool) as made:
        await made.fund()
        yield made


async def checkpoint(pool: asyncpg.Pool) -> int:
    return int(await pool.fetchval("SELECT coalesce(max(sequence), 0) FROM market_data_checkpoints"))


async def recorded(pool: asyncpg.Pool, engine: EngineClient) -> None:
    """Wait until the candles include the engine's newest event."""
    newest = await engine.last_sequence()

    async def reached() -> bool:
        return await checkpoint(pool) >= newest

    await eventually(reached, 60)


async def verified(settings: Settings) -> CandleVerification:
    found = await verify(settings, WAIT_S)
    assert found.differences == []
    return found


@pytest.mark.spec("B4.1-30")
async def test_candles_equal_the_trade_rows(settings: Settings, pool: asyncpg.Pool, market: MirroredMarket) -> None:
    async with running_market_data(settings):
        await market.trade(rounds=10)
        await recorded(pool, market.engine)
        found = await verified(settings)
    assert found.trades == await pool.fetchval("SELECT count(*) FROM trades") > 10
    rows = await pool.fetch("SELECT interval, sum(trades) AS trades FROM market_candles GROUP BY interval")
    assert {row["interval"]: row["trades"] for row in rows} == dict.fromkeys(
        ("1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"), found.trades
    )


async def test_candles_are_published_as_they_change_and_by_every_new_leader(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    quick = settings.model_copy(update={"market_data_ticker_ms": 10})
    heard = await listening(bus)
    async with running_market_data(quick):
        await market.trade(rounds=5)
        await recorded(pool, market.engine)
        rows = await pool.fetch("SELECT * FROM market_candles")
        await eventually(lambda: _candles(heard) == _rows(rows))
    newest = {interval: max(key for key in heard.candles if key[1] == interval) for _, interval, _ in heard.candles}
    late = await listening(bus)
    async with running_market_data(quick):
        await eventually(lambda: set(late.candles) == set(newest.values()))
    assert all(late.candles[key] == heard.candles[key] for key in late.candles)


def _candles(heard: Heard) -> set[tuple[object, ...]]:
    return {
        (candle.symbol, candle.interval, candle.timestamp, candle.seq, candle.trades, *map(Decimal, (
            candle.open, candle.high, candle.low, candle.close, candle.volume,
        )))
        for candle in heard.candles.values()
    }  # fmt: skip


def _rows(rows: list[asyncpg.Record]) -> set[tuple[object, ...]]:
    return {
        (row["symbol"], row["interval"], round(row["begins_at"].timestamp() * 1000), row["last_sequence"],
         row["trades"], row["open"], row["high"], row["low"], row["close"], row["volume"])
        for row in rows
    }  # fmt: skip


STEPS = {
    "before it publishes a trade": ("Bus.announce", "before", "marketdata.trade"),
    "after it published a trade": ("Bus.announce", "after", "marketdata.trade"),
    "before it records": ("MarketDataStore.record", "before", ""),
    "after it recorded": ("MarketDataStore.record", "after", ""),
}


def killing(method: str, moment: str, only: str) -> str:
    """Python that makes the child kill itself at its second call of a method that concerns a trade."""
    owner = {"Bus": "openspot.kit.bus.bus", "MarketDataStore": "openspot.market_data.store"}[method.partition(".")[0]]
    kind, _, name = method.partition(".")
    return (
        "import os, signal\n"
        f"from {owner} import {kind}\n"
        f"original, calls = {kind}.{name}, []\n"
        "async def deadly(self, *arguments):\n"
        f"    counts = str(arguments[0]).startswith({only!r}) if {bool(only)} else bool(arguments[1])\n"
        "    calls.extend([1] if counts else [])\n"
        f"    if counts and len(calls) == 2 and {moment!r} == 'before':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    result = await original(self, *arguments)\n"
        f"    if counts and len(calls) == 2 and {moment!r} == 'after':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return result\n"
        f"{kind}.{name} = deadly\n"
    )


@pytest.mark.parametrize("step", first_then_proof(*STEPS))
async def test_a_kill_between_two_steps_neither_loses_nor_repeats_a_trade(
    step: str, settings: Settings, bus: Bus, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    heard = await listening(bus)
    quick = settings.model_copy(update=QUICK_LEASE)
    child = MarketDataProcess(quick, killing(*STEPS[step]))
    child.start()
    await market_data_ready(quick)

    async def is_killed() -> bool:
        await market.trade(rounds=1)
        return child.exit_code is not None

    await eventually(is_killed, 60)
    assert child.exit_code == -signal.SIGKILL
    await market.trade(rounds=2)
    async with running_market_data(quick):
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        await verified(settings)
    trades = [event["seq"] for event in await market.engine.events(1, await market.engine.last_sequence())
              if event["type"] == "trade"]  # fmt: skip
    # A repeat after the kill is allowed, a missing trade is not.
    await eventually(lambda: sorted(_published(heard)) == trades)
    assert await pool.fetchval("SELECT count(*) FROM market_trades") == len(trades)


def _published(heard: Heard) -> set[int]:
    return {trade.seq for trade in heard.trades[SYMBOL]}


@pytest.mark.proof
async def test_kills_at_random_moments_under_load(
    settings: Settings, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    quick = settings.model_copy(update=QUICK_LEASE)
    stop = asyncio.Event()

    async def load() -> None:
        while not stop.is_set():
            # Ahead of the recording, but not so far that a quick machine spends the users' funds.
            if await market.engine.last_sequence() - await checkpoint(pool) < BACKLOG_MAX:
                await market.trade(rounds=1)
            else:
                await asyncio.sleep(0.01)

    flow = asyncio.create_task(load())
    try:
        for _ in range(2):
            async with market_data_process(quick) as child:
                before = await checkpoint(pool)
                await eventually(lambda before=before: _passed(pool, before + 20), 60)
                child.kill()
    finally:
        stop.set()
        await flow
    async with running_market_data(quick):
        await recorded(pool, market.engine)
        found = await verified(settings)
    assert found.trades == await pool.fetchval("SELECT count(*) FROM trades")


async def _passed(pool: asyncpg.Pool, sequence: int) -> bool:
    return await checkpoint(pool) >= sequence


@asynccontextmanager
async def two_processes(settings: Settings) -> AsyncIterator[tuple[MarketDataProcess, MarketDataProcess]]:
    """A leader, and one that stands by."""
    first = settings.model_copy(update=QUICK_LEASE)
    second = first.model_copy(update={"market_data_port": free_port()})
    async with market_data_process(first) as leader, market_data_process(second) as standby:
        assert '"leading"' in leader.log()
        assert '"leading"' not in standby.log()
        yield leader, standby


@pytest.mark.proof
async def test_another_process_takes_over_from_a_paused_leader_and_from_a_killed_one(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    heard = await listening(bus)
    async with two_processes(settings) as (first, second):
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        snapshots = heard.books[SYMBOL].snapshots
        first.signal(signal.SIGSTOP)
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        assert '"leading"' in second.log()
        # A new publisher begins with a snapshot.
        await eventually(lambda: heard.books[SYMBOL].snapshots > snapshots)

        # The paused process wakes, and neither publishes nor records.
        already = len(heard.trades[SYMBOL])
        first.signal(signal.SIGCONT)
        await eventually(lambda: '"leader session ended"' in first.log(), 60)
        # It may still have sent what it was about to send when it was paused. A receiver then asks for the book.
        book = heard.books[SYMBOL]
        reply = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL), GetBookReply)
        assert reply.book is not None, reply
        book.take(reply.book)
        gaps, updates = book.gaps, len(heard.book_messages[SYMBOL])
        await market.trade(rounds=3)
        await recorded(pool, market.engine)
        await verified(settings)
        sequences = [trade.seq for trade in heard.trades[SYMBOL][already:]]
        assert sequences == sorted(set(sequences)), "each trade came from one process"
        await eventually(lambda: len(heard.book_messages[SYMBOL]) > updates)
        assert book.gaps == gaps, "the books come from one process"

        second.kill()
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        assert first.log().count('"leading"') >= 2
        await verified(settings)


async def test_an_older_leader_cannot_write(pool: asyncpg.Pool, database_url: str) -> None:
    store = MarketDataStore(pool)
    older = await store.lead()
    await store.record(older.token, [trade(1)], StreamPosition("epoch", 1))
    newer = await store.lead()
    assert newer.position == StreamPosition("epoch", 1)
    with pytest.raises(FencedError):
        await store.record(older.token, [trade(2)], StreamPosition("epoch", 2))
    with pytest.raises(FencedError):
        await store.count_routers_trades(older.token, StreamPosition("epoch", 1))
    await store.record(newer.token, [trade(2), trade(1)], StreamPosition("epoch", 2))
    assert await pool.fetchval("SELECT count(*) FROM market_trades") == 2
    assert await pool.fetchval("SELECT trades FROM market_candles WHERE interval = '1m'") == 2


def trade(sequence: int, price: str = "100", timestamp: int = 1_700_000_000_000) -> MarketTradeEvent:
    return MarketTradeEvent(SYMBOL, sequence, sequence - 1, f"epoch-{sequence}", price, "1", "buy", timestamp)


async def test_late_trades_change_open_and_close_as_if_they_had_come_in_order(pool: asyncpg.Pool) -> None:
    store = MarketDataStore(pool)
    token = (await store.lead()).token
    in_order = [trade(number, price, 1_700_000_000_000 + number) for number, price in
                ((1, "5"), (2, "9"), (3, "2"), (4, "7"))]  # fmt: skip
    for late in (2, 4, 1, 3):
        await store.record(token, [in_order[late - 1]], StreamPosition("epoch", 4))
    for interval in ("1m", "1w"):
        row = await pool.fetchrow("SELECT * FROM market_candles WHERE interval = $1", interval)
        assert row is not None
        assert [str(row[name].normalize()) for name in ("open", "high", "low", "close")] == ["5", "9", "2", "7"]
        assert (row["first_sequence"], row["last_sequence"], row["trades"]) == (1, 4, 4)


# 2026-03-29 is when summer time begins in Europe, 2026-03-01 a Sunday, 2026-02-28 the end of a month.
@pytest.mark.parametrize(
    ("time", "week", "day", "four_hours"),
    [
        ("2026-03-29T01:30:00Z", "2026-03-23", "2026-03-29", "2026-03-29 00:00"),
        ("2026-03-29T23:59:59.999Z", "2026-03-23", "2026-03-29", "2026-03-29 20:00"),
        ("2026-03-30T00:00:00Z", "2026-03-30", "2026-03-30", "2026-03-30 00:00"),
        ("2026-02-28T23:59:59Z", "2026-02-23", "2026-02-28", "2026-02-28 20:00"),
        ("2026-03-01T00:00:00Z", "2026-02-23", "2026-03-01", "2026-03-01 00:00"),
        ("2026-12-31T23:59:59Z", "2026-12-28", "2026-12-31", "2026-12-31 20:00"),
        ("1970-01-01T00:00:00Z", "1969-12-29", "1970-01-01", "1970-01-01 00:00"),
    ],
)
async def test_intervals_begin_in_utc_and_weeks_on_mondays(
    pool: asyncpg.Pool, time: str, week: str, day: str, four_hours: str
) -> None:
    store = MarketDataStore(pool)
    moment = round(datetime.fromisoformat(time).timestamp() * 1000)
    await store.record((await store.lead()).token, [trade(1, timestamp=moment)], StreamPosition("epoch", 1))
    rows = await pool.fetch("SELECT interval, begins_at FROM market_candles")
    begins = {row["interval"]: row["begins_at"] for row in rows}
    assert f"{begins['1w']:%Y-%m-%d %H:%M}" == f"{week} 00:00"
    assert f"{begins['1d']:%Y-%m-%d %H:%M}" == f"{day} 00:00"
    assert f"{begins['4h']:%Y-%m-%d %H:%M}" == four_hours


@pytest.mark.proof
async def test_trades_that_the_engine_no_longer_has_come_from_the_routers_rows(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    short = settings.model_copy(update={"engine_event_retention": 1000})
    async with mirrored_market(short, bus, pool) as market:
        await market.fund()
        async with running_market_data(short):
            await market.trade(rounds=2)
            await recorded(pool, market.engine)
        resumed = await checkpoint(pool)
        await market.trade(rounds=2)
        # Push those trades out of what the engine retains.
        while await first_retained(market.engine) <= resumed + 40:
            for _ in range(50):
                order = await market.place("buy", "1", "0.5", "alice")
                await market.engine.cancel(order, "alice")
        async with running_market_data(short):
            await market.trade(rounds=2)
            await recorded(pool, market.engine)
            found = await verified(short)
        assert found.trades == await pool.fetchval("SELECT count(*) FROM trades")


async def first_retained(engine: EngineClient) -> int:
    async with engine.stream() as stream:
        first: int = (await stream.next())["firstSeq"]
        return first


async def test_rows_from_before_the_service_are_counted_at_its_first_start(
    settings: Settings, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    await market.trade(rounds=3)

    async def has_rows() -> bool:
        return bool(await pool.fetchval("SELECT count(*) FROM trades") >= 3)

    await eventually(has_rows)
    async with running_market_data(settings):
        await market.trade(rounds=1)
        await recorded(pool, market.engine)
        found = await verified(settings)
    assert found.trades == await pool.fetchval("SELECT count(*) FROM trades")


@pytest.mark.proof
async def test_imported_candles_are_the_past_only_and_give_way_to_trades(
    settings: Settings, pool: asyncpg.Pool, market: MirroredMarket, tmp_path: Path
) -> None:
    week = begin_of(Interval.W1, utc_now())
    file = tmp_path / "candles.csv"
    lines = [f"{SYMBOL},{(week - number * Interval.M1.length).isoformat()},5,8,4,6,2" for number in (2, 1)]
    file.write_text("\n".join(["symbol,time,open,high,low,close,volume", *lines]))
    done = await asyncio.to_thread(command, settings, "import", str(file))
    assert "2 candles read: with larger intervals 9 written, 0 were there, 0 left out" in done.stdout, done.stderr
    again = await asyncio.to_thread(command, settings, "import", str(file))
    assert "0 written, 9 were there, 0 left out" in again.stdout, again.stderr
    assert await import_candles(
        settings.database_url, read_candles(file.open(), {SYMBOL}, utc_now()), only_first=True
    ) == CandlesImported(0, 0, 9)
    # An imported candle of the interval in which trades come, as the larger ones may be; no trade has such prices.
    of_now = await pool.execute(
        "INSERT INTO market_candles SELECT symbol, interval, $1, open, 1e9, 1e-9, close, volume, quote_volume, trades,"
        " first_at, first_sequence, last_at, last_sequence, true FROM market_candles WHERE interval = '1w'",
        week,
    )
    assert of_now == "INSERT 0 1"
    async with running_market_data(settings):
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        found = await verified(settings)
        assert found.trades == await pool.fetchval("SELECT count(*) FROM trades")
    assert await pool.fetchval("SELECT count(*) FROM market_candles WHERE is_imported") == 9
    # What ends after the first trade is not the past any more, even where nothing was traded.
    later = [ImportedCandle(SYMBOL, Interval.W1, week, *[Decimal(1)] * 5)]
    assert await import_candles(settings.database_url, later) == CandlesImported(0, 0, 1)
    file.write_text(file.read_text().replace(",6,2", ",7,2"))
    changed = await asyncio.to_thread(command, settings, "import", str(file))
    assert "9 written, 0 were there" in changed.stdout, changed.stderr
    file.write_text(file.read_text().replace(",4,", ",9,", 1))
    refused = await asyncio.to_thread(command, settings, "import", str(file))
    assert refused.returncode == 1
    assert "nothing was imported: line 2: high: is not the highest price" in refused.stderr
    await verified(settings)


async def test_tickers_know_the_imported_candles_of_their_day_also_those_that_come_while_they_run(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    hour = begin_of(Interval.H1, utc_now()) - 5 * Interval.H1.length

    async def imported(*candles: ImportedCandle) -> None:
        await import_candles(settings.database_url, candles)

    async def volume() -> Decimal:
        reply = await bus.request(subjects.MARKETDATA_TICKERS_GET, GetTickers(SYMBOL), GetTickersReply)
        return Decimal(reply.tickers[0].volume)

    async def traded() -> Decimal:
        rows = await pool.fetch("SELECT quantity FROM market_trades WHERE symbol = $1", SYMBOL)
        return sum((row["quantity"] for row in rows), Decimal(0))

    # Before the window, and in it.
    week = ImportedCandle(SYMBOL, Interval.H1, hour - 40 * Interval.H1.length, *[Decimal(7)] * 4, Decimal(1000))
    first = ImportedCandle(SYMBOL, Interval.H1, hour, *[Decimal(5)] * 4, Decimal(30))
    await imported(week, first)
    async with running_market_data(settings):
        assert await volume() == 0
        await market.trade(rounds=2)
        await recorded(pool, market.engine)
        await eventually(has(volume, 30 + await traded()))
        await imported(ImportedCandle(SYMBOL, Interval.M1, hour - Interval.M1.length, *[Decimal(4)] * 4, Decimal(2)))
        await eventually(has(volume, 32 + await traded()))
        # The tickers are the sum of the chart's candles.
        since = utc_now() - Interval.D1.length
        chart = await MarketDataStore(pool).candles(SYMBOL, Interval.H1, since, utc_now())
        assert sum(Decimal(candle.volume) for candle in chart) == await volume()
    async with running_market_data(settings):
        assert await volume() == 32 + await traded()


def has(figure: Callable[[], Awaitable[Decimal]], wanted: Decimal) -> Callable[[], Awaitable[bool]]:
    async def reached() -> bool:
        return await figure() == wanted

    return reached


@pytest.mark.proof
async def test_verify_names_what_was_tampered_with(
    settings: Settings, pool: asyncpg.Pool, market: MirroredMarket
) -> None:
    async with running_market_data(settings):
        await market.trade(rounds=3)
        await recorded(pool, market.engine)
    # The candles do not change any more, so the command sees exactly what is left here.
    sound = await asyncio.to_thread(command, settings)
    assert (sound.returncode, "0 differences" in sound.stdout) == (0, True), sound.stdout + sound.stderr
    await pool.execute("UPDATE market_candles SET volume = volume + 1 WHERE interval = '1h'")
    changed = await asyncio.to_thread(command, settings)
    assert changed.returncode == 1
    assert "BTC-USD 1h" in changed.stdout
    assert "volume is" in changed.stdout
    await pool.execute("UPDATE market_candles SET volume = volume - 1 WHERE interval = '1h'")
    await verified(settings)
    await pool.execute("DELETE FROM market_candles WHERE interval = '4h'")
    assert [difference.text.partition(";")[0] for difference in (await verify(settings, 0)).differences] == [
        "is missing"
    ]
    await pool.execute("UPDATE market_data_checkpoints SET sequence = sequence + 1000")
    with pytest.raises(CandlesNotComparableError, match="the router's rows have come to"):
        await verify(settings, 0)


def command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", "market-data", *(arguments or ("verify", "--wait", "30"))],
        capture_output=True,
        text=True,
        check=False,
        env=environment_of(settings),
    )
