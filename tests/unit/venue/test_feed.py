"""Sessions over a stand-in of the library: venues that stream other things than Binance does, and that fail."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from openspot.contracts.messages import VenueBookTicker
from openspot.kit.tasks import end_tasks
from openspot.venue.ccxt_venue import TickCache, TickSink
from openspot.venue.feed import STEADY_S, VenueFeed
from openspot.venue.freshness import Freshness
from openspot.venue.intake import Intake
from openspot.venue.outbox import TickOutbox
from openspot.venue.symbols import SymbolMap
from tests.support.waiting import eventually

NOW_MS = 1_700_000_000_000


def ticker(bid: str, symbol: str = "A/B") -> dict[str, Any]:
    return {"symbol": symbol, "bid": bid, "bidVolume": "1", "ask": "9", "askVolume": "1", "timestamp": None}


def trade(trade_id: str, symbol: str = "A/B") -> dict[str, Any]:
    return {"symbol": symbol, "price": "1", "amount": "1", "id": trade_id, "side": "buy", "timestamp": NOW_MS}


class StandIn:
    """An exchange object whose `watch_*` methods return what the test puts into a queue for each call's symbols."""

    def __init__(self, sink: TickSink, features: dict[str, bool], listed: dict[str, Any]) -> None:
        self.has = features
        self.markets: dict[str, Any] = {}
        self.currencies: dict[str, Any] = {}
        self.bidsasks = TickCache(sink.quote)
        self.tickers = TickCache(sink.quote)
        self.trades = TickCache(sink.trade)
        self.sink = sink
        self.listed = listed
        self.loads = 0
        self.is_closed = False
        self.results: dict[tuple[str, str], asyncio.Queue[Any]] = {}

    async def load_markets(self) -> dict[str, Any]:
        self.loads += 1
        self.markets = {symbol: {"symbol": symbol} | market for symbol, market in self.listed.items()}
        return self.markets

    def set_markets(self, markets: Any, _: Any) -> None:
        self.markets = {market["symbol"]: market for market in markets}

    async def close(self) -> None:
        self.is_closed = True

    def queue(self, method: str, symbols: Any) -> asyncio.Queue[Any]:
        name = symbols if isinstance(symbols, str) else ",".join(symbols)
        return self.results.setdefault((method, name), asyncio.Queue())

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if not name.startswith("watch_"):
            raise AttributeError(name)

        async def watch(symbols: Any) -> Any:
            result = await self.queue(name, symbols).get()
            if isinstance(result, Exception):
                raise result
            return result

        return watch


class Run:
    """A feed that runs, the exchange objects that it opened, and the ticks that wait for the bus."""

    def __init__(self, features: dict[str, bool], listed: dict[str, Any], stale_s: float) -> None:
        self.pauses: list[float] = []
        self.lived_s = 0.0
        self.exchanges: list[StandIn] = []
        self._features = features
        self._listed = listed
        symbols = SymbolMap(("A-B", "C-D"), {})
        self.freshness = freshness = Freshness(stale_s)
        self.outbox = TickOutbox(100, lambda *_: None)
        intake = Intake("venue", symbols, self.outbox, freshness, lambda: NOW_MS * 1_000_000)
        self.feed = VenueFeed(
            symbols,
            intake,
            freshness,
            self._open,
            longest_pause_s=30.0,
            chance=lambda: 0.0,
            sleep=self._pause,
            monotonic=lambda: time.monotonic() + self.lived_s,
        )

    async def _pause(self, pause_s: float) -> None:
        self.pauses.append(pause_s)
        await asyncio.sleep(0)

    def _open(self, sink: TickSink) -> StandIn:
        self.exchanges.append(StandIn(sink, self._features, self._listed))
        return self.exchanges[-1]

    @property
    def exchange(self) -> StandIn:
        return self.exchanges[-1]

    async def watched(self, *calls: tuple[str, str]) -> None:
        """Wait until the newest session has made these calls."""
        await eventually(lambda: self.exchanges and set(calls) <= set(self.exchange.results))

    async def published(self, count: int) -> list[Any]:
        """What tells the next ticks apart: the bid of a quote, the id of a trade."""
        await eventually(lambda: len(self.outbox) >= count)
        messages = [tick.message for tick in self.outbox.take(100)]
        return [message.bid_price if isinstance(message, VenueBookTicker) else message.trade_id for message in messages]


@asynccontextmanager
async def running(*features: str, listed: dict[str, Any] | None = None, stale_s: float = 60.0) -> AsyncIterator[Run]:
    run = Run(dict.fromkeys(features, True), {"A/B": {}, "C/D": {}} if listed is None else listed, stale_s)
    task = asyncio.create_task(run.feed.run())
    try:
        yield run
    finally:
        await end_tasks(task)


async def test_a_venue_that_streams_tickers_one_by_one_is_asked_for_each_market() -> None:
    async with running("watchTicker", "watchTrades") as run:
        await run.watched(
            ("watch_ticker", "A/B"), ("watch_ticker", "C/D"), ("watch_trades", "A/B"), ("watch_trades", "C/D")
        )
        run.exchange.tickers["A/B"] = ticker("1")
        run.exchange.tickers["C/D"] = ticker("2", "C/D")
        assert await run.published(2) == ["1", "2"]


async def test_a_venue_that_streams_all_tickers_is_asked_once() -> None:
    async with running("watchTickers", "watchTicker", "watchTradesForSymbols") as run:
        await run.watched(("watch_tickers", "A/B,C/D"), ("watch_trades_for_symbols", "A/B,C/D"))
        assert len(run.exchange.results) == 2


async def test_quotes_that_the_library_does_not_cache_are_taken_from_its_results() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_bids_asks", "A/B,C/D"))
        results = run.exchange.queue("watch_bids_asks", ["A/B", "C/D"])
        for result in (ticker("1"), {"A/B": ticker("2"), "C/D": ticker("3", "C/D")}, ticker("4")):
            results.put_nowait(result)
        assert await run.published(4) == ["1", "2", "3", "4"]


async def test_the_top_of_an_order_book_is_a_quote() -> None:
    async with running("watchOrderBook", "watchTrades") as run:
        await run.watched(("watch_order_book", "A/B"))
        results = run.exchange.queue("watch_order_book", "A/B")
        for bid in (1.5, 1e-07):
            results.put_nowait({"symbol": "A/B", "bids": [[bid, 1.0]], "asks": [[2.5, 1.0]]})
        assert await run.published(2) == ["1.5", "0.0000001"]


async def test_trades_that_the_library_does_not_cache_are_taken_from_its_results() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_trades", "A/B"))
        results = run.exchange.queue("watch_trades", "A/B")
        results.put_nowait([trade("1"), trade("2")])
        results.put_nowait([trade("2"), trade("3")])
        assert await run.published(3) == ["1", "2", "3"]


async def test_a_result_that_is_older_than_the_cached_quote_is_not_published_after_it() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_bids_asks", "A/B,C/D"))
        old = ticker("1")
        run.exchange.bidsasks["A/B"] = old
        run.exchange.bidsasks["A/B"] = ticker("2")
        run.exchange.queue("watch_bids_asks", ["A/B", "C/D"]).put_nowait(old)
        await eventually(lambda: run.exchange.queue("watch_bids_asks", ["A/B", "C/D"]).empty())
        for _ in range(5):
            await asyncio.sleep(0)  # the result's turn, if it had one
        run.exchange.bidsasks["A/B"] = ticker("3")
        assert await run.published(3) == ["1", "2", "3"]


async def test_only_markets_that_the_venue_lists_and_trades_are_asked_for() -> None:
    async with running("watchBidsAsks", "watchTrades", listed={"A/B": {"active": False}, "C/D": {}, "E/F": {}}) as run:
        await run.watched(("watch_bids_asks", "C/D"), ("watch_trades", "C/D"))
        assert len(run.exchange.results) == 2


async def test_a_subscription_that_fails_ends_the_session_and_closes_it() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_trades", "C/D"))
        first = run.exchange
        first.queue("watch_trades", "C/D").put_nowait(ValueError("bad symbol"))
        await eventually(lambda: len(run.exchanges) == 2)
        assert first.is_closed
        await run.watched(("watch_trades", "C/D"))
        # The list of markets is not fetched again so soon.
        assert (first.loads, run.exchange.loads) == (1, 0)


async def test_a_lost_connection_ends_the_session() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_trades", "C/D"))
        run.exchange.sink.ended("gone")
        run.exchange.sink.ended("gone again")
        await eventually(lambda: len(run.exchanges) == 2)
        await run.watched(("watch_trades", "C/D"))


async def test_a_venue_that_lists_no_market_of_the_platform_is_asked_again_and_again() -> None:
    async with running("watchBidsAsks", "watchTrades", listed={"E/F": {}}) as run:
        await eventually(lambda: len(run.exchanges) >= 3)
        assert all(not exchange.results for exchange in run.exchanges)
        assert all(exchange.is_closed for exchange in run.exchanges[:-1])


async def test_a_venue_without_streams_is_no_session() -> None:
    async with running("watchOHLCV") as run:
        await eventually(lambda: len(run.exchanges) >= 2)
        assert not run.exchanges[0].results


async def test_a_session_without_a_tick_ends_after_the_set_time() -> None:
    began = time.monotonic()
    async with running("watchBidsAsks", "watchTrades", stale_s=0.3) as run:
        await run.watched(("watch_trades", "C/D"))
        await eventually(lambda: len(run.exchanges) == 2)
        assert time.monotonic() - began >= 0.3
        assert run.exchanges[0].is_closed


async def test_a_feed_that_is_stopped_closes_its_session() -> None:
    async with running("watchBidsAsks", "watchTrades") as run:
        await run.watched(("watch_trades", "C/D"))
    assert run.exchange.is_closed


async def test_pauses_grow_with_every_session_that_fails() -> None:
    async with running("watchBidsAsks", "watchTrades", listed={}) as run:
        await eventually(lambda: len(run.pauses) >= 9)
    assert run.pauses[:9] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


async def end_session(run: Run, tick: bool, lived_s: float) -> None:
    """Let the newest session live for a time, with a tick or without one, and then lose its connection."""
    await run.watched(("watch_trades", "C/D"))
    count = len(run.exchanges)
    run.lived_s += lived_s
    if tick:
        run.freshness.note_tick(time.monotonic() + run.lived_s)
    run.exchange.sink.ended("gone")
    await eventually(lambda: len(run.exchanges) > count)


async def test_a_session_that_lived_with_ticks_makes_the_next_pause_short_again() -> None:
    async with running("watchBidsAsks", "watchTrades", stale_s=1e9) as run:
        for _ in range(4):
            await end_session(run, tick=True, lived_s=1.0)
        assert run.pauses == [0.5, 1.0, 2.0, 4.0]
        await end_session(run, tick=False, lived_s=STEADY_S + 1)
        assert run.pauses[-1] == 8.0
        await end_session(run, tick=True, lived_s=STEADY_S + 1)
        assert run.pauses[-1] == 0.5
        await end_session(run, tick=True, lived_s=1.0)
        assert run.pauses[-1] == 1.0
