"""Orders over one connection: the calls of `OrderChangeCalls` as messages of a WebSocket."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

import aiohttp
import msgspec
from yarl import URL

from openspot.client.errors import ApiError, UnreachableError, api_error
from openspot.client.order_calls import OrderChangeCalls
from openspot.client.signing import RequestSigner
from openspot.client.stream import TokenSource
from openspot.client.transport import UNAUTHORIZED, Answer, Transport, encode_body
from openspot.contracts.order_actions import IN_FLIGHT_MAX, ORDER_ACTIONS, ORDER_CONNECTION_PATH
from openspot.kit.tasks import end_tasks

PING_S = 30.0
"""Pause between two pings. The platform closes a connection after 120 s without a message."""
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
BROKEN = "the order connection broke before the reply came"

_ROUTES = [
    (name, action.parameter, re.compile(f"{action.method} {re.sub('{.*}', '([^/]+)', action.path)}"))
    for name, action in sorted(ORDER_ACTIONS.items(), key=lambda entry: bool(entry[1].parameter))
]
"""Each action with the requests that it stands for; those without a parameter first."""


class _Message(msgspec.Struct):
    type: str
    id: str | int | None = None
    status: int = 0
    headers: dict[str, str] = {}
    body: msgspec.Raw = msgspec.Raw(b"")
    code: str = ""
    message: str = ""


class OrderConnection(OrderChangeCalls):
    """The calls about orders, over one connection. Opened with `async with`; its calls may run side by side.

    At most 64 requests are under way; further calls wait for a place. Placements reach the platform in the order of the
    calls; an amendment or a cancel of one order follows the earlier ones of that order, and a call that may concern
    several orders follows all earlier calls.

    If the connection breaks, the next call opens another one. A call that got no reply is repeated there if it has an
    `idempotency_key`, and otherwise raises UnreachableError: the platform may have carried it out, so look. Opening
    raises ApiError for a credential that is refused, and UnreachableError.
    """

    def __init__(
        self, transport: Transport, token: TokenSource, signer: RequestSigner | None, *, cancel_on_disconnect: bool
    ) -> None:
        self._transport = transport
        self._token = token
        self._signer = signer
        self._query = "?cancelOnDisconnect=true" if cancel_on_disconnect else ""
        self._used: str | None = None
        """The access token that the connection has."""
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._opening = asyncio.Lock()
        self._places = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._replies: dict[int, asyncio.Future[_Message]] = {}
        self._ids = count(1)
        self._closings = 0
        """How often it was closed: a call that began before a closing sends nothing after it."""

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection. Calls under way raise UnreachableError; a later call opens it anew."""
        self._closings += 1
        await self._end()
        # One that was being opened is there now.
        async with self._opening:
            await self._end()

    async def _end(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        await end_tasks(*self._tasks)
        self._forsake()

    # Requests

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        idempotency_key: str | None = None,
    ) -> Answer:
        message = _message_of(method, path)
        if body is not None:
            message["body"] = msgspec.Raw(encode_body(body))
        if idempotency_key is not None:
            message["idempotencyKey"] = idempotency_key
        attempt, closings = 1, self._closings
        was_renewed = False
        while True:
            try:
                return await self._ask(message, closings)
            except (ApiError, UnreachableError) as error:
                if self._closings != closings:
                    raise
                is_refused = isinstance(error, ApiError) and error.status == UNAUTHORIZED
                if is_refused and self._used is not None and not was_renewed:
                    # The platform answers 401 before it does anything, so any request may be repeated.
                    was_renewed = True
                    await self._renew(self._used)
                    continue
                pause_s = self._transport.pause(error, attempt, is_safe=idempotency_key is not None)
                if pause_s is None:
                    raise
            attempt += 1
            await asyncio.sleep(pause_s)

    async def _renew(self, refused: str) -> None:
        async with self._opening:
            if self._used == refused:
                renewed = await self._token(refused)
                await self._exchange({"action": "authenticate", "token": renewed or ""})
                self._used = renewed

    async def _ask(self, message: dict[str, Any], closings: int) -> Answer:
        async with self._places:
            if self._closings == closings:
                await self._opened()
            if self._closings != closings:
                raise UnreachableError(BROKEN)
            reply = await self._exchange(message)
        if reply.status >= 300:
            raise api_error(reply.status, bytes(reply.body), reply.headers.get("retry-after"))
        return Answer(bytes(reply.body), reply.headers)

    async def _exchange(self, message: dict[str, Any]) -> _Message:
        """Send a message and wait for its reply.

        Raises UnreachableError if none comes, and ApiError for a message that the platform does not take.
        """
        socket = self._socket
        if socket is None:
            raise UnreachableError(BROKEN)
        number = next(self._ids)
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._transport.timeout_s):
                await socket.send_str(encode_body(message | {"id": number}).decode())
                answer: _Message = await reply
        except TimeoutError as error:
            raise UnreachableError(f"{message['action']}: no reply in {self._transport.timeout_s:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise UnreachableError(BROKEN) from error
        finally:
            self._replies.pop(number, None)
        if answer.type == "error":
            raise ApiError(400, answer.code, answer.message)
        return answer

    # The connection

    async def _opened(self) -> None:
        """Open the connection unless it is open."""
        async with self._opening:
            if self._socket is not None and not self._socket.closed:
                return
            await end_tasks(*self._tasks)
            self._socket = socket = await self._connect()
            self._tasks = [asyncio.create_task(self._read(socket)), asyncio.create_task(self._keep_alive(socket))]

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        base = self._transport.base_url
        target = base.raw_path.rstrip("/") + ORDER_CONNECTION_PATH + self._query
        url = URL(str(base.origin()) + target, encoded=True)
        self._used = await self._token(None)
        was_renewed = False
        while True:
            headers = {"Authorization": f"Bearer {self._used}"} if self._used is not None else {}
            if self._signer is not None:
                headers = self._signer.headers("GET", target, b"")
            try:
                return await self._transport.session.ws_connect(url, headers=headers, max_msg_size=MESSAGE_BYTES_MAX)
            except aiohttp.WSServerHandshakeError as error:
                refused = ApiError(error.status, f"HTTP_{error.status}", "the order connection was refused")
                if error.status != UNAUTHORIZED or was_renewed:
                    raise refused from error
                if self._signer is not None and not self._transport.correct_clock(error.headers):
                    raise refused from error
                if self._signer is None:
                    self._used = await self._token(self._used)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise UnreachableError(f"no order connection: {str(error) or type(error).__name__}") from error
            was_renewed = True

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        try:
            async for received in socket:
                message = msgspec.json.decode(received.data, type=_Message)
                reply = self._replies.get(message.id) if isinstance(message.id, int) else None
                if reply is not None and not reply.done():
                    reply.set_result(message)
        except msgspec.MsgspecError:
            await socket.close()
        finally:
            if self._socket is socket:
                self._socket = None
                self._forsake()

    async def _keep_alive(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        with suppress(aiohttp.ClientError, OSError):
            while not socket.closed:
                await asyncio.sleep(PING_S)
                await socket.send_str('{"id":0,"action":"ping"}')

    def _forsake(self) -> None:
        """No reply comes any more to what was sent."""
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(UnreachableError(BROKEN))


def _message_of(method: str, path: str) -> dict[str, Any]:
    """The action, and what stands in its path, of a request. Raises LookupError for one that has no action."""
    for name, parameter, pattern in _ROUTES:
        match = pattern.fullmatch(f"{method} {path}")
        if match is not None:
            return {"action": name, parameter: unquote(match[1])} if parameter else {"action": name}
    raise LookupError(f"no action for {method} {path}")
