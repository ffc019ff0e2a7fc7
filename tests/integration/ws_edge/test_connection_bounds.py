"""Who gets a connection when many want one: an attacker and an ordinary client side by side."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import jwt
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request

from openspot.kit.rate_limit import NANOSECONDS_PER_S
from openspot.kit.settings import Settings
from openspot.ws_edge import service
from openspot.ws_edge.connection import TOO_MANY_MESSAGES
from openspot.ws_edge.handshake_gate import FLOOD_COST, Arrivals
from openspot.ws_edge.metrics import CONNECTIONS, REFUSED
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import get, nothing_but_a_pong, open_as, open_client, running_edge


@pytest.fixture
async def small(settings: Settings) -> AsyncIterator[Settings]:
    """An edge with eight connections, half of them for clients with a token, five for one address."""
    bounds = {"ws_connections_max": 8, "ws_connections_per_address": 5, "ws_anonymous_share": 0.5}
    async with running_edge(settings.model_copy(update=bounds | {"trusted_proxies": "127.0.0.1"})) as edge:
        yield edge


def from_address(edge: Settings, address: str, query: str = "") -> Any:
    return open_client(edge, query, additional_headers={"X-Forwarded-For": address})


def user_token(edge: Settings, **claims: Any) -> str:
    payload = {"sub": "u1", "role": "user", "exp": int(time.time()) + 600} | claims
    return jwt.encode(payload, edge.jwt_secret, "HS256")


async def refusal(connection: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(InvalidStatus) as caught:
        await connection
    return caught.value.response.status_code, json.loads(caught.value.response.body)


async def test_clients_without_a_token_cannot_take_every_connection(small: Settings) -> None:
    async with AsyncExitStack() as stack:
        for number in range(4):
            await stack.enter_async_context(from_address(small, f"203.0.113.{number}"))
        status, body = await refusal(from_address(small, "203.0.113.9"))
        assert (status, body["code"]) == (503, "TOO_MANY_CONNECTIONS")
        assert body["message"] == "all connections without a token are taken"
        async with from_address(small, "203.0.113.9", f"?token={user_token(small)}") as owner:
            await nothing_but_a_pong(owner)

    # What was given back can be taken again, once the edge has seen the end of its connection.
    async def admitted() -> bool:
        try:
            async with from_address(small, "203.0.113.9") as client:
                await nothing_but_a_pong(client)
        except InvalidStatus:
            return False
        return True

    await eventually(admitted)


async def test_one_address_cannot_take_every_connection(small: Settings) -> None:
    query = f"?token={user_token(small)}"
    async with AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(from_address(small, "203.0.113.9", query))
        status, body = await refusal(from_address(small, "203.0.113.9", query))
        assert (status, body["code"]) == (503, "TOO_MANY_CONNECTIONS")
        async with from_address(small, "198.51.100.7", query) as other:
            await nothing_but_a_pong(other)


async def test_an_address_that_a_client_makes_up_is_not_believed(settings: Settings) -> None:
    bounds = {"ws_connections_per_address": 2}
    async with running_edge(settings.model_copy(update=bounds)) as edge, AsyncExitStack() as stack:
        for number in range(2):
            await stack.enter_async_context(from_address(edge, f"203.0.113.{number}"))
        assert (await refusal(from_address(edge, "203.0.113.9")))[0] == 503


@pytest.mark.parametrize("expires_at", [10**400, 10**18, 2**63, -1, 1e308, True])
async def test_a_signed_token_with_an_absurd_expiry_is_refused_and_leaves_nothing(
    edge: Settings, expires_at: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    before = CONNECTIONS._value.get()
    for claims in ({"exp": expires_at}, {"nbf": expires_at}):
        status, body = await refusal(open_client(edge, f"?token={user_token(edge, **claims)}"))
        assert (status, body["code"]) == (401, "INVALID_TOKEN"), claims
    assert CONNECTIONS._value.get() == before
    assert "Traceback" not in capsys.readouterr().err


async def test_the_longest_life_that_a_token_can_have_is_served(edge: Settings) -> None:
    async with open_client(edge, f"?token={user_token(edge, exp=253_402_300_799)}") as client:
        await nothing_but_a_pong(client)


async def test_a_connection_whose_session_breaks_is_not_counted_any_more(
    edge: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise OverflowError("int too large")

    before = CONNECTIONS._value.get()
    monkeypatch.setattr(service.EdgeConnection, "watch_deadlines", broken)
    async with open_client(edge) as client:
        await client.wait_closed()
    await eventually(lambda: CONNECTIONS._value.get() == before)


OTHER_HOST = "127.0.0.2"


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The peer's address of each request that the edge has read, in their order."""
    read: list[str] = []
    process_request = service.Handshakes.process_request

    async def noting(handshakes: service.Handshakes, connection: ServerConnection, request: Request) -> Any:
        read.append(connection.remote_address[0])
        return await process_request(handshakes, connection, request)

    monkeypatch.setattr(service.Handshakes, "process_request", noting)
    return read


async def test_an_address_at_its_limit_is_refused_unread_and_no_other(settings: Settings, peers: list[str]) -> None:
    bounds = {"ws_connections_per_address": 2}
    async with running_edge(settings.model_copy(update=bounds)) as edge, AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(open_client(edge))
        peers.clear()
        with pytest.raises(InvalidStatus) as caught:
            await open_client(edge)
        response = caught.value.response
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
        assert json.loads(response.body)["message"] == service.AT_LIMIT
        assert peers == []
        async with open_client(edge, local_addr=(OTHER_HOST, 0)) as other:
            await nothing_but_a_pong(other)
        assert (await get(edge, "/health"))[0] == 200
        assert peers == [OTHER_HOST, edge.host]


async def test_an_address_that_opens_connections_too_fast_is_refused_unread_and_no_other(
    settings: Settings, peers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1]
    monkeypatch.setattr(service, "Arrivals", lambda per_second, _: Arrivals(per_second, lambda: clock[0]))
    before = REFUSED.labels("429")._value.get()
    async with running_edge(settings.model_copy(update={"ws_handshakes_per_address": 3})) as edge:
        peers.clear()
        # Time passes only below, so a slow machine changes nothing.
        for _ in range(3):
            async with open_client(edge) as client:
                await nothing_but_a_pong(client)
        with pytest.raises(InvalidStatus) as caught:
            await open_client(edge)
        response = caught.value.response
        assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
        assert json.loads(response.body)["code"] == "TOO_MANY_REQUESTS"
        assert REFUSED.labels("429")._value.get() == before + 1
        assert peers == [edge.host] * 3
        async with open_client(edge, local_addr=(OTHER_HOST, 0)) as other:
            await nothing_but_a_pong(other)
        clock[0] += NANOSECONDS_PER_S
        async with open_client(edge) as client:
            await nothing_but_a_pong(client)


async def test_a_flood_of_messages_uses_up_handshakes_of_its_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "Arrivals", lambda per_second, _: Arrivals(per_second, lambda: 1))
    bounds = {"ws_handshakes_per_address": FLOOD_COST + 2, "ws_messages_max": 5, "trusted_proxies": OTHER_HOST}
    async with running_edge(settings.model_copy(update=bounds)) as edge:
        flooding = await from_address_by_proxy(edge, edge.host)
        for _ in range(6):
            await flooding.send('{"action":"ping"}')
        await flooding.wait_closed()
        assert flooding.close_code == TOO_MANY_MESSAGES
        async with open_client(edge) as last:
            await nothing_but_a_pong(last)
        for _ in range(2):
            status, body = await refusal(open_client(edge))
            assert (status, body["code"]) == (429, "TOO_MANY_REQUESTS")
        # The proxy has no limit, each of its clients has.
        assert (await refusal(from_address_by_proxy(edge, edge.host)))[0] == 429
        async with from_address_by_proxy(edge, "203.0.113.9") as other:
            await nothing_but_a_pong(other)


@pytest.mark.parametrize(
    "broken", [b"\xff" * 64, b"\x81\xff" + (1 << 62).to_bytes(8) + bytes(4)], ids=["garbage", "huge"]
)
async def test_a_broken_frame_uses_up_handshakes_of_its_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, broken: bytes
) -> None:
    monkeypatch.setattr(service, "Arrivals", lambda per_second, _: Arrivals(per_second, lambda: 1))
    async with running_edge(settings.model_copy(update={"ws_handshakes_per_address": FLOOD_COST + 2})) as edge:
        client = await open_client(edge)
        client.transport.write(broken)
        await client.wait_closed()
        assert client.close_code in (1002, 1009)
        async with open_client(edge) as last:
            await nothing_but_a_pong(last)
        assert (await refusal(open_client(edge)))[0] == 429


def from_address_by_proxy(edge: Settings, address: str) -> Any:
    return open_client(edge, local_addr=(OTHER_HOST, 0), additional_headers={"X-Forwarded-For": address})


HEAD = b"GET / HTTP/1.1\r\nHost: edge\r\n"


async def answer_to(edge: Settings, head: bytes) -> bytes:
    """What the edge answers to a raw head, up to the end of the connection."""
    reader, writer = await asyncio.open_connection(edge.host, edge.ws_port)
    writer.write(head)
    received = b""
    try:
        while chunk := await asyncio.wait_for(reader.read(65_536), stretched(20)):
            received += chunk
    except ConnectionError:
        pass
    writer.close()
    return received


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-Long: " + b"x" * 66_000,
        HEAD + b"".join(b"X-%d: " % number + b"x" * 7000 + b"\r\n" for number in range(10)) + b"\r\n",
        HEAD + b"A: b\r\n" * 101 + b"\r\n",
    ],
    ids=["one header", "many long headers", "many headers"],
)
async def test_a_head_beyond_a_bound_is_refused(edge: Settings, head: bytes) -> None:
    assert (await answer_to(edge, head)).startswith(b"HTTP/1.1 431 ")


async def test_half_open_handshakes_keep_nobody_out_and_are_closed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "HEAD_S_MAX", 1.0)
    bounds = {"ws_connections_max": 40, "ws_connections_per_address": 20, "ws_handshakes_per_address": 1000}
    async with running_edge(settings.model_copy(update=bounds)) as edge:
        ordinary: ClientConnection = await open_as(edge, "u1")
        holders = []
        for _ in range(300):
            reader, writer = await asyncio.open_connection(edge.host, edge.ws_port)
            writer.write(HEAD)
            holders.append((reader, writer))
        async with open_client(edge) as another:
            await nothing_but_a_pong(another)
        await nothing_but_a_pong(ordinary)
        for reader, writer in holders:

            async def ended(reader: asyncio.StreamReader = reader) -> None:
                try:
                    while await reader.read(65_536):
                        pass
                except ConnectionError:
                    pass

            await asyncio.wait_for(ended(), stretched(20))
            writer.close()
        # A client that only listens is not a slow handshake.
        await nothing_but_a_pong(ordinary)
        await ordinary.close()

        async def all_gone() -> bool:
            return (await get(edge, "/ready"))[0] == 200

        await eventually(all_gone)
