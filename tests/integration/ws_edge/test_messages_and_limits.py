"""Client messages, their answers, and the bounds of a connection."""

import asyncio
import json
import math
import time

import pytest
from nats.aio.client import Client
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from openspot.contracts import subjects
from openspot.kit.bus import Bus, subscriptions
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.ws_edge.metrics import CLOSED_BY_EDGE
from openspot.ws_edge.settings import WsEdgeSettings
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import (
    Publish,
    ask,
    nothing_but_a_pong,
    open_as,
    open_client,
    order_event,
    receive,
    running_edge,
    token,
)


async def close_of(client: ClientConnection, timeout_s: float = 30) -> tuple[int, str]:
    """(code, reason) of the close that the edge sends, after whatever comes before it."""
    with pytest.raises(ConnectionClosed) as end:
        async with asyncio.timeout(stretched(timeout_s)):
            while True:
                await client.recv()
    assert end.value.rcvd is not None, "the connection was cut without a close"
    return end.value.rcvd.code, end.value.rcvd.reason


@pytest.mark.spec("B4.2-01", "B4.2-04", "B4.2-07", "B4.2-08", "B4.2-09")
async def test_every_message_has_its_answer_with_the_id_that_it_came_with(edge: Settings) -> None:
    async with open_client(edge) as client:
        channel = "orderbook:BTC-USD"
        assert await ask(client, action="subscribe", channel=channel) == {"type": "subscribed", "channel": channel}
        assert await ask(client, action="subscribe", channel=channel, id=5) == {
            "type": "subscribed",
            "channel": channel,
            "id": 5,
        }
        assert await ask(client, action="unsubscribe", channel=channel, id="a") == {
            "type": "unsubscribed",
            "channel": channel,
            "id": "a",
        }
        pong = await ask(client, action="ping", id=0)
        assert abs(pong.pop("ts") - time.time() * 1000) < 5000
        assert pong == {"type": "pong", "id": 0}


@pytest.mark.spec("B4.2-05", "B4.2-06")
async def test_what_is_refused_is_answered_and_the_connection_stays_open(edge: Settings) -> None:
    async with open_as(edge, "u1") as client:
        for channel in ("candles:BTC-USD", "ticker:btc", "orders", "balances"):
            refusal = await ask(client, action="subscribe", channel=channel, id=1)
            assert (refusal["type"], refusal["code"], refusal["id"]) == ("error", "UNKNOWN_CHANNEL", 1)
            assert refusal["message"]
        for data in ("{", "[]", b"\x00\x01", '{"action":"buy"}', '{"action":"subscribe"}'):
            await client.send(data)
            assert (await receive(client))["type"] == "error"
        await nothing_but_a_pong(client)


async def test_a_connection_has_a_bounded_number_of_channels(settings: Settings) -> None:
    bound = 20
    async with (
        running_edge(settings.model_copy(update={"ws_channels_max": bound})) as edge,
        open_client(edge) as client,
    ):
        for number in range(bound):
            await client.send(json.dumps({"action": "subscribe", "channel": f"ticker:A{number}-USD"}))
        for _ in range(bound):
            assert (await receive(client))["type"] == "subscribed"
        refusal = await ask(client, action="subscribe", channel="ticker:BTC-USD")
        assert (refusal["code"], refusal["message"]) == ("TOO_MANY_CHANNELS", "a connection has at most 20 channels")
        assert (await ask(client, action="subscribe", channel="ticker:A1-USD"))["type"] == "subscribed"
        assert (await ask(client, action="unsubscribe", channel="ticker:A1-USD"))["type"] == "unsubscribed"
        assert (await ask(client, action="subscribe", channel="ticker:BTC-USD"))["type"] == "subscribed"


def test_a_connection_has_at_most_256_channels_by_default() -> None:
    assert WsEdgeSettings.model_fields["ws_channels_max"].default == 256


@pytest.mark.spec("A8-08")
async def test_sixteen_kibibytes_are_accepted_and_one_byte_more_closes_with_1009(edge: Settings) -> None:
    text = json.dumps({"action": "ping", "padding": ""})
    largest = text.replace('""', '"' + "x" * (16_384 - len(text)) + '"')
    assert len(largest) == 16_384
    async with open_client(edge) as client:
        await client.send(largest)
        assert (await receive(client))["type"] == "pong"
        await client.send(largest + " ")
        assert (await close_of(client))[0] == 1009


async def test_the_largest_message_is_that_of_the_setting(settings: Settings, publish: Publish) -> None:
    async with (
        running_edge(settings.model_copy(update={"ws_message_bytes_max": 128})) as edge,
        open_client(edge) as client,
    ):
        text = json.dumps({"action": "ping"}).ljust(128)
        await client.send(text)
        assert (await receive(client))["type"] == "pong"
        await client.send(text + " ")
        assert (await close_of(client))[0] == 1009


@pytest.mark.spec("A8-08")
async def test_a_message_in_fragments_is_measured_as_a_whole(edge: Settings) -> None:
    async with open_client(edge) as client:
        await client.send(["x" * 8_192, "x" * 8_192, "x"])
        assert (await close_of(client))[0] == 1009


@pytest.mark.spec("A8-07")
def test_the_idle_time_is_120_seconds_by_default() -> None:
    assert WsEdgeSettings.model_fields["ws_idle_s"].default == 120


@pytest.mark.spec("A8-07")
async def test_an_idle_connection_is_closed_and_one_that_speaks_is_not(settings: Settings, publish: Publish) -> None:
    # Long enough that who speaks ten times in it is not late on a slow machine.
    idle_s = round(stretched(0.6), 1)
    async with (
        running_edge(settings.model_copy(update={"ws_idle_s": idle_s})) as edge,
        open_client(edge, ping_interval=0.1) as idle,
        open_client(edge) as speaking,
    ):
        start = time.monotonic()
        assert (await ask(idle, action="subscribe", channel="ticker:BTC-USD"))["type"] == "subscribed"

        async def speak() -> None:
            while idle.close_code is None:
                await nothing_but_a_pong(speaking)
                await publish("marketdata.ticker.BTC-USD", {"symbol": "BTC-USD", "seq": 1})
                await asyncio.sleep(0.05)

        speech = asyncio.create_task(speak())
        # Neither what it is sent nor its protocol pings keep the idle one.
        assert await close_of(idle) == (4408, f"no message for {idle_s:g} s")
        assert time.monotonic() - start >= idle_s
        await speech
        await nothing_but_a_pong(speaking)


def life_of(seconds: float) -> int:
    """The life of a token during which a test does what takes no `seconds` on a quiet machine."""
    return math.ceil(stretched(seconds))


async def test_a_connection_ends_when_its_token_expires(edge: Settings) -> None:
    async with open_as(edge, "u1", life_s=life_of(2)) as client:
        await nothing_but_a_pong(client)
        assert await close_of(client) == (4401, "the access token has expired")


async def test_a_newer_token_renews_a_connection_without_a_break(edge: Settings, publish: Publish) -> None:
    life_s = life_of(3)
    async with open_as(edge, "u1", life_s=life_s) as client, open_as(edge, "u2", life_s=life_s) as not_renewed:
        await ask(client, action="subscribe", channel="ticker:BTC-USD")
        renewed = token(edge, "u1", life_s=600)
        reply = await ask(client, action="authenticate", token=renewed, id=1)
        assert abs(reply.pop("expiresAt") - time.time() - 600) < 60
        assert reply == {"type": "authenticated", "userId": "u1", "id": 1}
        # Its token is the younger one, so the first token has expired as well.
        assert await close_of(not_renewed) == (4401, "the access token has expired")
        await publish("marketdata.ticker.BTC-USD", {"symbol": "BTC-USD", "seq": 1})
        assert (await receive(client))["seq"] == 1
        await publish("orders.created.u1", order_event("u1"))
        assert (await receive(client))["event"] == "order.created"
        # A shorter one counts as well.
        await ask(client, action="authenticate", token=token(edge, "u1", life_s=life_of(1)))
        assert await close_of(client) == (4401, "the access token has expired")


async def test_a_token_makes_an_anonymous_connection_its_users_and_ends_it(edge: Settings, publish: Publish) -> None:
    async with open_client(edge) as client:
        reply = await ask(client, action="authenticate", token=token(edge, "u1", life_s=life_of(2)))
        assert (reply["type"], reply["userId"]) == ("authenticated", "u1")
        await publish("orders.created.u1", order_event("u1"))
        assert (await receive(client))["event"] == "order.created"
        assert await close_of(client) == (4401, "the access token has expired")


async def test_a_token_that_does_not_fit_changes_nothing(edge: Settings, bus: Bus, publish: Publish) -> None:
    bucket = bus.key_value(subjects.SESSIONS_REVOKED_BUCKET, bytes, 960)
    await bucket.put("ended", b"")
    async with open_as(edge, "u1") as client:
        for given, code in (
            (token(edge, "u2"), "ALREADY_AUTHENTICATED"),
            (token(edge, "u1", life_s=-1), "INVALID_TOKEN"),
            (token(edge, "u1", session_id="ended"), "INVALID_TOKEN"),
            ("nonsense", "INVALID_TOKEN"),
            (7, "INVALID_TOKEN"),
            ("x" * 5000, "INVALID_TOKEN"),
        ):
            refusal = await ask(client, action="authenticate", token=given, id=3)
            assert (refusal["type"], refusal["code"], refusal["id"]) == ("error", code, 3), given
        await publish("orders.created.u2", order_event("u2"))
        await publish("orders.created.u1", order_event("u1", "mine"))
        assert (await receive(client))["data"]["orderId"] == "mine"
        for _ in range(2):
            await ask(client, action="authenticate", token="nonsense")
        assert await close_of(client) == (1008, "too many wrong credentials")


async def test_a_renewed_connection_ends_with_its_new_session(edge: Settings, bus: Bus) -> None:
    bucket = bus.key_value(subjects.SESSIONS_REVOKED_BUCKET, bytes, 960)
    async with open_as(edge, "u1", session_id="old") as client:
        await ask(client, action="authenticate", token=token(edge, "u1", session_id="new"))
        await bucket.put("old", b"")
        await nothing_but_a_pong(client)
        await bucket.put("new", b"")
        assert await close_of(client) == (4401, "the session has ended")


async def test_the_edge_pings_its_clients(settings: Settings) -> None:
    async with running_edge(settings.model_copy(update={"ws_ping_s": 0.1})) as edge:
        reader, writer = await raw_client(edge)
        # A ping without a payload: FIN and opcode 9, no mask.
        assert await asyncio.wait_for(reader.readexactly(2), stretched(30)) == b"\x89\x00"
        writer.close()


async def test_a_half_open_client_is_closed_long_before_the_idle_time(settings: Settings) -> None:
    ping_s = round(stretched(0.2), 1)
    async with (
        running_edge(settings.model_copy(update={"ws_ping_s": ping_s})) as edge,
        open_client(edge, ping_interval=None) as answering,
    ):
        reader, writer = await raw_client(edge)
        received = await asyncio.wait_for(reader.read(), stretched(30))
        # The close is the last frame, and then the socket is cut.
        assert received.endswith((4408).to_bytes(2, "big") + f"no pong for {3 * ping_s:g} s".encode())
        writer.close()
        await nothing_but_a_pong(answering)


def test_the_edge_pings_every_20_seconds_by_default() -> None:
    assert WsEdgeSettings.model_fields["ws_ping_s"].default == 20


async def raw_client(edge: Settings) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client after its handshake that replies to nothing."""
    reader, writer = await asyncio.open_connection(edge.host, edge.ws_port)
    writer.write(
        b"GET / HTTP/1.1\r\nHost: edge\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), stretched(30))
    assert b" 101 " in head
    return reader, writer


async def test_a_client_that_floods_is_closed_with_1008(settings: Settings) -> None:
    async with (
        running_edge(settings.model_copy(update={"ws_messages_max": 20})) as edge,
        open_client(edge) as flooding,
        open_client(edge) as other,
    ):
        for _ in range(20):
            await nothing_but_a_pong(flooding)
        await flooding.send('{"action":"ping"}')
        assert (await close_of(flooding))[0] == 1008
        await nothing_but_a_pong(other)


@pytest.mark.spec("A6.3-17")
async def test_a_client_that_does_not_read_is_closed_without_a_gap_and_others_go_on(
    settings: Settings, publish: Publish
) -> None:
    def slow_closes() -> float:
        return CLOSED_BY_EDGE.labels("1013")._value.get()

    before = slow_closes()
    async with (
        running_edge(settings.model_copy(update={"ws_queue_max": 8})) as edge,
        open_client(edge, max_queue=1, max_size=None) as slow,
        open_client(edge, max_size=None) as quick,
    ):
        for client in (slow, quick):
            assert (await ask(client, action="subscribe", channel="trades:BTC-USD"))["type"] == "subscribed"
        padding = "x" * 200_000
        sent = 0
        while slow_closes() == before:
            sent += 1
            assert sent < 500, "a client that reads nothing is still open"
            await publish("marketdata.trade.BTC-USD", {"symbol": "BTC-USD", "seq": sent, "padding": padding})
            assert (await receive(quick))["seq"] == sent
        received = []
        with pytest.raises(ConnectionClosed) as end:
            while True:
                received.append((await receive(slow))["seq"])
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == 1013
        assert 0 < len(received) < sent
        assert received == list(range(1, len(received) + 1))
        await nothing_but_a_pong(quick)


@pytest.mark.spec("A6.3-17")
async def test_clients_are_closed_when_the_edge_loses_its_place_on_the_bus(
    edge: Settings, nats_server: EmbeddedNats
) -> None:
    async with open_as(edge, "u1") as client:
        nats_server.kill()
        code, reason = await close_of(client)
        assert (code, reason) == (1013, "the connection to the bus was lost")
    nats_server.start()

    async def admitted() -> bool:
        try:
            await (await open_as(edge, "u1")).close()
        except Exception:
            return False
        return True

    await eventually(admitted)


@pytest.mark.spec("A6.3-17")
async def test_clients_are_closed_when_the_edge_falls_behind_the_bus(
    settings: Settings, raw_bus: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "PENDING_MESSAGES_MAX", 5)
    async with running_edge(settings) as edge, open_client(edge) as client, open_as(edge, "u1") as other:
        assert (await ask(client, action="subscribe", channel="trades:BTC-USD"))["type"] == "subscribed"
        for seq in range(1, 501):
            await raw_bus.publish("marketdata.trade.BTC-USD", json.dumps({"symbol": "BTC-USD", "seq": seq}).encode())
        await raw_bus.flush()
        received = []
        with pytest.raises(ConnectionClosed) as end:
            while True:
                received.append((await receive(client))["seq"])
        assert end.value.rcvd is not None
        assert (end.value.rcvd.code, end.value.rcvd.reason) == (1013, "this process fell behind the bus")
        assert received == list(range(1, len(received) + 1))
        assert (await close_of(other))[0] == 1013
