"""The WebSocket methods of the ccxt class, against a server that says what the test wants."""

import asyncio
import binascii
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from tests.support.waiting import eventually, stretched
from tests.unit.integrations.conftest import COMPLETE, MARKETS, NETWORKS


class Server:
    """Answers subscriptions as the WebSocket edge does, and keeps what it was sent."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.refused: set[str] = set()
        self.late: dict[str, Any] = {}
        """What is sent of a channel before its unsubscription is confirmed."""
        self._socket: web.WebSocketResponse | None = None

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """One connection."""
        socket = self._socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            asked = json.loads(message.data)
            if asked["action"] == "ping":
                continue
            self.received.append(asked)
            if asked["channel"] in self.refused:
                refusal = {"type": "error", "code": "UNKNOWN_CHANNEL", "message": "no such channel", "id": asked["id"]}
                await socket.send_json(refusal)
            else:
                if asked["action"] == "unsubscribe" and asked["channel"] in self.late:
                    await self.push(asked["channel"], self.late[asked["channel"]])
                await socket.send_json({"type": f"{asked['action']}d", "channel": asked["channel"], "id": asked["id"]})
        return socket

    async def push(self, channel: str, data: Any, kind: str = "update") -> None:
        """Send what a channel carries."""
        assert self._socket is not None
        await self._socket.send_json({"channel": channel, "type": kind, "seq": 1, "ts": 1, "data": data})

    def asked(self, action: str) -> list[str]:
        """The channels of the messages with this action."""
        return [message["channel"] for message in self.received if message["action"] == action]


@pytest.fixture
async def server() -> AsyncIterator[tuple[Server, str]]:
    server = Server()
    application = web.Application()
    application.router.add_get("/", server.handle)
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield server, f"ws://{host}:{port}/"
    await runner.cleanup()


@pytest.fixture
async def exchange(server: tuple[Server, str]) -> AsyncIterator[Any]:
    from openspot_ccxt.stream import OpenSpot

    class WithRecords(OpenSpot):
        async def fetch(self, url: str, method: str = "GET", headers: Any = None, body: Any = None) -> Any:
            answers = {"/markets": MARKETS, "/fees/network/all": NETWORKS, "/settings/trading": COMPLETE}
            return answers[url.partition("/api/v1")[2]]

    exchange = WithRecords({"urls": {"api": {"ws": server[1]}}, "enableRateLimit": False})
    yield exchange
    await exchange.close()


async def watching(edge: Server, exchange: Any, call: Any, *channels: str) -> asyncio.Task[Any]:
    """A watcher that waits for these channels, whose subscriptions have arrived."""
    watcher = asyncio.ensure_future(call)

    def is_waiting() -> bool:
        client = exchange.clients.get(exchange.urls["api"]["ws"])
        return client is not None and set(channels) <= set(client.futures) & set(edge.asked("subscribe"))

    await eventually(is_waiting, 10)
    return watcher


def trade(symbol: str, number: int) -> dict[str, Any]:
    return {
        "symbol": symbol,
        "tradeId": str(number),
        "price": "100",
        "quantity": "1",
        "side": "buy",
        "timestamp": number,
    }


def candle(symbol: str, interval: str) -> dict[str, Any]:
    prices = dict.fromkeys(("open", "high", "low", "close", "volume"), "100")
    return prices | {"symbol": symbol, "interval": interval, "timestamp": 60_000, "trades": 1}


def book(symbol: str, bid: list[str] | None, ask: list[str] | None) -> dict[str, Any]:
    texts = ":".join([*(bid or []), *(ask or [])])
    return {
        "symbol": symbol, "type": "snapshot", "seq": 5, "timestamp": 7, "checksum": binascii.crc32(texts.encode()),
        "bids": [bid] if bid else [], "asks": [ask] if ask else [],
    }  # fmt: skip


async def test_trades_of_several_markets(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    symbols = ["BTC/USD", "ETH/USD"]
    watcher = await watching(
        edge, exchange, exchange.watch_trades_for_symbols(symbols), "trades:BTC-USD", "trades:ETH-USD"
    )
    await edge.push("trades:ETH-USD", trade("ETH-USD", 1))
    [first] = await watcher
    assert (first["symbol"], first["id"]) == ("ETH/USD", "1")
    watcher = await watching(
        edge, exchange, exchange.watch_trades_for_symbols(symbols), "trades:BTC-USD", "trades:ETH-USD"
    )
    await edge.push("trades:BTC-USD", trade("BTC-USD", 2))
    assert [each["id"] for each in await watcher] == ["2"]
    assert sorted(edge.asked("subscribe")) == ["trades:BTC-USD", "trades:ETH-USD"]


async def test_candles_of_several_markets_and_timeframes(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    pairs = [["BTC/USD", "1m"], ["ETH/USD", "1h"]]
    watcher = await watching(
        edge, exchange, exchange.watch_ohlcv_for_symbols(pairs), "candles:BTC-USD:1m", "candles:ETH-USD:1h"
    )
    await edge.push("candles:ETH-USD:1h", candle("ETH-USD", "1h"))
    assert await watcher == {"ETH/USD": {"1h": [[60_000, 100, 100, 100, 100, 100]]}}
    single = await watching(edge, exchange, exchange.watch_ohlcv("BTC/USD"), "candles:BTC-USD:1m")
    await edge.push("candles:BTC-USD:1m", candle("BTC-USD", "1m"))
    assert await single == [[60_000, 100, 100, 100, 100, 100]]


async def test_books_of_several_markets(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    channels = ("orderbook:BTC-USD?depth=5", "orderbook:ETH-USD?depth=5")
    watcher = await watching(
        edge, exchange, exchange.watch_order_book_for_symbols(["BTC/USD", "ETH/USD"], 1), *channels
    )
    await edge.push(channels[1], book("ETH-USD", ["99", "1"], ["101", "2"]), "snapshot")
    shown = await watcher
    assert (shown["symbol"], shown["bids"], shown["asks"]) == ("ETH/USD", [[99, 1]], [[101, 2]])


async def test_bids_and_asks_come_with_their_volumes(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    channels = ("orderbook:BTC-USD?depth=1", "orderbook:ETH-USD?depth=1")
    watcher = await watching(edge, exchange, exchange.watch_bids_asks(), *channels)
    await edge.push(channels[0], book("BTC-USD", ["99.5", "3"], None), "snapshot")
    [(symbol, best)] = (await watcher).items()
    names = ("bid", "bidVolume", "ask", "askVolume", "timestamp")
    assert (symbol, *(best[name] for name in names)) == ("BTC/USD", 99.5, 3, None, None, 7)
    assert exchange.bidsasks == {"BTC/USD": best}


async def test_a_watcher_ends_with_its_subscription_and_nothing_is_kept(
    server: tuple[Server, str], exchange: Any
) -> None:
    from ccxt.base.errors import UnsubscribeError

    edge, _ = server
    watcher = await watching(edge, exchange, exchange.watch_trades("BTC/USD"), "trades:BTC-USD")
    await edge.push("trades:BTC-USD", trade("BTC-USD", 1))
    await watcher
    seen: list[str] = []

    async def watch_on() -> None:
        while True:
            seen.extend(each["id"] for each in await exchange.watch_trades("BTC/USD"))

    watchers = [await watching(edge, exchange, watch_on(), "trades:BTC-USD") for _ in range(2)]
    edge.late["trades:BTC-USD"] = trade("BTC-USD", 2)
    assert await exchange.un_watch_trades("BTC/USD") is True
    # What was still on its way arrives, and finds both watchers between two messages when the subscription ends.
    for each in watchers:
        with pytest.raises(UnsubscribeError):
            await asyncio.wait_for(each, stretched(10))
    assert (seen, edge.asked("subscribe")) == (["2", "2"], ["trades:BTC-USD"])
    assert (edge.asked("unsubscribe"), exchange.trades) == (["trades:BTC-USD"], {})
    again = await watching(edge, exchange, exchange.watch_trades_for_symbols(["BTC/USD", "ETH/USD"]), "trades:ETH-USD")
    assert edge.asked("subscribe").count("trades:BTC-USD") == 2
    await edge.push("trades:BTC-USD", trade("BTC-USD", 3))
    assert [each["id"] for each in await again] == ["3"]


@pytest.mark.parametrize("method", ["watch_ticker", "watch_order_book"])
async def test_a_watcher_that_is_cancelled_leaves_the_others_waiting(
    server: tuple[Server, str], exchange: Any, method: str
) -> None:
    edge, _ = server
    name = {"watch_ticker": "ticker", "watch_order_book": "orderbook"}[method]
    channel = f"{name}:BTC-USD"
    first, second = [await watching(edge, exchange, getattr(exchange, method)("BTC/USD"), channel) for _ in range(2)]
    first.cancel()
    await asyncio.wait([first])
    if name == "ticker":
        await edge.push(channel, {"symbol": "BTC-USD", "lastPrice": "100", "timestamp": 1})
    else:
        await edge.push(channel, book("BTC-USD", ["99", "1"], ["101", "2"]), "snapshot")
    assert (await asyncio.wait_for(second, stretched(10)))["symbol"] == "BTC/USD"
    assert edge.asked("subscribe") == [channel]


async def test_unwatching_what_nobody_waits_for_leaves_no_error_behind(
    server: tuple[Server, str], exchange: Any
) -> None:
    edge, _ = server
    watcher = await watching(edge, exchange, exchange.watch_ohlcv("BTC/USD", "1m"), "candles:BTC-USD:1m")
    await edge.push("candles:BTC-USD:1m", candle("BTC-USD", "1m"))
    await watcher
    await exchange.un_watch_ohlcv("BTC/USD", "1m")
    assert exchange.ohlcvs == {"BTC/USD": {}}
    again = await watching(edge, exchange, exchange.watch_ohlcv("BTC/USD", "1m"), "candles:BTC-USD:1m")
    await eventually(lambda: edge.asked("subscribe").count("candles:BTC-USD:1m") == 2)
    await edge.push("candles:BTC-USD:1m", candle("BTC-USD", "1m"))
    assert await again


async def test_a_book_and_its_best_prices_are_left_apart(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    calls = {
        "orderbook:BTC-USD": exchange.watch_order_book("BTC/USD"),
        "orderbook:BTC-USD?depth=20": exchange.watch_order_book("BTC/USD", 20),
        "orderbook:ETH-USD": exchange.watch_order_book("ETH/USD"),
        "orderbook:BTC-USD?depth=1": exchange.watch_bids_asks(["BTC/USD"]),
    }
    watchers = [await watching(edge, exchange, call, channel) for channel, call in calls.items()]
    for channel in calls:
        await edge.push(channel, book(channel[10:17], ["99", "1"], ["101", "2"]), "snapshot")
    await asyncio.gather(*watchers)
    await exchange.un_watch_order_book("BTC/USD")
    assert sorted(edge.asked("unsubscribe")) == ["orderbook:BTC-USD", "orderbook:BTC-USD?depth=20"]
    assert sorted(exchange.orderbooks) == ["ETH/USD", "orderbook:BTC-USD?depth=1"]
    await exchange.un_watch_bids_asks()
    assert edge.asked("unsubscribe")[2:] == ["orderbook:BTC-USD?depth=1"]
    assert (sorted(exchange.orderbooks), exchange.bidsasks) == (["ETH/USD"], {})


async def test_unwatching_tickers_leaves_those_that_are_watched(server: tuple[Server, str], exchange: Any) -> None:
    edge, _ = server
    assert await exchange.un_watch_tickers() is True
    assert edge.received == []
    watcher = await watching(edge, exchange, exchange.watch_ticker("BTC/USD"), "ticker:BTC-USD")
    await edge.push("ticker:BTC-USD", {"symbol": "BTC-USD", "lastPrice": "100", "timestamp": 1})
    await watcher
    await exchange.un_watch_tickers()
    assert (edge.asked("unsubscribe"), exchange.tickers) == (["ticker:BTC-USD"], {})
    # A second time there is nothing to leave.
    await exchange.un_watch_ticker("BTC/USD")
    assert edge.asked("unsubscribe") == ["ticker:BTC-USD"]


@pytest.mark.parametrize(
    ("method", "argument", "error"),
    [
        ("watch_trades_for_symbols", [], "ArgumentsRequired"),
        ("watch_order_book_for_symbols", [], "ArgumentsRequired"),
        ("un_watch_trades_for_symbols", [], "ArgumentsRequired"),
        ("watch_ohlcv_for_symbols", [], "ArgumentsRequired"),
        ("watch_ohlcv_for_symbols", ["BTC/USD"], "ArgumentsRequired"),
        ("watch_ohlcv_for_symbols", [["BTC/USD", "7m"]], "BadRequest"),
        ("watch_tickers", ["NO/USD"], "BadSymbol"),
        ("watch_bids_asks", ["NO/USD"], "BadSymbol"),
        ("un_watch_order_book", "NO/USD", "BadSymbol"),
    ],
)
async def test_what_cannot_be_watched_is_refused_here(
    server: tuple[Server, str], exchange: Any, method: str, argument: Any, error: str
) -> None:
    from ccxt.base import errors

    with pytest.raises(getattr(errors, error)):
        await getattr(exchange, method)(argument)
    assert server[0].received == []


async def test_a_refused_unsubscription_reaches_who_asked(server: tuple[Server, str], exchange: Any) -> None:
    from ccxt.base.errors import ExchangeError

    edge, _ = server
    watcher = await watching(edge, exchange, exchange.watch_ticker("BTC/USD"), "ticker:BTC-USD")
    await edge.push("ticker:BTC-USD", {"symbol": "BTC-USD", "lastPrice": "100", "timestamp": 1})
    await watcher
    edge.refused.add("ticker:BTC-USD")
    with pytest.raises(ExchangeError, match="no such channel"):
        await exchange.un_watch_ticker("BTC/USD")
