"""The tickers of a channel: the last one first, a newer one instead of a requested one, nothing of another market."""

import asyncio
from typing import Any

import msgspec
import pytest

from openspot.contracts.messages import TickerEvent
from openspot.kit.bus import MalformedEventError
from openspot.kit.tasks import end_tasks
from openspot.ws_edge.channels import market_channel
from openspot.ws_edge.tickers import Tickers
from tests.unit.ws_edge.frames import content_of

CHANNEL = market_channel("ticker:BTC-USD")


class Bench:
    """The tickers, and what is sent to their clients."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.between: Any = None
        self.tickers = Tickers(self, lambda: 99)
        self.tickers.open(CHANNEL)

    def send_latest(self, channel: str, part: None, frame: bytes) -> None:
        content = content_of(frame)
        assert (channel, part) == (content["channel"], None)
        self.sent.append(content)

    def publish(self, seq: int, symbol: str = "BTC-USD", **more: Any) -> None:
        payload = msgspec.json.encode({"type": "update", "symbol": symbol, "seq": seq, **more})
        self.tickers.take("ticker:BTC-USD", "BTC-USD", payload)

    async def ask(self) -> None:
        """Let the requests run until all are answered."""

        async def request(symbol: str) -> TickerEvent:
            self.asked.append(symbol)
            if self.between is not None:
                self.between()
            return msgspec.convert(
                {
                    "symbol": symbol, "lastPrice": None, "bidPrice": None, "askPrice": None, "openPrice": None,
                    "highPrice": None, "lowPrice": None, "volume": "0", "quoteVolume": "0", "priceChange": None,
                    "priceChangePercent": None, "timestamp": 5, "seq": 7,
                },
                TickerEvent,
            )  # fmt: skip

        running = asyncio.create_task(self.tickers.run(request))
        for _ in range(20):
            await asyncio.sleep(0)
        await end_tasks(running)

    @property
    def shown(self) -> tuple[str, int] | None:
        """Type and number of the snapshot."""
        frame = self.tickers.snapshot(CHANNEL)
        return None if frame is None else (content_of(frame)["type"], content_of(frame)["seq"])


def test_a_ticker_is_pushed_whole_and_is_the_next_clients_snapshot() -> None:
    bench = Bench()
    bench.publish(3, timestamp=5, extra="kept")
    data = {"type": "update", "symbol": "BTC-USD", "seq": 3, "timestamp": 5, "extra": "kept"}
    assert bench.sent == [{"channel": "ticker:BTC-USD", "type": "update", "seq": 3, "ts": 5, "data": data}]
    assert bench.shown == ("snapshot", 3)
    bench.publish(4)
    assert (bench.sent[-1]["ts"], bench.shown) == (99, ("snapshot", 4))


def test_a_ticker_of_another_market_is_refused_and_one_without_clients_is_not_kept() -> None:
    bench = Bench()
    with pytest.raises(MalformedEventError, match="the symbol is not the subject's"):
        bench.publish(3, "ETH-USD")
    bench.publish(4)
    bench.tickers.close(CHANNEL)
    assert bench.shown is None
    bench.publish(5)
    assert (bench.shown, len(bench.sent)) == (None, 1)


async def test_a_ticker_is_requested_once_unless_one_was_published() -> None:
    bench = Bench()
    await bench.ask()
    assert (bench.asked, bench.sent[0]["type"], bench.shown) == (["BTC-USD"], "snapshot", ("snapshot", 7))
    bench.tickers.restart()
    assert bench.shown is None
    bench.publish(8)
    await bench.ask()
    assert (bench.asked, bench.shown) == (["BTC-USD"], ("snapshot", 8))


async def test_a_ticker_that_was_published_meanwhile_is_newer_than_the_requested_one() -> None:
    bench = Bench()
    bench.between = lambda: bench.publish(8)
    await bench.ask()
    assert ([each["seq"] for each in bench.sent], bench.shown) == ([8], ("snapshot", 8))
