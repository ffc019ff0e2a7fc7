"""The client's stream against an edge that misbehaves on request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from openspot.client import (
    ChannelFault,
    Notice,
    OpenSpotClient,
    Push,
    Reconnected,
    ReconnectPolicy,
    StreamClosedError,
    StreamError,
    UnreachableError,
)
from openspot.client import stream as stream_module
from tests.support.scripted_edge import ScriptedEdge, scripted_edge
from tests.support.waiting import eventually

QUICK = ReconnectPolicy(attempts_max=3, pause_s=0.001, pause_s_max=0.01)


@pytest.fixture
async def edge() -> AsyncIterator[ScriptedEdge]:
    async with scripted_edge() as running:
        yield running


@pytest.fixture
async def client(edge: ScriptedEdge) -> AsyncIterator[OpenSpotClient]:
    async with OpenSpotClient("http://127.0.0.1:9", edge.url) as made:
        yield made


def ticker(seq: int, symbol: str = "BTC-USD") -> dict[str, Any]:
    return {"channel": f"ticker:{symbol}", "type": "update", "seq": seq, "ts": seq, "data": {}}


async def test_a_notice_is_no_reply_and_a_missing_market_leaves_the_others_alone(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    notice = {"type": "notice", "code": "SERVICE_STOPS", "message": "soon", "closesInMs": 2000}
    missing = {"type": "error", "code": "UNKNOWN_MARKET", "message": "no market", "channel": "orderbook:NO-USD"}
    edge.on_subscribe = lambda channel: [notice, missing] if channel == "orderbook:NO-USD" else [ticker(1)]
    async with client.stream("orderbook:NO-USD", "ticker:BTC-USD") as stream:
        assert [await anext(stream) for _ in range(3)] == [
            Notice("SERVICE_STOPS", "soon", 2000),
            ChannelFault("orderbook:NO-USD", "UNKNOWN_MARKET", "no market"),
            Push("ticker:BTC-USD", "update", 1, 1, {}),
        ]
        assert stream.is_connected


async def test_a_refused_subscription_raises_and_the_stream_goes_on(edge: ScriptedEdge, client: OpenSpotClient) -> None:
    edge.refusals["ticker:nothing"] = "UNKNOWN_CHANNEL"
    async with client.stream("ticker:BTC-USD", reconnect=QUICK) as stream:
        with pytest.raises(StreamError, match="UNKNOWN_CHANNEL"):
            await stream.subscribe("ticker:nothing")
        await edge.send(ticker(5))
        assert isinstance(await anext(stream), Push)
        await edge.connections[-1].close(1012, "restart")
        assert await anext(stream) == Reconnected(1012, "restart")
        assert edge.subscriptions("ticker:nothing") == 1


async def test_what_is_refused_when_the_stream_comes_back_is_named(edge: ScriptedEdge, client: OpenSpotClient) -> None:
    async with client.stream("ticker:BTC-USD", "ticker:ETH-USD", reconnect=QUICK) as stream:
        edge.refusals["ticker:ETH-USD"] = "TOO_MANY_CHANNELS"
        edge.on_subscribe = lambda _: [ticker(7)]
        await edge.connections[-1].close(1013, "again")
        assert [await anext(stream) for _ in range(3)] == [
            Reconnected(1013, "again"),
            ChannelFault("ticker:ETH-USD", "TOO_MANY_CHANNELS", "refused"),
            Push("ticker:BTC-USD", "update", 7, 7, {}),
        ]


async def test_a_channel_that_is_added_while_the_stream_is_away_comes_with_the_next_connection(
    edge: ScriptedEdge, client: OpenSpotClient
) -> None:
    async with client.stream(reconnect=ReconnectPolicy(pause_s=0.5)) as stream:
        edge.connections[-1].transport.abort()

        async def away() -> bool:
            return not stream.is_connected

        await eventually(away)
        await stream.subscribe("ticker:BTC-USD")
        assert isinstance(await anext(stream), Reconnected)
        assert edge.subscriptions("ticker:BTC-USD") == 1


async def test_attempts_to_come_back_are_limited(edge: ScriptedEdge, client: OpenSpotClient) -> None:
    async with client.stream("ticker:BTC-USD", reconnect=QUICK) as stream:
        # No connection lives long enough to count as a success.
        for _ in range(QUICK.attempts_max):
            await edge.connections[-1].close(1013, "no")
            assert isinstance(await anext(stream), Reconnected)
        await edge.connections[-1].close(1013, "no")
        with pytest.raises(StreamClosedError, match="1013 no"):
            await anext(stream)
        with pytest.raises(StreamClosedError, match="1013 no"):
            await anext(stream)
        with pytest.raises(StreamClosedError):
            await stream.subscribe("ticker:ETH-USD")


async def test_an_edge_that_does_not_reply_is_unreachable(
    edge: ScriptedEdge, client: OpenSpotClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "REPLY_TIMEOUT_S", 0.05)
    edge.is_silent = True
    with pytest.raises(UnreachableError):
        await client.stream("ticker:BTC-USD").__aenter__()
    async with client.stream() as stream:
        with pytest.raises(UnreachableError):
            await stream.subscribe("ticker:BTC-USD")


async def test_a_slow_reader_loses_nothing_and_is_not_read_ahead_of(
    edge: ScriptedEdge, client: OpenSpotClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "EVENTS_MAX", 10)
    async with client.stream("trades:BTC-USD") as stream:
        await edge.send(*(ticker(seq) for seq in range(500)))

        async def is_full() -> bool:
            return len(stream._events) >= 10

        await eventually(is_full)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(stream._events) == 10
        # A reply comes behind the events, so they may exceed the bound while it is awaited.
        await stream.subscribe("trades:ETH-USD")
        seen = [await anext(stream) for _ in range(500)]
        assert [push.seq for push in seen if isinstance(push, Push)] == list(range(500))


async def test_what_is_no_message_ends_the_stream_with_an_error(edge: ScriptedEdge, client: OpenSpotClient) -> None:
    async with client.stream() as stream:
        await edge.wait_for_client()
        await edge.connections[-1].send("{")
        with pytest.raises(StreamError, match="UNREADABLE"):
            await anext(stream)
        assert not stream.is_connected
