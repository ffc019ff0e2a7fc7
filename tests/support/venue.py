"""The venue adapter and a simulated venue as tasks of the test, on the test's own bus."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import nats
import pytest
from nats.aio.client import Client
from prometheus_client import REGISTRY

from openspot.domain.market import MarketSeed, load_markets
from openspot.kit.tasks import end_tasks
from openspot.venue.service import run
from openspot.venue.settings import VenueSettings
from openspot.venue_simulator.book import Book
from openspot.venue_simulator.events import EventSource, TimelineEvent, market_id
from openspot.venue_simulator.server import Simulator
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

SEEDS = {seed.symbol: seed for seed in load_markets().seeds}
BTC_USDT_STREAMS = {"btcusdt@bookTicker", "btcusdt@trade"}
ALL_STREAMS = {f"{market_id(seed).lower()}@{kind}" for seed in SEEDS.values() for kind in ("bookTicker", "trade")}


class ScriptedSource:
    """Events that the test writes down, of markets that it names."""

    def __init__(self, events: Sequence[TimelineEvent] = (), symbols: Sequence[str] = ("BTC-USDT",)) -> None:
        self.markets: Sequence[MarketSeed] = [SEEDS[symbol] for symbol in symbols]
        self._events = events

    def first_book(self, market_id: str) -> Book:
        return Book(1, [("100.00000000", "1.00000000")], [("101.00000000", "2.00000000")])

    def events(self) -> Any:
        return iter(self._events)


def quote(update_id: int, bid: str = "100.00000000", market: str = "BTCUSDT", **fields: Any) -> TimelineEvent:
    """A best bid and ask. It differs from others by its bid quantity, which is `update_id`."""
    data = {"u": update_id, "s": market, "b": bid, "B": f"{update_id}.00000000", "a": "101.00000000", "A": "2.50000000"}
    return TimelineEvent(0, f"{market.lower()}@bookTicker", data | fields)


def trade(trade_id: int, market: str = "BTCUSDT", **fields: Any) -> TimelineEvent:
    """A trade, made now."""
    data = {"e": "trade", "E": 0, "s": market, "t": trade_id, "p": "100.50000000", "q": "0.10000000", "T": 0, "m": True}
    return TimelineEvent(0, f"{market.lower()}@trade", data | {"M": True} | fields)


@asynccontextmanager
async def running_simulator(source: EventSource | None = None, **options: Any) -> AsyncIterator[Simulator]:
    """A venue that listens and has not begun to play."""
    simulator = Simulator(source or ScriptedSource(), **options)
    await simulator.start()
    try:
        yield simulator
    finally:
        await simulator.stop()


@asynccontextmanager
async def playing(simulator: Simulator) -> AsyncIterator[None]:
    """The venue plays its timeline in the background."""
    task = asyncio.create_task(simulator.play())
    try:
        yield
    finally:
        await end_tasks(task)


async def send(simulator: Simulator, *events: TimelineEvent) -> None:
    """Let the venue send these events now."""
    for event in events:
        await simulator.send(event)


@pytest.fixture
def venue_settings(tmp_path: Path, nats_url: str) -> VenueSettings:
    """Settings of an adapter on the test's bus, quick to connect again."""
    return VenueSettings(
        nats_url=nats_url,
        data_dir=tmp_path,
        venue="binance",
        venue_port=free_port(),
        venue_stale_s=20.0,
        venue_reconnect_s_max=0.2,
    )


def of(settings: VenueSettings, simulator: Simulator, **changes: Any) -> VenueSettings:
    """Settings of an adapter that follows the simulated venue."""
    return settings.model_copy(update={"venue_config": simulator.adapter_config} | changes)


@asynccontextmanager
async def running_adapter(settings: VenueSettings) -> AsyncIterator[asyncio.Task[None]]:
    """An adapter that listens on its port."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))

    async def listens() -> bool:
        assert not task.done(), task.result()
        return await status(settings, "/metrics") == 200

    try:
        await eventually(listens)
        yield task
    finally:
        stop.set()
        await asyncio.wait_for(task, stretched(30))


async def subscribed(simulator: Simulator, streams: set[str] = BTC_USDT_STREAMS) -> None:
    """Wait until the adapter follows these streams."""
    await eventually(lambda: streams <= simulator.streams, timeout_s=60)


async def get(settings: VenueSettings, path: str) -> tuple[int, str, bytes]:
    """(status, content type, body) of a request to the adapter; status 0 if nobody listens."""
    try:
        address = f"http://{settings.host}:{settings.venue_port}{path}"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            return response.status, response.content_type, await response.read()
    except aiohttp.ClientConnectorError:
        return 0, "", b""


async def status(settings: VenueSettings, path: str) -> int:
    """Status of a request to the adapter."""
    return (await get(settings, path))[0]


class BusTicks:
    """Every venue tick that a listener on the bus hears, in order."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def of_kind(self, kind: str, symbol: str = "BTC-USDT") -> list[dict[str, Any]]:
        """The payloads of one kind and market."""
        return [payload for subject, payload in self.heard if subject == f"venue.binance.{kind}.{symbol}"]

    @property
    def trade_ids(self) -> list[int]:
        """The ids of BTC-USDT's trades, in the order of their arrival."""
        return [int(payload["tradeId"]) for payload in self.of_kind("trade")]

    @property
    def bid_quantities(self) -> list[str]:
        """What tells the quotes of `quote` apart."""
        return [payload["bidQty"] for payload in self.of_kind("bookTicker")]


PROBE = "venue.probe"


@pytest.fixture
async def ticks(nats_url: str) -> AsyncIterator[BusTicks]:
    """A listener on all venue subjects."""
    client = await nats.connect(nats_url)
    listener = BusTicks(client)
    listens = asyncio.Event()

    async def note(message: Any) -> None:
        if message.subject == PROBE:
            listens.set()
        else:
            listener.heard.append((message.subject, json.loads(message.data)))

    await client.subscribe("venue.>", cb=note)
    # The library's flush may overtake a subscription; a message through it cannot.
    await client.publish(PROBE, b"")
    await asyncio.wait_for(listens.wait(), stretched(30))
    yield listener
    await client.close()


class Counts:
    """How far the adapter's counters have gone since this object was made: they are those of the whole process."""

    def __init__(self) -> None:
        self._before = _values()

    def __call__(self, name: str, **labels: str) -> float:
        """The growth of a counter; without all its labels, of all that match."""
        after = _values()
        wanted = labels.items()
        return sum(
            value - self._before.get(key, 0.0)
            for key, value in after.items()
            if key[0] == name and wanted <= set(key[1])
        )

    def dropped(self, kind: str, reason: str) -> float:
        """Ticks that were dropped for a reason."""
        return self("openspot_venue_dropped_total", kind=kind, reason=reason)


def _values() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if sample.name.startswith("openspot_venue")
    }
