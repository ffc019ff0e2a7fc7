"""An order connection for tests: messages as they are, and the replies by their id."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.support.rest_client import PREFIX, RestClient
from tests.support.waiting import stretched

PATH = "/orders/connection"
LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}
REPLY_S_MAX = stretched(20.0)


class TestConnection:
    """One open connection."""

    __test__ = False

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self._number = 0

    async def send(self, action: str, body: Any = None, **fields: Any) -> int:
        """Send a request with an id of its own, which is returned."""
        self._number += 1
        given = {} if body is None else {"body": body}
        await self.socket.send_json({"id": self._number, "action": action} | given | fields)
        return self._number

    async def receive(self) -> dict[str, Any]:
        """The next message."""
        message: dict[str, Any] = await self.socket.receive_json(timeout=REPLY_S_MAX)
        return message

    async def ask(self, action: str, body: Any = None, **fields: Any) -> dict[str, Any]:
        """Send a request and return the next message, which must be its reply."""
        number = await self.send(action, body, **fields)
        reply = await self.receive()
        assert reply["id"] == number, reply
        return reply

    async def close_code(self) -> int:
        """The code with which the edge closes the connection, after whatever it sends before."""
        while (message := await self.socket.receive(timeout=REPLY_S_MAX)).type is aiohttp.WSMsgType.TEXT:
            pass
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR), message
        return self.socket.close_code or 0


@asynccontextmanager
async def order_connection(
    edge: RestClient, *, query: str = "", headers: dict[str, str] | None = None
) -> AsyncIterator[TestConnection]:
    """A connection with the client's token, or with other headers."""
    given = {"Authorization": f"Bearer {edge.token}"} if headers is None else headers
    url = f"{edge.settings.rest_url}{PREFIX}{PATH}{query}"
    async with aiohttp.ClientSession() as session, session.ws_connect(url, headers=given) as socket:
        yield TestConnection(socket)
