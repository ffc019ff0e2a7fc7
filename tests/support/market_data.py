"""What the market data service publishes, as a client of the bus keeps it; and the service as a child process."""

import asyncio
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AggregateTradeEvent,
    CandleEvent,
    FairPriceEvent,
    MarketTradeEvent,
    OrderBookEvent,
    TickerEvent,
)
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.market_data.service import run
from openspot.up.supervisor import is_ready
from tests.support.service_process import ServiceProcess
from tests.support.waiting import eventually, stretched

Levels = list[tuple[str, str]]


class ReceivedBook:
    """A book as a client keeps it: a snapshot, and updates that continue it, each with the right checksum."""

    def __init__(self) -> None:
        self.sequence: int | None = None
        self.snapshots = 0
        self.gaps = 0
        self.sides: tuple[dict[str, str], dict[str, str]] = ({}, {})

    def take(self, message: OrderBookEvent) -> None:
        """Take the next message. An update that does not continue the book is a gap: the book waits for a snapshot."""
        if message.type == "snapshot":
            self.snapshots += 1
            assert message.prev_seq is None
            self.sides = ({}, {})
        elif message.prev_seq != self.sequence:
            self.gaps += 1
            self.sequence = None
            return
        for side, levels in zip(self.sides, (message.bids, message.asks), strict=True):
            for price, quantity in levels:
                if quantity == "0":
                    del side[price]
                else:
                    side[price] = quantity
        self.sequence = message.seq
        assert message.checksum == _checksum(*self.levels)

    @property
    def levels(self) -> tuple[Levels, Levels]:
        """Bids and asks, best first."""
        bids, asks = self.sides
        return (
            sorted(bids.items(), key=lambda level: Decimal(level[0]), reverse=True),
            sorted(asks.items(), key=lambda level: Decimal(level[0])),
        )


def _checksum(bids: Levels, asks: Levels) -> int:
    """As the guide describes it, without the service's code."""
    parts = []
    for level in range(10):
        if level < len(bids):
            parts.append(f"{bids[level][0]}:{bids[level][1]}")
        if level < len(asks):
            parts.append(f"{asks[level][0]}:{asks[level][1]}")
    return zlib.crc32(":".join(parts).encode("ascii"))


class Heard:
    """Everything that was published, by symbol."""

    def __init__(self) -> None:
        self.books: dict[str, ReceivedBook] = defaultdict(ReceivedBook)
        self.book_messages: dict[str, list[OrderBookEvent]] = defaultdict(list)
        self.trades: dict[str, list[MarketTradeEvent]] = defaultdict(list)
        self.aggregates: dict[str, list[AggregateTradeEvent]] = defaultdict(list)
        self.tickers: dict[str, list[TickerEvent]] = defaultdict(list)
        self.fair_prices: dict[str, list[FairPriceEvent]] = defaultdict(list)
        self.candles: dict[tuple[str, str, int], CandleEvent] = {}
        """The newest message of each candle, by symbol, interval and begin."""

    def book(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=OrderBookEvent)
        self.book_messages[message.symbol].append(message)
        self.books[message.symbol].take(message)

    def trade(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=MarketTradeEvent)
        self.trades[message.symbol].append(message)

    def aggregate(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=AggregateTradeEvent)
        self.aggregates[message.symbol].append(message)

    def ticker(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=TickerEvent)
        self.tickers[message.symbol].append(message)

    def fair_price(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=FairPriceEvent)
        self.fair_prices[message.symbol].append(message)

    def candle(self, _: str, payload: bytes) -> None:
        message = msgspec.json.decode(payload, type=CandleEvent)
        key = message.symbol, message.interval, message.timestamp
        assert key not in self.candles or self.candles[key].trades <= message.trades
        self.candles[key] = message


async def listening(bus: Bus) -> Heard:
    """Hear what is published from now on."""
    heard = Heard()
    await bus.listen(f"{subjects.MARKETDATA_ORDERBOOK}.*", heard.book)
    await bus.listen(f"{subjects.MARKETDATA_TRADE}.*", heard.trade)
    await bus.listen(f"{subjects.MARKETDATA_AGGREGATE}.*", heard.aggregate)
    await bus.listen(f"{subjects.MARKETDATA_TICKER}.*", heard.ticker)
    await bus.listen(f"{subjects.MARKETDATA_CANDLE}.*", heard.candle)
    await bus.listen(f"{subjects.MARKETDATA_FAIR_PRICE}.*", heard.fair_price)
    await bus.check()
    return heard


@asynccontextmanager
async def running_market_data(settings: Settings, *, await_ready: bool = True) -> AsyncIterator[asyncio.Task[None]]:
    """The service in this process, stopped cleanly in the end."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))
    try:
        if await_ready:
            await market_data_ready(settings, task)
        yield task
    finally:
        stop.set()
        await task


async def market_data_ready(settings: Settings, task: asyncio.Task[None] | None = None) -> None:
    """Wait until the service of these settings says that it is ready. Fails with its fault if it has ended."""

    async def ready() -> bool:
        if task is not None and task.done():
            task.result()
        return await is_ready(settings.host, settings.market_data_port, stretched(3))

    await eventually(ready, 60)


class MarketDataProcess(ServiceProcess):
    """The service as a child process. `market_data_ready` tells when it is up."""

    def __init__(self, settings: Settings, preparation: str = "") -> None:
        """`preparation` is Python that the child runs before the service."""
        code = (
            "from openspot.market_data.service import run\n"
            "from openspot.market_data.settings import MarketDataSettings\n"
            f"{preparation}\n"
            'sys.exit(run_service("market-data", run, MarketDataSettings()))'
        )
        super().__init__(settings, code, f"market-data-{settings.market_data_port}.log")


@asynccontextmanager
async def market_data_process(settings: Settings) -> AsyncIterator[MarketDataProcess]:
    """A ready service in a child process."""
    child = MarketDataProcess(settings)
    child.start()
    try:
        await market_data_ready(settings)
        yield child
    finally:
        if child.process is not None and child.process.poll() is None:
            child.kill()
