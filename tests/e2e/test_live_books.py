"""Clients of the WebSocket edge over the real platform: what they hear of a market is what the engine did.

The books are followed by the steps of docs/guides/order-book.md during real order flow, while connections break at
random moments, market data and the edge are killed, and a leader of market data is paused.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import psutil
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from openspot.contracts.engine_events import EngineEvent, TradeEvent
from openspot.contracts.gen.exchange.v1 import market_data_pb2
from openspot.kit.bus import Bus
from openspot.reconcile.store import EngineReader
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.book_client import GuideClient, ended
from tests.support.engine_client import EngineClient
from tests.support.fault_run import SEED, Beside, Run
from tests.support.money_user import money_user
from tests.support.order_flow import OrderFlow
from tests.support.ports import free_port
from tests.support.reference_book import Sides, books_at, top
from tests.support.shared_data import BITSTAMP, needs_bitstamp
from tests.support.waiting import eventually, stretched

SYMBOL = "BTC-USDT"
QUIET_SYMBOL = "SOL-BRL"
"""On which no other test of the shared platform trades."""
PUBLISHED_LEVELS = 1_000
DEPTHS = (1, 20)
EVENTS, USERS = 20_000, 4
"""More events than are played before the faults are over."""
LEADS = "openspot_market_data_leads"
PROCESSES = ("market-data", "market-data-2")
WAIT_S_MAX = 120.0


@pytest.fixture
async def engine(breakable: ChildPlatform) -> AsyncIterator[EngineClient]:
    client = EngineClient(breakable.settings)
    yield client
    await client.close()


@pytest.fixture
async def run(breakable: ChildPlatform) -> AsyncIterator[Run]:
    """The platform, with a second market data process beside its own."""
    print(f"\nOPENSPOT_FAULT_SEED={SEED}, log {breakable.log_path}")
    second = Beside(breakable, SERVICES["market-data"], free_port())
    try:
        await second.child.start()
        await second.child.await_started()
        yield Run(breakable, OrderFlow(breakable.settings, SEED), {"market-data-2": second})
    finally:
        await second.child.stop()


# What the bus carries


async def hear(socket: ClientConnection, channels: list[str], heard: dict[str, list[Any]]) -> None:
    """Subscribe, and keep the data of each channel until cancelled."""
    for channel in channels:
        await socket.send(json.dumps({"action": "subscribe", "channel": channel}))
    async for text in socket:
        message = json.loads(text)
        if "data" in message:
            heard[message["channel"]].append(message["data"])


@pytest.mark.spec("A6.3-05", "A6.3-06", "A6.3-07", "B4.2-02")
async def test_what_market_data_publishes_of_an_order_reaches_a_client_unchanged(
    platform: ChildPlatform,
) -> None:
    subjects = {
        f"ticker:{QUIET_SYMBOL}": f"marketdata.ticker.{QUIET_SYMBOL}",
        f"orderbook:{QUIET_SYMBOL}": f"marketdata.orderbook.{QUIET_SYMBOL}",
        f"trades:{QUIET_SYMBOL}": f"marketdata.trade.{QUIET_SYMBOL}",
    }
    heard: dict[str, list[Any]] = {channel: [] for channel in subjects}
    published: dict[str, list[Any]] = {channel: [] for channel in subjects}
    bus = await Bus.connect(platform.settings, "operator")
    try:
        for channel, subject in subjects.items():
            await bus.listen(subject, lambda _, payload, of=published[channel]: of.append(json.loads(payload)))
        await bus.check()
        async with (
            connect(f"{platform.settings.ws_url}/", compression=None) as socket,
            money_user(platform) as seller,
            money_user(platform) as buyer,
        ):
            hearing = asyncio.create_task(hear(socket, list(subjects), heard))
            await eventually(lambda: heard[f"orderbook:{QUIET_SYMBOL}"])
            await asyncio.gather(seller.credit("SOL", "1"), buyer.credit("BRL", "100"))
            order = {"symbol": QUIET_SYMBOL, "type": "limit", "price": "100"}
            await seller("POST", "/orders", order | {"side": "sell", "quantity": "1"}, status=201)
            await buyer("POST", "/orders", order | {"side": "buy", "quantity": "0.25"}, status=201)
            await eventually(lambda: any(ticker["lastPrice"] == "100" for ticker in heard[f"ticker:{QUIET_SYMBOL}"]))
            await eventually(lambda: heard[f"trades:{QUIET_SYMBOL}"])
            await eventually(lambda: heard[f"orderbook:{QUIET_SYMBOL}"][-1]["asks"] == [["100", "0.75"]])
            await ended(hearing)
    finally:
        await bus.close()
    book, ticker = heard[f"orderbook:{QUIET_SYMBOL}"][0], heard[f"ticker:{QUIET_SYMBOL}"][0]
    assert (book["type"], ticker["lastPrice"]) == ("snapshot", None)
    begins = {f"orderbook:{QUIET_SYMBOL}": book["seq"], f"ticker:{QUIET_SYMBOL}": ticker["seq"]}
    for channel, messages in heard.items():
        # A new platform may publish its first, empty ticker before the client subscribes, or after.
        updates = [message for message in messages if message["seq"] > begins.get(channel, 0)]
        due = [message for message in published[channel] if message["seq"] > begins.get(channel, 0)]
        assert updates, channel
        assert updates == due[: len(updates)], channel
    (trade,) = heard[f"trades:{QUIET_SYMBOL}"]
    assert (trade["price"], trade["quantity"], trade["side"]) == ("100", "0.25", "buy")


# Books through faults


class TradeClient:
    """Follows trades by docs/protocol/websocket.md: while a connection is open, each names the one before."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.runs: list[list[int]] = []
        """The sequences of the trades of each connection, without repeats."""

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            with suppress(WebSocketException, OSError):
                async with connect(self._url, compression=None) as socket:
                    await socket.send(json.dumps({"action": "subscribe", "channel": f"trades:{SYMBOL}"}))
                    self.runs.append([])
                    async for text in socket:
                        message = json.loads(text)
                        if "data" in message:
                            self._take(message["data"], self.runs[-1])
            await asyncio.sleep(random.uniform(0, 0.1))

    @staticmethod
    def _take(trade: dict[str, Any], sequences: list[int]) -> None:
        if not sequences or trade["seq"] > sequences[-1]:
            assert not sequences or trade["prevSeq"] == sequences[-1], f"{sequences[-1]}, then {trade}"
            sequences.append(trade["seq"])


async def engine_book(engine: EngineClient) -> tuple[int, Sides]:
    """The sequence and the levels of the engine's own book."""
    book = await engine.market_data.GetOrderBook(market_data_pb2.GetOrderBookRequest(symbol=SYMBOL, depth=0))
    bids = [(level.price, level.quantity) for level in book.bids]
    return book.sequence, (bids, [(level.price, level.quantity) for level in book.asks])


@asynccontextmanager
async def real_order_flow(run: Run) -> AsyncIterator[None]:
    """A venue's order flow during the context."""
    flow = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.cli", "replay", str(BITSTAMP), "--symbol", SYMBOL, "--events", str(EVENTS),
        "--users", str(USERS), env=os.environ | {"OPENSPOT_DATA_DIR": str(run.platform.data_dir)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
        assert flow.returncode is None, f"the order flow ended before the faults: {flow.returncode}"
    finally:
        if flow.returncode is None:
            flow.kill()
            await flow.wait()


async def leader(run: Run) -> str:
    """The market data process that leads now, once there is exactly one."""

    async def found() -> str | None:
        leading = [name for name in PROCESSES if await run.metric(name, LEADS)]
        return leading[0] if len(leading) == 1 else None

    return str(await eventually(found, WAIT_S_MAX, 0.1))


async def all_follow(clients: list[GuideClient], *, from_a_snapshot: bool = False) -> None:
    """Wait until each client has had five updates since this call, and a snapshot as well if it must have one."""
    before = {client: (client.snapshots, client.updates) for client in clients}
    for client, (snapshots, updates) in before.items():
        if from_a_snapshot:
            await eventually(lambda c=client, s=snapshots: c.snapshots > s, WAIT_S_MAX, 0.05)
        await eventually(lambda c=client, u=updates: c.updates >= u + 5, WAIT_S_MAX, 0.05)


async def disturb(clients: list[GuideClient], engine: EngineClient, samples: dict[int, Sides]) -> None:
    """Break connections and lose books at random moments, and look at the engine's own book, until cancelled."""
    chance = random.Random(SEED)
    while True:
        due = sum(client.updates for client in clients) + chance.randint(1, 40)
        await eventually(lambda due=due: sum(client.updates for client in clients) >= due, WAIT_S_MAX, 0.005)
        sequence, book = await engine_book(engine)
        samples[sequence] = book
        if chance.random() < 0.5:
            chance.choice(clients).cut()
        else:
            await chance.choice(clients).lose_the_book()


async def break_everything(run: Run, clients: list[GuideClient]) -> None:
    """Kill the leader of market data, pause the next one until it is replaced, then kill the edge and market data."""
    await all_follow(clients, from_a_snapshot=True)
    run.kill(await leader(run))
    await all_follow(clients, from_a_snapshot=True)
    leads = await leader(run)
    paused = psutil.Process(run.pid(leads))
    paused.suspend()
    try:
        successor = next(name for name in PROCESSES if name != leads)
        await eventually(lambda: run.metric(successor, LEADS), WAIT_S_MAX, 0.1)
        await all_follow(clients)
    finally:
        paused.resume()
    await all_follow(clients)
    run.kill("ws-edge", await leader(run))
    await all_follow(clients, from_a_snapshot=True)


async def all_events(run: Run) -> list[EngineEvent]:
    """The engine's events from the first one on."""
    async with EngineReader(run.settings) as reader:
        return [event async for events in reader.events(1) for event in events]


@needs_bitstamp
@pytest.mark.proof
@pytest.mark.timeout(stretched(900))
@pytest.mark.spec("A6.3-02", "A6.3-06", "A6.3-07", "A6.3-16", "A6.3-17")
async def test_clients_have_the_engines_book_at_each_sequence_whatever_is_killed(
    run: Run, engine: EngineClient
) -> None:
    url = f"{run.settings.ws_url}/"
    depths = {GuideClient(url, f"orderbook:{SYMBOL}"): PUBLISHED_LEVELS} | {
        GuideClient(url, f"orderbook:{SYMBOL}?depth={depth}"): depth for depth in DEPTHS
    }
    clients, trade_client = list(depths), TradeClient(url)
    samples: dict[int, Sides] = {}
    async with asyncio.TaskGroup() as group:
        following = [group.create_task(client.run()) for client in (*clients, trade_client)]
        async with real_order_flow(run):
            disturbing = group.create_task(disturb(clients, engine, samples))
            await break_everything(run, clients)
            disturbing.cancel()
        await run.healed()

        async def all_are_current() -> bool:
            _, book = await engine_book(engine)
            return all(client.book == top(book, depth) for client, depth in depths.items())

        await eventually(all_are_current, WAIT_S_MAX, 0.1)
        for task in following:
            task.cancel()
    check(await all_events(run), depths, samples, trade_client)


def check(
    events: list[EngineEvent], depths: dict[GuideClient, int], samples: dict[int, Sides], trade_client: TradeClient
) -> None:
    """Compare everything that was seen with the engine's events."""
    books = books_at(SYMBOL, events, set(samples).union(*(client.history for client in depths)))
    assert len(samples) >= 5
    for sequence, book in samples.items():
        assert books[sequence] == book, f"the rebuilt book is not the engine's at {sequence}"
    for client, depth in depths.items():
        print(
            f"{client.channel}: {len(client.history):,} sequences, {client.updates:,} updates, {client.snapshots} "
            f"snapshots, {client.connections} connections, {client.lost} books lost"
        )
        for sequence, book in client.history.items():
            assert book == top(books[sequence], depth), f"{client.channel} differs at {sequence}"
        # The edge leaves no gap: a client repairs nothing but what it lost itself.
        assert client.resubscribed == client.lost
    trades = [event.seq for event in events if isinstance(event, TradeEvent) and event.symbol == SYMBOL]
    for run in filter(None, trade_client.runs):
        assert run == trades[trades.index(run[0]) :][: len(run)]
    assert sum(map(len, trade_client.runs)) > 10
