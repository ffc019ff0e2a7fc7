"""The client's stream against a real WebSocket edge and bus."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import nats
import pytest

from openspot.client import (
    ApiError,
    OpenSpotClient,
    Push,
    Reconnected,
    Session,
    Stream,
    StreamClosedError,
    StreamError,
    UnreachableError,
)
from openspot.client.transport import RetryPolicy
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.fake_rest_edge import FakeRestEdge, running_fake
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import Publish, order_event, token

LIFE_S = 4
"""How long the tokens live that a test lets expire."""


@pytest.fixture
async def fake() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as rest_edge:
        yield rest_edge


def client_of(settings: Settings, rest_url: str = "http://127.0.0.1:9") -> OpenSpotClient:
    return OpenSpotClient(rest_url, settings.ws_url, retry=RetryPolicy(attempts_max=1))


def session_of(settings: Settings, life_s: int = 900) -> Session:
    return Session(token(settings, "u1", life_s), "refresh1", life_s, "u1")


async def next_of(events: AsyncIterator[Push | Reconnected], timeout_s: float = 30) -> Push | Reconnected:
    return await asyncio.wait_for(anext(events), stretched(timeout_s))


async def test_market_events_come_as_they_are_published(edge: Settings, publish: Publish) -> None:
    async with client_of(edge) as client, client.stream("ticker:BTC-USD", "trades:BTC-USD") as stream:
        events = aiter(stream)
        await publish("marketdata.ticker.BTC-USD", {"symbol": "BTC-USD", "seq": 1, "timestamp": 5, "lastPrice": "1.5"})
        assert await next_of(events) == Push(
            "ticker:BTC-USD", "update", 1, 5, {"symbol": "BTC-USD", "seq": 1, "timestamp": 5, "lastPrice": "1.5"}
        )
        await publish("marketdata.trade.BTC-USD", {"symbol": "BTC-USD", "seq": 2, "timestamp": 6})
        trade = await next_of(events)
        assert isinstance(trade, Push)
        assert trade.channel == "trades:BTC-USD"


async def test_a_channel_can_be_added_and_taken_away(edge: Settings, publish: Publish) -> None:
    async with client_of(edge) as client, client.stream() as stream:
        await stream.subscribe("ticker:ETH-USD")
        await stream.subscribe("ticker:BTC-USD")
        await stream.unsubscribe("ticker:ETH-USD")
        events = aiter(stream)

        async def publish_until_heard() -> None:
            number = 0
            while True:
                number += 1
                for symbol in ("ETH-USD", "BTC-USD"):
                    await publish(f"marketdata.ticker.{symbol}", {"symbol": symbol, "seq": number})
                # At a pace that no client falls behind: one that does is closed, which is another test.
                await asyncio.sleep(0.02)

        publishing = asyncio.create_task(publish_until_heard())
        heard = [await next_of(events) for _ in range(5)]
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        assert {push.channel for push in heard if isinstance(push, Push)} == {"ticker:BTC-USD"}


async def test_a_users_own_events_come_without_a_channel(edge: Settings, publish: Publish) -> None:
    async with client_of(edge) as client:
        client.resume(session_of(edge))
        async with client.stream() as stream:
            await publish("orders.filled.u1", order_event("u1"))
            event = await next_of(aiter(stream))
            assert isinstance(event, Push)
            assert (event.channel, event.event, event.data["orderId"]) == ("orders", "order.filled", "order1")


async def test_an_unknown_channel_is_an_error_at_once(edge: Settings) -> None:
    async with client_of(edge) as client:
        with pytest.raises(StreamError, match="UNKNOWN_CHANNEL"):
            await client.stream("candles:BTC-USD").__aenter__()


async def test_a_stream_that_is_not_open_says_so(edge: Settings) -> None:
    async with client_of(edge) as client:
        with pytest.raises(StreamClosedError, match="not open"):
            await anext(aiter(client.stream("ticker:BTC-USD")))
        with pytest.raises(StreamClosedError, match="not open"):
            await client.stream().subscribe("ticker:BTC-USD")


async def test_nobody_at_the_address_is_unreachable(settings: Settings) -> None:
    async with OpenSpotClient(ws_url=f"ws://127.0.0.1:{free_port()}") as client:
        with pytest.raises(UnreachableError):
            await client.stream("ticker:BTC-USD").__aenter__()


async def test_a_closed_stream_is_an_error_with_code_and_reason(
    edge: Settings,
    nats_server: EmbeddedNats,
) -> None:
    async with client_of(edge) as client, client.stream("ticker:BTC-USD") as stream:
        nats_server.kill()
        with pytest.raises(StreamClosedError) as end:
            await next_of(aiter(stream))
        assert (end.value.code, end.value.reason) == (1013, "the connection to the bus was lost")


async def test_a_stream_that_its_user_closes_ends_without_an_error(edge: Settings) -> None:
    async with client_of(edge) as client:
        stream = await client.stream("ticker:BTC-USD").__aenter__()

        async def read(source: Stream) -> list[Push | Reconnected]:
            return [event async for event in source]

        reading = asyncio.create_task(read(stream))
        await asyncio.sleep(0)
        await stream.close()
        assert await asyncio.wait_for(reading, stretched(30)) == []


async def test_a_stream_comes_back_and_tells_that_it_was_away(
    edge: Settings,
    nats_server: EmbeddedNats,
    nats_url: str,
) -> None:
    async with client_of(edge) as client, client.stream("ticker:BTC-USD", reconnect=True) as stream:
        events = aiter(stream)
        nats_server.kill()
        nats_server.start()
        assert await next_of(events) == Reconnected(1013, "the connection to the bus was lost")
        again = await nats.connect(nats_url)
        await again.publish("marketdata.ticker.BTC-USD", b'{"symbol":"BTC-USD","seq":9}')
        await again.flush()
        push = await next_of(events)
        assert isinstance(push, Push)
        assert push.seq == 9
        await again.close()


def renewed(settings: Settings) -> dict[str, Any]:
    """What the REST edge replies to a refresh token."""
    access = token(settings, "u1")
    return {"accessToken": access, "refreshToken": "r2", "tokenType": "Bearer", "expiresIn": 900, "userId": "u1"}


async def test_a_stream_outlives_its_token(edge: Settings, publish: Publish, fake: FakeRestEdge) -> None:
    fake.answer(200, renewed(edge))
    async with client_of(edge, fake.url) as client:
        client.resume(session_of(edge, life_s=LIFE_S))
        expired_at = time.time() + LIFE_S + 1
        async with client.stream() as stream:
            await eventually(lambda: is_past(expired_at))
            await publish("orders.created.u1", order_event("u1"))
            event = await next_of(aiter(stream))
            assert isinstance(event, Push) and event.event == "order.created"
    assert [asked.body for asked in fake.asked] == [{"refreshToken": "refresh1"}]


async def is_past(moment: float) -> bool:
    return time.time() > moment


async def test_a_stream_whose_token_expired_comes_back_with_a_new_one_and_with_the_users_state(
    edge: Settings,
    publish: Publish,
    fake: FakeRestEdge,
) -> None:
    # The renewal before the token's end fails, so the edge closes the connection.
    fake.refuse(401, "INVALID_REFRESH_TOKEN")
    fake.answer(200, renewed(edge))
    fake.answer(200, [])
    balance = {"asset": "USD", "total": "5", "available": "4", "locked": "1", "reserved": "0", "source": "engine"}
    fake.answer(200, [balance])
    async with client_of(edge, fake.url) as client:
        client.resume(session_of(edge, life_s=LIFE_S))
        async with client.stream(reconnect=True) as stream:
            event = await next_of(aiter(stream), 60)
            assert isinstance(event, Reconnected)
            assert (event.code, event.reason, event.orders) == (4401, "the access token has expired", [])
            assert event.balances is not None and event.balances[0].available == 4
            await publish("orders.created.u1", order_event("u1"))
            pushed = await next_of(aiter(stream))
            assert isinstance(pushed, Push) and pushed.event == "order.created"
    assert [asked.path.rpartition("/")[2] for asked in fake.asked] == ["refresh", "refresh", "orders", "balances"]


async def test_a_session_that_has_ended_is_an_api_error(edge: Settings, fake: FakeRestEdge) -> None:
    fake.refuse(401, "INVALID_REFRESH_TOKEN")
    async with client_of(edge, fake.url) as client:
        client.resume(session_of(edge, life_s=-1))
        with pytest.raises(ApiError) as refusal:
            await client.stream().__aenter__()
        assert refusal.value.status == 401
