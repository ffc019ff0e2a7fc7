"""Books, trades and tickers on the bus, from a real engine (facts A6.3-01 to A6.3-03)."""

import asyncio
import random
from contextlib import AsyncExitStack

import aiohttp
import pytest

from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import market_data_pb2, orders_pb2
from openspot.contracts.messages import GetBook, GetBookReply, GetTickers, GetTickersReply
from openspot.contracts.refusals import RefusalCode
from openspot.engine.service import run as run_engine
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.market_data import Heard, Levels, ReceivedBook, listening, running_market_data
from tests.support.waiting import eventually
from tests.support.websocket_edge import ask, open_client, receive, running_edge

SYMBOL = "BTC-USD"


async def engine_book(engine: EngineClient, depth: int = 0) -> tuple[Levels, Levels]:
    """The engine's own book."""
    book = await engine.market_data.GetOrderBook(market_data_pb2.GetOrderBookRequest(symbol=SYMBOL, depth=depth))
    bids = [(level.price, level.quantity) for level in book.bids]
    return bids, [(level.price, level.quantity) for level in book.asks]


async def reaches_the_engines_book(heard: Heard, engine: EngineClient) -> None:
    expected = await engine_book(engine)
    await eventually(lambda: heard.books[SYMBOL].levels == expected)


async def random_orders(engine: EngineClient, chance: random.Random, count: int) -> list[int]:
    """Orders around one price, some of them cancelled or moved. Returns the ids of those that were placed."""
    placed: list[int] = []
    for _ in range(count):
        act = chance.random()
        if placed and act < 0.2:
            await engine.cancel(chance.choice(placed), chance.choice(("alice", "bob")))
        elif placed and act < 0.35:
            request = orders_pb2.MoveOrderRequest(
                order_id=chance.choice(placed), participant_id=chance.choice(("alice", "bob")), symbol=SYMBOL,
                price=10_000 + chance.randint(-50, 50),
            )  # fmt: skip
            await engine.orders.MoveOrder(request)
        else:
            reply = await engine.place(
                chance.choice(("buy", "sell")), str(100 + chance.randint(-50, 50) / 100),
                f"0.{chance.randint(1, 999):03}", chance.choice(("alice", "bob")),
                type=chance.choice((orders_pb2.GTC, orders_pb2.GTC, orders_pb2.GTC, orders_pb2.IOC)),
            )  # fmt: skip
            placed.append(int(reply.order_id))
    return placed


@pytest.mark.spec("A6.3-02")
async def test_a_receiver_has_the_engines_book_without_gap_or_repeat(
    settings: Settings, engine: EngineClient, heard: Heard
) -> None:
    chance = random.Random(1)
    # Orders that rest before the service starts: their moves need a new base.
    await random_orders(engine, chance, 60)
    quick = settings.model_copy(update={"market_data_book_ms": 1})
    async with running_market_data(quick):
        await reaches_the_engines_book(heard, engine)
        for _ in range(5):
            await random_orders(engine, chance, 60)
            await reaches_the_engines_book(heard, engine)
        book = heard.books[SYMBOL]
        assert book.gaps == 0
        assert len(heard.book_messages[SYMBOL]) > 20
    sequences = [message.seq for message in heard.book_messages[SYMBOL]]
    assert sequences == sorted(set(sequences))


@pytest.mark.spec("A6.3-02")
async def test_updates_keep_their_distance_and_lose_nothing(
    settings: Settings, engine: EngineClient, heard: Heard
) -> None:
    slow = settings.model_copy(update={"market_data_book_ms": 1000})
    async with running_market_data(slow):
        for number in range(40):
            await engine.place("buy", f"{50 + number}", "1")
        await reaches_the_engines_book(heard, engine)
    # Forty changes in less than forty updates: those of one second came together.
    assert 1 <= sum(message.type == "update" for message in heard.book_messages[SYMBOL]) < 40
    assert heard.books[SYMBOL].gaps == 0


async def test_without_conflation_every_command_is_an_update_at_once(
    settings: Settings, engine: EngineClient, heard: Heard
) -> None:
    every = settings.model_copy(update={"market_data_book_ms": 0})
    async with running_market_data(every):
        for number in range(20):
            await engine.place("buy", f"{50 + number}", "1")
            await reaches_the_engines_book(heard, engine)
    assert sum(message.type == "update" for message in heard.book_messages[SYMBOL]) == 20


@pytest.mark.spec("A6.3-03")
async def test_each_trade_is_published_once_and_names_the_one_before(
    settings: Settings, engine: EngineClient, heard: Heard
) -> None:
    async with running_market_data(settings):
        for number in range(10):
            await engine.place("sell", "100", "1", "alice")
            await engine.place("buy", "100", f"0.{number + 1:02}", "bob")
        await eventually(lambda: len(heard.trades[SYMBOL]) == 10)
        trades = heard.trades[SYMBOL]
        events = await engine.events(1, await engine.last_sequence())
        made = [event for event in events if event["type"] == "trade"]
        assert [
            (trade.seq, trade.trade_id, trade.price, trade.quantity, trade.side, trade.timestamp) for trade in trades
        ] == [(e["seq"], e["tradeId"], e["price"], e["quantity"], e["takerSide"], e["timestamp"]) for e in made]
        assert [trade.prev_seq for trade in trades] == [0, *(trade.seq for trade in trades[:-1])]
        last = trades[-1].seq
    # The next leader knows the last trade, and repeats none that was recorded.
    async with running_market_data(settings):
        await engine.place("buy", "100", "0.1", "bob")
        await eventually(lambda: len(heard.trades[SYMBOL]) == 11)
        assert heard.trades[SYMBOL][-1].prev_seq == last


@pytest.mark.spec("A6.3-01")
async def test_the_ticker_tells_best_prices_and_the_day(settings: Settings, engine: EngineClient, heard: Heard) -> None:
    async with running_market_data(settings):
        await engine.place("sell", "101", "2", "alice")
        await engine.place("sell", "103", "1", "alice")
        await engine.place("buy", "101", "0.5", "bob")
        await engine.place("buy", "103", "2", "bob")
        await engine.place("buy", "99", "1", "bob")

        def shows() -> bool:
            return bool(heard.tickers[SYMBOL]) and heard.tickers[SYMBOL][-1].bid_price == "99"

        await eventually(shows)
        ticker = heard.tickers[SYMBOL][-1]
        assert (ticker.bid_price, ticker.ask_price, ticker.last_price) == ("99", "103", "103")
        assert (ticker.open_price, ticker.high_price, ticker.low_price) == ("101", "103", "101")
        assert (ticker.volume, ticker.quote_volume) == ("2.5", "253.5")
        assert (ticker.price_change, ticker.price_change_percent) == ("2", "1.98")
        assert ticker.seq == await engine.last_sequence()
    # The next leader has the day from the candles.
    again = await Bus.connect(settings, "again")
    try:
        async with running_market_data(settings):
            reply = await again.request(subjects.MARKETDATA_TICKERS_GET, GetTickers(SYMBOL), GetTickersReply)
    finally:
        await again.close()
    assert reply.tickers[0].volume == ticker.volume
    assert reply.tickers[0].quote_volume == ticker.quote_volume
    assert reply.tickers[0].open_price == ticker.open_price


async def test_a_snapshot_on_request_fits_the_updates(settings: Settings, engine: EngineClient) -> None:
    """Receivers that join at any moment: updates from now on, and a snapshot. None needs more."""
    quick = settings.model_copy(update={"market_data_book_ms": 5})
    enough = asyncio.Event()

    async def flow() -> None:
        chance = random.Random(2)
        while not enough.is_set():
            await random_orders(engine, chance, 10)

    async with running_market_data(quick):
        orders = asyncio.create_task(flow())
        try:
            for number in range(5):
                await join(settings, f"late-{number}", engine)
        finally:
            enough.set()
            await orders


async def join(settings: Settings, name: str, engine: EngineClient) -> None:
    """Keep a book as docs/guides/market-data.md says, until some updates have come."""
    bus = await Bus.connect(settings, name)
    try:
        heard = await listening(bus)
        reply = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL), GetBookReply)
        snapshot = reply.book
        assert snapshot is not None
        messages = heard.book_messages[SYMBOL]
        await eventually(lambda: sum(message.seq > snapshot.seq for message in messages) >= 5)
    finally:
        await bus.close()
    book = ReceivedBook()
    book.take(snapshot)
    for message in messages:
        if message.seq > snapshot.seq:
            book.take(message)
    assert book.gaps == 0


async def test_a_book_is_published_to_its_depth_and_levels_come_back_into_it(
    settings: Settings, engine: EngineClient, heard: Heard, bus: Bus
) -> None:
    shallow = settings.model_copy(update={"market_data_depth": 10})
    async with running_market_data(shallow):
        orders = [await engine.place("buy", f"{50 + number}", "1") for number in range(30)]
        await eventually(lambda: heard.books[SYMBOL].levels[0][0:1] == [("79", "1")])
        expected = await engine_book(engine, 10)
        await eventually(lambda: heard.books[SYMBOL].levels == expected)
        for order in orders[-15:]:
            await engine.cancel(int(order.order_id))
        expected = await engine_book(engine, 10)
        assert expected[0][0] == ("64", "1")
        await eventually(lambda: heard.books[SYMBOL].levels == expected)
        assert heard.books[SYMBOL].gaps == 0
        # A request reaches deeper than what is published.
        reply = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL, 1000), GetBookReply)
        assert reply.book is not None
        assert len(reply.book.bids) == 15


async def test_requests_that_cannot_be_served_say_why(settings: Settings, engine: EngineClient, bus: Bus) -> None:
    async with running_market_data(settings):
        unknown = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook("NO-SUCH"), GetBookReply)
        assert unknown.code is RefusalCode.NOT_FOUND
        deep = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL, 1001), GetBookReply)
        assert (deep.code, deep.error) == (RefusalCode.VALIDATION, "depth must be from 1 to 1000")


async def test_without_its_engine_it_is_not_ready_and_serves_no_stale_book(
    settings: Settings, bus: Bus, heard: Heard
) -> None:
    async with AsyncExitStack() as stack:
        ended = asyncio.Event()
        engine = asyncio.create_task(run_engine(settings, ended))
        stack.push_async_callback(asyncio.gather, engine)
        stack.callback(ended.set)
        await stack.enter_async_context(running_market_data(settings))
        served = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL), GetBookReply)
        assert served.book is not None
        assert await ready(settings) == 200
        prices = heard.fair_prices[SYMBOL]
        await eventually(lambda: prices)
        ended.set()
        await engine

        async def refuses() -> GetBookReply | None:
            reply = await bus.request(subjects.MARKETDATA_BOOKS_GET, GetBook(SYMBOL), GetBookReply)
            return reply if reply.book is None else None

        refused = await eventually(refuses)
        assert refused.code is RefusalCode.UNAVAILABLE
        assert refused.error is not None
        assert refused.error.startswith("market data is not current: the engine's events do not come")
        assert await ready(settings) == 503
        tickers = await bus.request(subjects.MARKETDATA_TICKERS_GET, GetTickers(), GetTickersReply)
        assert tickers.code is RefusalCode.UNAVAILABLE
        # Whoever follows fair prices need not wait for the silence.
        stale = await eventually(lambda: prices[-1] if prices and prices[-1].state == "stale" else None)
        assert stale.reason == "Market data is behind the matching engine. Wait until it has caught up."


async def test_metrics_tell_who_leads_and_how_far_it_is(settings: Settings, engine: EngineClient) -> None:
    async with running_market_data(settings):
        await engine.place("buy", "10", "1")
        newest = await engine.last_sequence()

        async def is_told() -> bool:
            text = await get(settings, "/metrics")
            return f"openspot_market_data_sequence {float(newest)}" in text

        await eventually(is_told)
        text = await get(settings, "/metrics")
        assert "openspot_market_data_lag_events 0.0" in text
        assert "openspot_market_data_leads 1.0" in text
        assert 'openspot_market_data_published_total{kind="orderbook"}' in text


async def get(settings: Settings, path: str) -> str:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{settings.host}:{settings.market_data_port}{path}") as response,
    ):
        return await response.text()


async def ready(settings: Settings) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{settings.host}:{settings.market_data_port}/ready") as response,
    ):
        return response.status


@pytest.mark.spec("A6.3-04")
async def test_a_fill_reaches_a_client_of_the_websocket_edge(settings: Settings, engine: EngineClient) -> None:
    async with running_market_data(settings), running_edge(settings), open_client(settings) as client:
        assert (await ask(client, action="subscribe", channel=f"trades:{SYMBOL}"))["type"] == "subscribed"
        await engine.place("sell", "100", "1", "alice")
        await engine.place("buy", "100", "0.25", "bob")
        push = await receive(client)
        made = (await engine.events(1, await engine.last_sequence()))[-1]
    assert made["type"] == "trade"
    assert (push["channel"], push["type"], push["seq"]) == (f"trades:{SYMBOL}", "update", made["seq"])
    assert push["data"] == {
        "symbol": SYMBOL, "seq": made["seq"], "prevSeq": 0, "tradeId": made["tradeId"], "price": "100",
        "quantity": "0.25", "side": "buy", "timestamp": made["timestamp"],
    }  # fmt: skip
