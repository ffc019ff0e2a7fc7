"""Clients that follow docs/guides/order-book.md have the engine's book, over real engine, market data and edge.

Beside the client that follows the guide literally runs that of `openspot.client`.
"""

import asyncio
import random

import pytest

from openspot.client import BookFeed, OpenSpotClient
from openspot.contracts.gen.exchange.v1 import market_data_pb2, orders_pb2
from openspot.kit.settings import Settings
from tests.support.book_client import GuideClient, Sides, ended
from tests.support.engine_client import EngineClient, running_engine
from tests.support.market_data import MarketDataProcess, market_data_process, market_data_ready
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import running_edge

SYMBOL = "BTC-USD"
DEPTHS = (1, 5, 20)
USERS = ("alice", "bob")

Resting = tuple[int, str]
"""An order and its user."""


async def engine_book(engine: EngineClient) -> tuple[int, Sides]:
    """The sequence and the levels of the engine's own book."""
    book = await engine.market_data.GetOrderBook(market_data_pb2.GetOrderBookRequest(symbol=SYMBOL, depth=0))
    bids = [(level.price, level.quantity) for level in book.bids]
    return book.sequence, (bids, [(level.price, level.quantity) for level in book.asks])


async def place_and_cancel(engine: EngineClient, chance: random.Random, count: int, own: list[Resting]) -> None:
    """Orders around one price, some of them cancelled, so that levels come, change and go."""
    for _ in range(count):
        if own and chance.random() < 0.4:
            await engine.cancel(*own.pop(chance.randrange(len(own))))
            continue
        side, user = chance.choice(("buy", "sell")), chance.choice(USERS)
        # Sells lie a little higher: most orders rest, and some trade.
        price = 100 + (chance.randint(-60, 10) if side == "buy" else chance.randint(-10, 60)) / 100
        reply = await engine.place(
            side, f"{price:.2f}".rstrip("0").rstrip("."), f"0.{chance.randint(1, 9)}", user, type=orders_pb2.GTC
        )
        own.append((int(reply.order_id), user))


def top(book: Sides, depth: int | None) -> Sides:
    return book[0][:depth], book[1][:depth]


async def note_books(feed: BookFeed, history: dict[int, Sides]) -> None:
    """Note each book that the feed yields, by its sequence."""
    async for book in feed:
        if book.seq is not None:
            history[book.seq] = sides_of(feed)


def sides_of(feed: BookFeed) -> Sides:
    book = feed[SYMBOL]
    bids = [(str(price), str(quantity)) for price, quantity in book.bids()]
    return bids, [(str(price), str(quantity)) for price, quantity in book.asks()]


@pytest.mark.timeout(stretched(600))
@pytest.mark.spec("A6.3-16", "A6.3-06")
async def test_a_client_by_the_guide_has_the_engines_book_at_equal_sequences(settings: Settings) -> None:
    chance = random.Random(7)
    quick = settings.model_copy(update={"market_data_book_ms": 1, "market_data_lease_s": 2})
    async with running_engine(settings) as engine:
        for user in USERS:
            await engine.fund(user, USD="100000000", BTC="100000")
        own: list[Resting] = []
        await place_and_cancel(engine, chance, 40, own)
        noted: dict[int, Sides] = {}
        async with (
            market_data_process(quick) as market_data,
            running_edge(quick) as edge,
            OpenSpotClient(ws_url=edge.ws_url) as library,
            library.books(SYMBOL) as feed,
        ):
            clients = {None: GuideClient(f"{edge.ws_url}/", f"orderbook:{SYMBOL}")}
            for depth in DEPTHS:
                clients[depth] = GuideClient(f"{edge.ws_url}/", f"orderbook:{SYMBOL}?depth={depth}")
            tasks = [asyncio.create_task(client.run()) for client in clients.values()]
            tasks.append(asyncio.create_task(note_books(feed, noted)))
            try:
                samples = await flow(engine, chance, own, clients, market_data)
                _, expected = await engine_book(engine)
                for depth, client in clients.items():
                    await eventually(lambda c=client, d=depth: c.book == top(expected, d), 60)
                await eventually(lambda: not feed[SYMBOL].is_stale and sides_of(feed) == expected, 60)
                assert feed.resubscribed == 0
            finally:
                await ended(*tasks)
    for depth, client in clients.items():
        compared = samples.keys() & client.history.keys()
        assert len(compared) >= 3, f"depth {depth}: {len(compared)} of {len(samples)} sequences were seen"
        for sequence in compared:
            assert client.history[sequence] == top(samples[sequence], depth), f"depth {depth} at {sequence}"
        assert client.updates > 20
        assert client.snapshots >= 3
    compared = samples.keys() & noted.keys()
    assert len(compared) >= 3
    for sequence in compared:
        assert noted[sequence] == samples[sequence], f"openspot.client at {sequence}"


async def flow(
    engine: EngineClient,
    chance: random.Random,
    own: list[Resting],
    clients: dict[int | None, GuideClient],
    market_data: MarketDataProcess,
) -> dict[int, Sides]:
    """Order flow with faults in it. Returns the engine's books by sequence."""
    samples = {}
    for number in range(16):
        await place_and_cancel(engine, chance, 12, own)
        sequence, book = await engine_book(engine)
        samples[sequence] = book
        if number % 4 == 0:
            # Nothing happens until all have this book, so that some sequences are sure to be compared.
            for depth, client in clients.items():
                await eventually(lambda c=client, d=depth, b=book: c.book == top(b, d), 60)
        elif number % 4 == 1:
            chance.choice(list(clients.values())).cut()
        elif number % 4 == 2:
            await chance.choice(list(clients.values())).lose_the_book()
        if number == 9:
            market_data.kill()
            market_data.start()
            await market_data_ready(market_data.settings)
        if number == 14:
            for client in clients.values():
                client.cut()
    return samples
