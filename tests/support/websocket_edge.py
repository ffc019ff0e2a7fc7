"""The WebSocket edge as a task of the test, on the test's own bus."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import nats
import pytest
from nats.aio.client import Client
from websockets.asyncio.client import ClientConnection, connect

from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from openspot.ws_edge.service import run
from tests.support.waiting import eventually, stretched


async def get(settings: Settings, path: str) -> tuple[int, str, bytes]:
    """(status, content type, body) of a plain request to the edge."""
    address = f"http://{settings.host}:{settings.ws_port}{path}"
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        return response.status, response.content_type, await response.read()


@asynccontextmanager
async def running_edge(settings: Settings, stop: asyncio.Event | None = None) -> AsyncIterator[Settings]:
    """A running edge that is connected to the bus. It stops in the end, or when `stop` is set before."""
    stop = stop or asyncio.Event()
    task = asyncio.create_task(run(settings, stop))

    async def ready() -> bool:
        assert not task.done(), task.result()
        try:
            return (await get(settings, "/ready"))[0] == 200
        except aiohttp.ClientConnectorError:
            return False

    try:
        await eventually(ready)
        yield settings
    finally:
        stop.set()
        await asyncio.wait_for(task, stretched(30))


@pytest.fixture
async def edge(settings: Settings) -> AsyncIterator[Settings]:
    """A running edge with default bounds."""
    async with running_edge(settings):
        yield settings


def token(settings: Settings, user_id: str, life_s: int = 900, session_id: str = "") -> str:
    """An access token of a user."""
    now = int(time.time())
    return sign(Claims(user_id, "user", now + life_s, session_id=session_id), settings.jwt_secret, now)


def open_client(settings: Settings, query: str = "", **options: Any) -> connect:
    """A client's connection, made by awaiting it."""
    return connect(f"{settings.ws_url}/{query}", compression=None, **options)


def open_as(settings: Settings, user_id: str, life_s: int = 900, session_id: str = "", **options: Any) -> connect:
    """A connection with a token of `user_id`."""
    return open_client(settings, f"?token={token(settings, user_id, life_s, session_id)}", **options)


async def ask(client: ClientConnection, **message: Any) -> dict[str, Any]:
    """Send a message and take the next one that comes."""
    await client.send(json.dumps(message))
    return await receive(client)


async def receive(client: ClientConnection) -> dict[str, Any]:
    """The next message."""
    message: dict[str, Any] = json.loads(await asyncio.wait_for(client.recv(), stretched(30)))
    return message


async def nothing_but_a_pong(client: ClientConnection) -> None:
    """Fail if anything was sent to this client before its ping is answered."""
    assert (await ask(client, action="ping"))["type"] == "pong"


Publish = Callable[[str, Any], Awaitable[None]]


@pytest.fixture
async def raw_bus(nats_url: str) -> AsyncIterator[Client]:
    """A plain connection to the test's bus."""
    client = await nats.connect(nats_url, allow_reconnect=False)
    yield client
    if not client.is_closed:
        await client.close()


@pytest.fixture
def publish(raw_bus: Client) -> Publish:
    """Publishes a payload, an object or bytes as they are, and waits until the server has it."""

    async def send(subject: str, payload: Any) -> None:
        await raw_bus.publish(subject, payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        await raw_bus.flush()

    return send


def order_event(user_id: str, order_id: str = "order1", sequence: int = 7) -> dict[str, Any]:
    """An order event as the router publishes it, reduced to what an edge could look at."""
    order = {"orderId": order_id, "userId": user_id, "symbol": "BTC-USD", "status": "open"}
    return {"event": "ignored", "sequence": sequence, "timestamp": 1_700_000_000_000, "order": order, "reason": None}
