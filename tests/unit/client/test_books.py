"""The client's local order books against an edge that loses and spoils messages on request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from openspot.client import Level, LocalBook, OpenSpotClient, ReconnectPolicy, StreamClosedError, StreamError
from openspot.client import books as books_module
from openspot.contracts.messages import OrderBookEvent
from openspot.domain.order_book import BookContradictionError, checksum
from tests.support.scripted_edge import ScriptedEdge, scripted_edge
from tests.support.waiting import eventually, stretched

CHANNEL = "orderbook:BTC-USD"
BIDS, ASKS = [("100", "1"), ("99.5", "2")], [("101", "3")]
QUICK = ReconnectPolicy(pause_s=0.001, pause_s_max=0.01)


def push(
    kind: str, seq: int, prev: int | None, bids: Any, asks: Any, crc: int, channel: str = CHANNEL
) -> dict[str, Any]:
    data = {"symbol": "BTC-USD", "type": kind, "seq": seq, "prevSeq": prev, "timestamp": seq * 10}
    data |= {"bids": bids, "asks": asks, "checksum": crc}
    return {"channel": channel, "type": kind, "seq": seq, "ts": seq * 10, "data": data}


def snapshot(seq: int, channel: str = CHANNEL) -> dict[str, Any]:
    return push("snapshot", seq, None, BIDS, ASKS, checksum(BIDS, ASKS), channel)


def update(seq: int, prev: int, *, quantity: str = "7", spoilt: bool = False) -> dict[str, Any]:
    """Sets the bid 99 to `quantity`."""
    crc = checksum([*BIDS, ("99", quantity)], ASKS)
    return push("update", seq, prev, [["99", quantity]], [], crc + spoilt)


@pytest.fixture(autouse=True)
def quick_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books_module, "RESUBSCRIBE_PAUSE_S", 0.001)


@pytest.fixture
async def edge() -> AsyncIterator[ScriptedEdge]:
    async with scripted_edge() as running:
        running.on_subscribe = lambda channel: [snapshot(5, channel)]
        yield running


@pytest.fixture
async def client(edge: ScriptedEdge) -> AsyncIterator[OpenSpotClient]:
    async with OpenSpotClient("http://127.0.0.1:9", edge.url) as made:
        yield made


async def test_a_book_follows_its_channel_and_is_read_as_exact_numbers(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    async with client.books("BTC-USD") as feed:
        await feed.ready()
        book = feed["BTC-USD"]
        assert (await anext(feed)) is book
        assert (book.best_bid, book.best_ask) == (Level(100, 1), Level(101, 3))  # type: ignore[arg-type]
        await edge.send(update(8, 5))
        assert (await anext(feed)) is book
        assert (book.seq, book.timestamp, book.is_stale) == (8, 80, False)
        assert [(str(price), str(quantity)) for price, quantity in book.bids()] == [*BIDS, ("99", "7")]
        assert len(book.bids(1)) == 1
        with pytest.raises(KeyError):
            feed["ETH-USD"]


@pytest.mark.parametrize(
    "fault",
    [
        update(9, 6),
        update(8, 5, spoilt=True),
        push("update", 8, 5, [["1", "0"]], [], 0),
        push("update", 8, 5, [["one", "1"]], [], 0),
        {"channel": CHANNEL, "type": "update", "seq": 1, "ts": 1, "data": {"type": "update"}},
    ],
    ids=["gap", "checksum", "unknown level", "no number", "no book"],
)
async def test_a_fault_makes_the_book_stale_until_one_new_subscription_brings_a_snapshot(
    edge: ScriptedEdge, client: OpenSpotClient, fault: dict[str, Any]
) -> None:
    async with client.books("BTC-USD") as feed:
        await feed.ready()
        await anext(feed)
        edge.on_subscribe = lambda _: []
        # More faults and updates come before the snapshot: they are ignored.
        await edge.send(fault, fault, update(10, 9))
        await eventually(lambda: _is(feed["BTC-USD"].is_stale))
        await eventually(lambda: _is(edge.subscriptions(CHANNEL) == 2))
        assert feed["BTC-USD"].is_stale
        await edge.send(snapshot(3), update(4, 3))
        await feed.ready()
        await eventually(lambda: _is(feed["BTC-USD"].seq == 4))
        assert (edge.subscriptions(CHANNEL), feed.resubscribed) == (2, 1)


async def test_a_snapshot_that_does_not_come_is_asked_for_again(
    edge: ScriptedEdge, client: OpenSpotClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books_module, "SNAPSHOT_TIMEOUT_S", 0.05)
    async with client.books("BTC-USD") as feed:
        await feed.ready()
        edge.on_subscribe = lambda _: [snapshot(20)] if edge.subscriptions(CHANNEL) >= 4 else []
        await edge.send(update(9, 6))
        await eventually(lambda: _is(feed["BTC-USD"].seq == 20))
        assert edge.subscriptions(CHANNEL) == 4


async def test_a_book_is_stale_while_the_connection_is_away_and_new_when_it_is_back(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    async with client.books("BTC-USD", reconnect=QUICK) as feed:
        await feed.ready()
        book = feed["BTC-USD"]
        edge.on_subscribe = lambda _: []
        await edge.connections[-1].close(1012, "restart")
        await edge.wait_for_client(2)
        await eventually(lambda: _is(book.is_stale))
        assert book.bids() != []
        await edge.send(snapshot(2))
        await feed.ready()
        assert (book.seq, book.resynchronised) == (2, 2)


async def test_a_missing_market_has_a_fault_and_the_other_books_go_on(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    missing = {"type": "error", "code": "UNKNOWN_MARKET", "message": "none", "channel": "orderbook:NO-USD"}
    edge.on_subscribe = lambda channel: [missing] if channel == "orderbook:NO-USD" else [snapshot(5, channel)]
    async with client.books("NO-USD", "BTC-USD") as feed:
        with pytest.raises(StreamError, match="UNKNOWN_MARKET"):
            await feed.ready()
        await eventually(lambda: _is(not feed["BTC-USD"].is_stale))
        assert feed["NO-USD"].is_stale
        await edge.send(snapshot(6, "orderbook:NO-USD"))
        await eventually(lambda: _is(feed["NO-USD"].seq == 6))
        await feed.ready()
        assert feed["NO-USD"].fault is None


async def test_a_slow_reader_gets_the_latest_book_once(edge: ScriptedEdge, client: OpenSpotClient) -> None:
    async with client.books("BTC-USD", "ETH-USD", depth=5) as feed:
        await feed.ready()
        assert {(await anext(feed)).symbol, (await anext(feed)).symbol} == {"BTC-USD", "ETH-USD"}
        channel = CHANNEL + "?depth=5"
        await edge.send(*(update(seq, seq - 1) | {"channel": channel} for seq in range(6, 106)))
        await eventually(lambda: _is(feed["BTC-USD"].seq == 105))
        assert (await anext(feed)).seq == 105
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(feed), 0.05)


async def test_a_feed_that_cannot_come_back_says_so_and_a_closed_one_just_ends(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    async with client.books("BTC-USD", reconnect=False) as feed:
        await feed.ready()
        await anext(feed)
        await edge.connections[-1].close(1012, "restart")
        with pytest.raises(StreamClosedError, match="1012"):
            await anext(feed)
        with pytest.raises(StreamClosedError, match="1012"):
            await feed.ready()
    async with client.books("BTC-USD") as feed:
        await feed.ready()
        reading = asyncio.create_task(_all(feed))
        await eventually(lambda: _is(not feed._changed))
        await feed.close()
        assert await asyncio.wait_for(reading, stretched(30)) == ["BTC-USD"]


async def _all(feed: Any) -> list[str]:
    return [book.symbol async for book in feed]


async def _is(value: bool) -> bool:
    return value


def test_a_book_without_a_snapshot_ignores_updates_and_a_gap_drops_it() -> None:
    book = LocalBook("BTC-USD")
    book.take(OrderBookEvent("BTC-USD", "update", 2, 1, 0, [("1", "1")], [], 0))
    assert (book.seq, book.bids()) == (None, [])
    book.take(OrderBookEvent("BTC-USD", "snapshot", 2, None, 0, [], [], 0))
    with pytest.raises(BookContradictionError, match="missed"):
        book.take(OrderBookEvent("BTC-USD", "update", 4, 3, 0, [], [], 0))
    assert book.seq is None
