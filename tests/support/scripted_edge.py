"""A WebSocket server that says what a test wants, for faults that the real edge does not have."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tests.support.waiting import eventually


class ScriptedEdge:
    """`received` has the clients' messages. `on_subscribe` says what follows the reply to a subscription.

    `refusals` are channels that are refused, by code.
    """

    def __init__(self) -> None:
        self.url = ""
        self.received: list[dict[str, Any]] = []
        self.on_subscribe: Callable[[str], list[dict[str, Any]]] = lambda _: []
        self.refusals: dict[str, str] = {}
        self.connections: list[ServerConnection] = []
        self.is_silent = False

    async def send(self, *messages: dict[str, Any]) -> None:
        """Send messages to the newest client."""
        for message in messages:
            await self.connections[-1].send(json.dumps(message))

    def subscriptions(self, channel: str) -> int:
        """How often a channel was subscribed."""
        return sum(message["action"] == "subscribe" and message["channel"] == channel for message in self.received)

    async def wait_for_client(self, number: int = 1) -> None:
        """Wait until so many clients have come."""

        async def came() -> bool:
            return len(self.connections) >= number

        await eventually(came)

    async def handle(self, connection: ServerConnection) -> None:
        """Serve one client."""
        self.connections.append(connection)
        try:
            async for text in connection:
                message = json.loads(text)
                self.received.append(message)
                if not self.is_silent:
                    await self._reply(connection, message)
        except ConnectionClosed:
            return

    async def _reply(self, connection: ServerConnection, message: dict[str, Any]) -> None:
        channel, number = message.get("channel", ""), message.get("id")
        follow: list[dict[str, Any]] = []
        if message["action"] == "ping":
            reply: dict[str, Any] = {"type": "pong", "ts": 1}
        elif channel in self.refusals:
            reply = {"type": "error", "code": self.refusals[channel], "message": "refused", "id": number}
        else:
            reply = {"type": f"{message['action']}d", "channel": channel, "id": number}
            if message["action"] == "subscribe":
                follow = self.on_subscribe(channel)
        for each in (reply, *follow):
            await connection.send(json.dumps(each))


@asynccontextmanager
async def scripted_edge() -> AsyncIterator[ScriptedEdge]:
    """A scripted edge on a free port."""
    edge = ScriptedEdge()
    async with serve(edge.handle, "127.0.0.1", 0, compression=None) as server:
        edge.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        yield edge
        await asyncio.sleep(0)
