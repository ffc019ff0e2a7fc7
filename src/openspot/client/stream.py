"""The WebSocket side of the client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from openspot.client.errors import StreamClosedError, StreamError, UnreachableError, api_error
from openspot.client.transport import Transport

PING_S = 30.0
"""Pause between two pings: a connection is closed after 120 s without a message of the client."""
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
RECONNECTS_MAX = 8
"""Attempts to come back before the stream is given up."""
RECONNECT_PAUSE_S_MAX = 5.0
CUT_OFF = 1006
UNAUTHORIZED = 401

TokenSource = Callable[[bool], Awaitable[str | None]]
"""Answers the access token, renewed if asked for; None where there is no session."""


class Push(msgspec.Struct, frozen=True):
    """An event. `channel` is a market channel, `orders` or `balances`; `ts` milliseconds since 1970.

    `data` is the event's payload as JSON values; decimals in it are texts.
    """

    channel: str
    type: str
    seq: int
    ts: int
    data: Any
    event: str | None = None


class Reconnected(msgspec.Struct, frozen=True):
    """The stream was closed with `code` and `reason` and is open again: what came between is missing."""

    code: int
    reason: str


class _Message(msgspec.Struct):
    type: str
    channel: str = ""
    seq: int = 0
    ts: int = 0
    data: Any = None
    event: str | None = None
    code: str = ""
    message: str = ""


_decode = msgspec.json.Decoder(_Message).decode
_encode = msgspec.json.Encoder().encode


class Stream:
    """Events, in the order in which the platform sent them. Opened with `async with`, read with `async for`."""

    def __init__(
        self, transport: Transport, url: str, token: TokenSource, channels: Iterable[str], *, reconnect: bool
    ) -> None:
        self._transport = transport
        self._url = url.rstrip("/") + "/"
        self._token = token
        self._channels = dict.fromkeys(channels)
        self._reconnect = reconnect
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._pinging: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._open(renew=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def subscribe(self, channel: str) -> None:
        """Add a market channel. A channel that the platform does not know raises StreamError while reading."""
        self._channels[channel] = None
        await self._send({"action": "subscribe", "channel": channel})

    async def unsubscribe(self, channel: str) -> None:
        """Take a market channel away; events on their way still come."""
        self._channels.pop(channel, None)
        await self._send({"action": "unsubscribe", "channel": channel})

    async def close(self) -> None:
        """End the stream."""
        socket, self._socket = self._socket, None
        await self._stop_pinging()
        if socket is not None:
            await socket.close()

    async def __aiter__(self) -> AsyncIterator[Push | Reconnected]:
        """Events as they come.

        Raises StreamError if a message of this client was refused, StreamClosedError if the stream has ended.
        """
        while self._socket is not None:
            received = await self._socket.receive()
            if received.type is aiohttp.WSMsgType.TEXT:
                push = _push_of(received.data)
                if push is not None:
                    yield push
            elif self._socket is not None:
                yield await self._come_back(received)

    async def _come_back(self, received: aiohttp.WSMessage) -> Reconnected:
        assert self._socket is not None
        code = self._socket.close_code or CUT_OFF
        reason = received.extra if isinstance(received.extra, str) else ""
        await self.close()
        ended = StreamClosedError(code, reason)
        if not self._reconnect:
            raise ended
        for attempt in range(RECONNECTS_MAX):
            try:
                await self._open(renew=False)
            except UnreachableError:
                await asyncio.sleep(min(0.1 * 2**attempt, RECONNECT_PAUSE_S_MAX))
            else:
                return Reconnected(code, reason)
        raise ended

    async def _open(self, *, renew: bool) -> None:
        token = await self._token(renew)
        query = {"token": token} if token is not None else {}
        try:
            self._socket = await self._transport.session.ws_connect(
                self._url, params=query, max_msg_size=MESSAGE_BYTES_MAX, compress=0
            )
        except aiohttp.WSServerHandshakeError as error:
            if error.status == UNAUTHORIZED and token is not None and not renew:
                await self._open(renew=True)
                return
            if error.status == UNAUTHORIZED:
                raise api_error(error.status, b"the access token was refused", None) from error
            raise UnreachableError(f"the stream was refused: {error.status}") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(f"no stream: {str(error) or type(error).__name__}") from error
        for channel in self._channels:
            await self._send({"action": "subscribe", "channel": channel})
        self._pinging = asyncio.create_task(self._keep_alive())

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            with suppress(StreamClosedError):
                await self._send({"action": "ping"})

    async def _stop_pinging(self) -> None:
        if self._pinging is not None:
            self._pinging.cancel()
            await asyncio.wait([self._pinging])
            self._pinging = None

    async def _send(self, message: dict[str, Any]) -> None:
        if self._socket is None:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        try:
            await self._socket.send_str(_encode(message).decode())
        except (aiohttp.ClientError, OSError) as error:
            raise StreamClosedError(self._socket.close_code or CUT_OFF, str(error)) from error


def _push_of(text: str) -> Push | None:
    """The event in a message of the platform, None if it is an answer. Raises StreamError for a refusal."""
    try:
        message = _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StreamError("UNREADABLE", str(error)) from error
    if message.type == "error":
        raise StreamError(message.code, message.message)
    if message.type not in ("update", "snapshot"):
        return None
    return Push(message.channel, message.type, message.seq, message.ts, message.data, message.event)
