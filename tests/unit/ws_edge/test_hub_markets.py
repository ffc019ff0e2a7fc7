"""What the clients of a market read, message by message, from their subscription on."""

import asyncio
import zlib
from typing import Any

import msgspec
import pytest
from prometheus_client import REGISTRY

from openspot.contracts.messages import Candle, GetCandles
from openspot.kit.bus import MalformedEventError
from openspot.kit.tasks import end_tasks
from openspot.kit.tokens import Claims
from openspot.ws_edge.channels import market_channel
from openspot.ws_edge.hub import Hub
from tests.unit.ws_edge.scripted_connection import Served, closing, counted

NOW_MS = 1_700_000_000_123
BOOK, BEST = market_channel("orderbook:BTC-USD"), market_channel("orderbook:BTC-USD?depth=1")
TICKER, CANDLES = market_channel("ticker:BTC-USD"), market_channel("candles:BTC-USD:1m")
TRADES = market_channel("trades:BTC-USD")


class Exchange:
    """The hub, and what market data publishes to it."""

    def __init__(self) -> None:
        self.hub = Hub(lambda: NOW_MS)

    def client(self, *channels: Any) -> Served:
        """A client that follows these channels."""
        client = Served().shake_hands()
        self.hub.join(client.edge)
        for channel in channels:
            self.hub.subscribe(client.edge, channel)
        return client

    def publish(self, kind: str, fields: dict[str, Any], symbol: str = "BTC-USD") -> None:
        """Market data publishes something."""
        self.hub.market_event(f"marketdata.{kind}.{symbol}", msgspec.json.encode(fields))

    def book(self, seq: int, before: int | None, bids: list[list[str]], text: bytes) -> dict[str, Any]:
        """Publish a snapshot, or the update that follows `before`. `text` is what the checksum is made of."""
        fields = {
            "symbol": "BTC-USD", "type": "update" if before else "snapshot", "seq": seq, "prevSeq": before,
            "timestamp": 1000 + seq, "bids": bids, "asks": [], "checksum": zlib.crc32(text),
        }  # fmt: skip
        self.publish("orderbook", fields)
        return fields


@pytest.fixture
def exchange() -> Exchange:
    return Exchange()


def subscribed() -> float:
    """The subscriptions of all connections."""
    return REGISTRY.get_sample_value("openspot_ws_subscriptions") or 0.0


def ticker(seq: int, **more: Any) -> dict[str, Any]:
    return {"type": "update", "symbol": "BTC-USD", "seq": seq, "lastPrice": "5"} | more


def candle(trades: int, symbol: str = "BTC-USD") -> dict[str, Any]:
    return {
        "timestamp": 60_000, "open": "1", "high": "2", "low": "1", "close": "2", "volume": "3", "trades": trades,
        "symbol": symbol, "interval": "1m",
    }  # fmt: skip


async def test_a_book_begins_with_a_snapshot_and_each_view_has_its_own_updates(exchange: Exchange) -> None:
    whole, best = exchange.client(BOOK), exchange.client(BEST)
    assert (whole.got, best.got) == ([], [])
    exchange.book(5, None, [["10", "1"], ["9", "2"]], b"10:1:9:2")
    snapshot = {
        "symbol": "BTC-USD", "type": "snapshot", "seq": 5, "prevSeq": None, "timestamp": 1005,
        "bids": [["10", "1"], ["9", "2"]], "asks": [], "checksum": zlib.crc32(b"10:1:9:2"),
    }  # fmt: skip
    push = {"channel": "orderbook:BTC-USD", "type": "snapshot", "seq": 5, "ts": 1005, "data": snapshot}
    assert whole.got == [push]
    view = snapshot | {"bids": [["10", "1"]], "checksum": zlib.crc32(b"10:1")}
    assert best.got == [push | {"channel": "orderbook:BTC-USD?depth=1", "data": view}]
    before = counted("pushes", channel="orderbook")
    update = exchange.book(6, 5, [["9", "0"]], b"10:1")
    assert whole.got == [{"channel": "orderbook:BTC-USD", "type": "update", "seq": 6, "ts": 1006, "data": update}]
    assert best.got == []
    assert counted("pushes", channel="orderbook") == before + 1
    exchange.client(BOOK)
    exchange.book(7, 6, [["11", "3"]], b"11:3:10:1")
    assert [each["seq"] for each in whole.got] == [7]
    (last,) = best.got
    assert (last["seq"], last["data"]["prevSeq"]) == (7, 5)
    assert last["data"]["bids"] == [["11", "3"], ["10", "0"]]
    # Two clients of the whole book, and one of the view.
    assert counted("pushes", channel="orderbook") == before + 4


async def test_each_subscription_sends_a_snapshot_and_counts_once(exchange: Exchange) -> None:
    client = exchange.client(BOOK, CANDLES)
    exchange.book(5, None, [], b"")
    exchange.publish("candle", candle(1))
    assert [(each["channel"], each["type"]) for each in client.got] == [
        ("orderbook:BTC-USD", "snapshot"), ("candles:BTC-USD:1m", "snapshot"),
    ]  # fmt: skip
    for channel in (BOOK, CANDLES):
        exchange.hub.subscribe(client.edge, channel)
    assert [(each["channel"], each["type"]) for each in client.got] == [
        ("orderbook:BTC-USD", "snapshot"), ("candles:BTC-USD:1m", "snapshot"),
    ]  # fmt: skip
    exchange.book(6, 5, [["9", "1"]], b"9:1")
    assert len(client.got) == 1


async def test_a_slow_client_of_a_book_gets_a_snapshot_instead_of_updates(exchange: Exchange) -> None:
    client = exchange.client(BOOK)
    exchange.book(5, None, [["10", "1"]], b"10:1")
    assert [each["type"] for each in client.got] == ["snapshot"]
    client.fill()
    exchange.book(6, 5, [["9", "1"]], b"10:1:9:1")
    client.edge.resume_writing()
    assert [(each["type"], each["seq"]) for each in client.got] == [("snapshot", 6)]


async def test_the_candles_that_are_missing_are_requested_by_the_clock_of_the_edge(exchange: Exchange) -> None:
    client, asked = exchange.client(CANDLES), list[GetCandles]()

    async def request(question: GetCandles) -> list[Candle]:
        asked.append(question)
        return [Candle(1_699_999_980_000, "1", "2", "1", "2", "3", 4)]

    running = asyncio.create_task(exchange.hub.candles.run(request))
    for _ in range(3):
        await asyncio.sleep(0)
    await end_tasks(running)
    assert asked == [GetCandles("BTC-USD", "1m", 1_699_999_920_000, 1_700_000_040_000)]
    data = candle(4) | {"timestamp": 1_699_999_980_000}
    push = {"channel": "candles:BTC-USD:1m", "type": "snapshot", "seq": 4, "ts": 1_699_999_980_000, "data": data}
    assert client.got == [push]


async def test_a_candle_reaches_those_who_follow_it(exchange: Exchange) -> None:
    first, other = exchange.client(CANDLES), exchange.client(market_channel("candles:ETH-USD:1m"))
    exchange.publish("candle", candle(1))
    exchange.publish("candle", candle(1, "ETH-USD"), "ETH-USD")
    push = {"channel": "candles:BTC-USD:1m", "type": "snapshot", "seq": 1, "ts": 60_000, "data": candle(1)}
    assert first.got == [push]
    assert [each["channel"] for each in other.got] == ["candles:ETH-USD:1m"]
    before = counted("pushes", channel="candles")
    second = exchange.client(CANDLES)
    assert second.got == [push]
    exchange.publish("candle", candle(2))
    update = push | {"type": "update", "seq": 2, "data": candle(2)}
    assert (first.got, second.got, other.got) == ([update], [update], [])
    assert counted("pushes", channel="candles") == before + 2


async def test_a_slow_client_gets_the_last_of_each_candle(exchange: Exchange) -> None:
    client = exchange.client(CANDLES)
    exchange.publish("candle", candle(1))
    client.written  # noqa: B018  (ends the turn)
    client.fill()
    exchange.publish("candle", candle(2) | {"timestamp": 120_000})
    exchange.publish("candle", candle(2))
    exchange.publish("candle", candle(3) | {"timestamp": 120_000})
    client.edge.resume_writing()
    assert [(each["ts"], each["seq"]) for each in client.got] == [(120_000, 3), (60_000, 2)]


async def test_a_ticker_comes_when_there_is_one_and_first_to_those_who_come_later(exchange: Exchange) -> None:
    first = exchange.client(TICKER)
    assert first.got == []
    before = counted("pushes", channel="ticker")
    exchange.publish("ticker", ticker(3, timestamp=7))
    push = {"channel": "ticker:BTC-USD", "type": "update", "seq": 3, "ts": 7, "data": ticker(3, timestamp=7)}
    assert first.got == [push]
    assert counted("pushes", channel="ticker") == before + 1
    second = exchange.client(TICKER)
    assert second.got == [push | {"type": "snapshot"}]
    exchange.publish("ticker", ticker(4))
    # Without a time of its own it has that of the edge.
    assert [(each["type"], each["seq"], each["ts"]) for each in second.got] == [("update", 4, NOW_MS)]
    assert len(first.got) == 1
    with pytest.raises(MalformedEventError, match=r"^the symbol is not the subject's$"):
        exchange.publish("ticker", ticker(5, symbol="ETH-USD"))
    assert (first.got, second.got) == ([], [])


async def test_a_client_that_waits_for_the_first_ticker_gets_it_at_once_when_it_comes(exchange: Exchange) -> None:
    client = exchange.client(TICKER)
    client.fill()
    exchange.publish("ticker", ticker(3))
    exchange.publish("ticker", ticker(4))
    client.edge.resume_writing()
    assert [(each["type"], each["seq"]) for each in client.got] == [("update", 4)]


async def test_trades_have_no_snapshot_and_the_time_of_the_edge_if_they_have_none(exchange: Exchange) -> None:
    before = counted("pushes", channel="trades")
    first, second = exchange.client(TRADES), exchange.client(TRADES)
    for fields in ({"symbol": "BTC-USD", "seq": 8, "timestamp": 5}, {"symbol": "BTC-USD", "seq": 9}):
        exchange.publish("trade", fields)
    expected = [
        {"channel": "trades:BTC-USD", "type": "update", "seq": seq, "ts": stamp, "data": data}
        for seq, stamp, data in (
            (8, 5, {"symbol": "BTC-USD", "seq": 8, "timestamp": 5}), (9, NOW_MS, {"symbol": "BTC-USD", "seq": 9}),
        )
    ]  # fmt: skip
    assert first.got == second.got == expected
    assert counted("pushes", channel="trades") == before + 4
    # The end of a channel is none of another's; what nobody follows is not even read.
    exchange.hub.unsubscribe(first.edge, "trades:BTC-USD")
    exchange.hub.unsubscribe(second.edge, "trades:BTC-USD")
    exchange.hub.market_event("marketdata.trade.BTC-USD", b"not JSON")
    exchange.hub.market_event("marketdata.candles.get", b"no event")
    assert (first.got, second.got) == ([], [])


@pytest.mark.parametrize("channel", [BOOK, BEST, CANDLES, TICKER, TRADES])
async def test_what_a_client_has_left_goes_on_for_others_and_ends_with_the_last(
    exchange: Exchange, channel: Any
) -> None:
    def publish(seq: int, before: int | None) -> None:
        exchange.book(seq, before, [["10", str(seq)]], b"10:%d" % seq)
        exchange.publish("candle", candle(seq))
        exchange.publish("ticker", ticker(seq))
        exchange.publish("trade", {"symbol": "BTC-USD", "seq": seq})

    subscriptions = subscribed()
    first, second = exchange.client(channel), exchange.client(channel)
    publish(1, None)
    assert [each["seq"] for each in first.got + second.got] == [1, 1]
    assert subscribed() == subscriptions + 2
    exchange.hub.unsubscribe(first.edge, channel.name)
    exchange.hub.unsubscribe(first.edge, channel.name)
    assert (subscribed(), first.edge.channels) == (subscriptions + 1, set())
    publish(2, 1)
    assert ([each["seq"] for each in second.got], first.got) == ([2], [])
    exchange.hub.leave(second.edge)
    assert (subscribed(), exchange.hub._channels) == (subscriptions, {})
    publish(3, 2)
    assert (first.got, second.got) == ([], [])
    # Whoever comes next does not get what was last known to nobody, but for candles, which were published.
    third = exchange.client(channel)
    assert [each["seq"] for each in third.got] == ([3] if channel is CANDLES else [])


async def test_a_message_to_a_channel_or_to_all_is_never_left_out(exchange: Exchange) -> None:
    followers, other = [exchange.client(BOOK) for _ in range(2)], exchange.client(TICKER)
    for client in followers:
        client.fill()
    exchange.hub.send_to_channel("orderbook:BTC-USD", b"fault")
    exchange.hub.tell_all(b"notice")
    for client in followers:
        client.edge.resume_writing()
        assert client.written == [b"faultnotice"]
    assert other.written == [b"notice"]


async def test_all_connections_are_ended_with_code_and_reason(exchange: Exchange) -> None:
    clients = [exchange.client() for _ in range(3)]
    clients[0].edge.end(4408, "no message for 120 s")
    assert exchange.hub.end_all(1012, "the service is stopping") == 2
    for client in clients[1:]:
        assert client.written == [closing(1012, "the service is stopping")]
    assert exchange.hub.end_all(1012, "the service is stopping") == 0


async def test_connections_are_counted_by_network_and_by_whether_they_have_a_token(exchange: Exchange) -> None:
    hub = exchange.hub
    first, second, third = (exchange.client() for _ in range(3))
    other = Served().shake_hands()
    other.edge.network, other.edge.claims = "203.0.113.0", Claims("bob", "user", 1)
    hub.join(other.edge)

    def counts() -> tuple[int, int, int, int]:
        return (
            hub.anonymous_connections, hub.connections_of("198.51.100.7"), hub.connections_of("203.0.113.0"),
            len(hub.connections),
        )  # fmt: skip

    assert counts() == (3, 3, 1, 4)
    hub.authenticate(first.edge, Claims("alice", "user", 1))
    assert counts() == (2, 3, 1, 4)
    # A new token of the same user changes no count.
    hub.authenticate(first.edge, Claims("alice", "user", 2))
    assert (counts(), first.edge.claims) == ((2, 3, 1, 4), Claims("alice", "user", 2))
    hub.leave(second.edge)
    assert counts() == (1, 2, 1, 3)
    hub.leave(first.edge)
    hub.leave(other.edge)
    assert counts() == (1, 1, 0, 1)
    hub.leave(third.edge)
    assert counts() == (0, 0, 0, 0)
