"""The candles of a channel: which one a client gets, which message is news, and what is asked of market data."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from openspot.contracts.messages import Candle, GetCandles
from openspot.kit.bus import MalformedEventError
from openspot.kit.tasks import end_tasks
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.ws_edge import candles as candles_module
from openspot.ws_edge.candles import Candles
from openspot.ws_edge.channels import market_channel
from tests.unit.ws_edge.frames import content_of

MINUTE_MS = 60_000
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOON_MS = round(NOON.timestamp()) * 1000
CHANNEL = market_channel("candles:BTC-USD:1m")


class Clients:
    """The clients of all channels: what is sent to them, with the part that it replaces."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int, dict[str, Any]]] = []
        self.fresh: list[str] = []

    def send_latest(self, channel: str, part: int, frame: bytes) -> None:
        self.sent.append((channel, part, content_of(frame)))

    def send_snapshots(self, channel: str) -> None:
        self.fresh.append(channel)


class Bench:
    """The candles, a few seconds after noon."""

    def __init__(self) -> None:
        self.clients = Clients()
        self.candles = Candles(self.clients, lambda: NOON_MS + 7_000)

    def publish(self, minute: int, trades: int, *, interval: str = "1m", symbol: str = "BTC-USD") -> None:
        """Market data publishes the candle of a minute after noon."""
        candle = {
            "timestamp": NOON_MS + minute * MINUTE_MS, "open": "1", "high": "2", "low": "1", "close": "2",
            "volume": "3", "trades": trades, "symbol": symbol, "interval": interval, "seq": 9,
        }  # fmt: skip
        self.candles.take("BTC-USD", msgspec.json.encode(candle))

    @property
    def sent(self) -> list[tuple[int, int]]:
        """Minute and trades of each candle that was sent."""
        return [((part - NOON_MS) // MINUTE_MS, content["data"]["trades"]) for _, part, content in self.clients.sent]

    def shown(self, channel: Any = CHANNEL) -> tuple[int, int] | None:
        """Minute and trades of the snapshot."""
        frame = self.candles.snapshot(channel)
        if frame is None:
            return None
        content = content_of(frame)
        assert content["type"] == "snapshot"
        return (content["data"]["timestamp"] - NOON_MS) // MINUTE_MS, content["data"]["trades"]


def candle(minute: int, trades: int) -> Candle:
    return Candle(NOON_MS + minute * MINUTE_MS, "1", "1", "1", "1", "1", trades)


def test_a_candle_is_pushed_whole() -> None:
    bench = Bench()
    bench.candles.open(CHANNEL)
    bench.publish(0, 1)
    assert (bench.clients.fresh, bench.clients.sent) == (["candles:BTC-USD:1m"], [])
    bench.publish(1, 4)
    data = {
        "timestamp": NOON_MS + MINUTE_MS, "open": "1", "high": "2", "low": "1", "close": "2", "volume": "3",
        "trades": 4, "symbol": "BTC-USD", "interval": "1m",
    }  # fmt: skip
    push = {"channel": "candles:BTC-USD:1m", "type": "update", "seq": 4, "ts": NOON_MS + MINUTE_MS, "data": data}
    assert bench.clients.sent == [("candles:BTC-USD:1m", NOON_MS + MINUTE_MS, push)]


def test_a_candle_is_sent_when_it_has_more_trades_and_never_twice() -> None:
    bench = Bench()
    bench.candles.open(CHANNEL)
    for trades in (2, 2, 1, 3, 3):
        bench.publish(0, trades)
    assert (bench.sent, bench.shown()) == ([(0, 3)], (0, 3))


def test_a_closed_candle_is_sent_again_only_if_a_late_trade_changed_it_and_stays_behind_the_newest() -> None:
    bench = Bench()
    bench.candles.open(CHANNEL)
    for minute, trades in ((0, 5), (1, 1), (0, 5), (0, 4), (0, 6), (0, 6), (1, 1), (1, 2)):
        bench.publish(minute, trades)
    assert bench.sent == [(1, 1), (0, 6), (1, 2)]
    assert bench.shown() == (1, 2)
    bench.publish(2, 1)
    assert (bench.sent[-1], bench.shown()) == ((2, 1), (2, 1))


def test_a_client_gets_the_candles_of_its_interval_only() -> None:
    bench = Bench()
    hours = market_channel("candles:BTC-USD:1h")
    bench.candles.open(hours)
    bench.publish(0, 1)
    bench.publish(0, 2)
    assert (bench.clients.fresh, bench.clients.sent, bench.shown(hours)) == ([], [], None)
    bench.publish(0, 7, interval="1h")
    assert (bench.clients.fresh, bench.shown(hours), bench.shown()) == (["candles:BTC-USD:1h"], (0, 7), (0, 2))


def test_a_candle_of_another_market_or_of_no_interval_is_refused() -> None:
    bench = Bench()
    with pytest.raises(MalformedEventError, match="the symbol is not the subject's"):
        bench.publish(0, 1, symbol="ETH-USD")
    with pytest.raises(MalformedEventError, match="the interval is not known"):
        bench.publish(0, 1, interval="7m")
    assert bench.shown() is None


class MarketData:
    """Market data: it answers what the test sets, and keeps what it is asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[GetCandles] = []

    async def __call__(self, request: GetCandles) -> list[Candle]:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]


async def ask(bench: Bench, market_data: MarketData) -> None:
    """Let the requests run until all are answered."""
    running = asyncio.create_task(bench.candles.run(market_data))
    for _ in range(20):
        await asyncio.sleep(0)
    await end_tasks(running)


async def test_the_present_candle_and_the_one_before_are_requested_once() -> None:
    bench, market_data = Bench(), MarketData([candle(-1, 3), candle(0, 2)])
    bench.candles.open(CHANNEL)
    await ask(bench, market_data)
    assert market_data.asked == [GetCandles("BTC-USD", "1m", NOON_MS - MINUTE_MS, NOON_MS + MINUTE_MS)]
    assert (bench.shown(), bench.clients.fresh) == ((0, 2), ["candles:BTC-USD:1m"])
    bench.candles.close(CHANNEL)
    bench.candles.open(CHANNEL)
    again = MarketData([candle(0, 3)])
    await ask(bench, again)
    assert (len(again.asked), bench.shown()) == (1, (0, 3))


async def test_what_was_published_is_not_requested_and_stays_without_clients() -> None:
    bench, market_data = Bench(), MarketData()
    bench.candles.open(CHANNEL)
    bench.publish(0, 2)
    await ask(bench, market_data)
    bench.candles.close(CHANNEL)
    bench.candles.open(CHANNEL)
    await ask(bench, market_data)
    assert (market_data.asked, bench.shown()) == ([], (0, 2))


async def test_after_a_gap_everything_that_is_followed_is_requested_again() -> None:
    bench, market_data = Bench(), MarketData([candle(0, 5)])
    bench.candles.open(CHANNEL)
    bench.publish(0, 2)
    bench.candles.restart()
    assert bench.shown() is None
    await ask(bench, market_data)
    assert (len(market_data.asked), bench.shown()) == (1, (0, 5))
    # It was not published since, so it goes with its last client.
    bench.candles.close(CHANNEL)
    assert bench.shown() is None


async def test_market_data_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, market_data = Bench(), MarketData(MarketDataUnavailableError("away"), [candle(0, 1)])
    monkeypatch.setattr(candles_module, "Backoff", lambda *_: _NoPause())
    bench.candles.open(CHANNEL)
    await ask(bench, market_data)
    assert (len(market_data.asked), bench.shown()) == (2, (0, 1))


class _NoPause:
    def failed(self) -> float:
        return 0.0

    def succeeded(self) -> None:
        """Nothing to forget."""


def test_the_day_begins_at_midnight_for_a_daily_channel() -> None:
    bench = Bench()
    daily = market_channel("candles:BTC-USD:1d")
    asked = bench.candles._question(daily)
    midnight = round((NOON - timedelta(hours=12)).timestamp()) * 1000
    day = 24 * 60 * MINUTE_MS
    assert asked == GetCandles("BTC-USD", "1d", midnight - day, midnight + day)
