"""The WebSocket side of the client."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec
from yarl import URL

from openspot.client.errors import ApiError, StreamClosedError, StreamError, UnreachableError
from openspot.client.signing import RequestSigner
from openspot.client.transport import Transport

PING_S = 30.0
"""Pause between two pings. The platform closes a connection after 120 s without a client message."""
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
RECONNECTS_MAX = 8
"""Attempts to reconnect before the stream gives up."""
RECONNECT_PAUSE_S_MAX = 5.0
SUBSCRIBE_TIMEOUT_S = 10.0
CUT_OFF = 1006
UNAUTHORIZED, FORBIDDEN = 401, 403

TokenSource = Callable[[bool], Awaitable[str | None]]
"""Returns the access token, or None without a session. The argument says whether to renew it first."""


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
    """The stream was closed with `code` and `reason` and is open again. The events in between are lost."""

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
    """Events, in the order in which the platform sent them. Opened with `async with`, read with `async for`.

    Opening subscribes to every channel; from then on no event is missed. Opening raises StreamError for a channel that
    the platform does not know, ApiError for a session that has ended or an API key that is not taken (401) or lacks the
    scope `read` (403), and UnreachableError.
    """

    def __init__(
        self,
        transport: Transport,
        url: str,
        token: TokenSource,
        channels: Iterable[str],
        *,
        reconnect: bool,
        signer: RequestSigner | None = None,
    ) -> None:
        self._transport = transport
        self._url = url.rstrip("/") + "/"
        self._token = token
        self._signer = signer
        self._channels = dict.fromkeys(channels)
        self._reconnect = reconnect
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._pinging: asyncio.Task[None] | None = None
        self._early: deque[Push] = deque()
        """Events that arrived before the reply to the last subscription."""

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def subscribe(self, channel: str) -> None:
        """Add a market channel. If the platform does not know it, reading the stream raises StreamError."""
        self._channels[channel] = None
        await self._send({"action": "subscribe", "channel": channel})

    async def unsubscribe(self, channel: str) -> None:
        """Remove a market channel. Events that are on their way still arrive."""
        self._channels.pop(channel, None)
        await self._send({"action": "unsubscribe", "channel": channel})

    async def close(self) -> None:
        """End the stream."""
        socket, self._socket = self._socket, None
        await self._stop_pinging()
        if socket is not None:
            await socket.close()

    async def __aiter__(self) -> AsyncIterator[Push | Reconnected]:
        """Yield events until the caller closes the stream.

        Raises StreamError if the platform refused a message, StreamClosedError if the stream has ended.
        """
        if self._socket is None:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        while self._socket is not None:
            while self._early:
                yield self._early.popleft()
            received = await self._socket.receive()
            if received.type is aiohttp.WSMsgType.TEXT:
                push = _push_of(received.data)
                if push is not None:
                    yield push
            elif self._socket is not None:
                yield await self._come_back(self._ended(received))

    def _ended(self, received: aiohttp.WSMessage) -> StreamClosedError:
        code = self._socket.close_code if self._socket is not None else None
        return StreamClosedError(code or CUT_OFF, received.extra if isinstance(received.extra, str) else "")

    async def _come_back(self, ended: StreamClosedError) -> Reconnected:
        await self.close()
        if not self._reconnect:
            raise ended
        for attempt in range(RECONNECTS_MAX):
            try:
                await self._open()
            except (UnreachableError, StreamClosedError):
                await asyncio.sleep(min(0.1 * 2**attempt, RECONNECT_PAUSE_S_MAX))
            else:
                return Reconnected(ended.code, ended.reason)
        raise ended

    async def _open(self) -> None:
        self._socket = await self._connect(renew=False)
        try:
            async with asyncio.timeout(SUBSCRIBE_TIMEOUT_S):
                await self._subscribe_all(self._socket)
        except TimeoutError as error:
            await self.close()
            raise UnreachableError("the subscriptions were not answered") from error
        except BaseException:
            await self.close()
            raise
        self._pinging = asyncio.create_task(self._keep_alive())

    async def _connect(self, *, renew: bool) -> aiohttp.ClientWebSocketResponse:
        token = await self._token(renew)
        query = {"token": token} if token is not None else {}
        signed = self._signer.headers("GET", URL(self._url).raw_path, b"") if self._signer is not None else {}
        try:
            return await self._transport.session.ws_connect(
                self._url, params=query, headers=signed, max_msg_size=MESSAGE_BYTES_MAX
            )
        except aiohttp.WSServerHandshakeError as error:
            if signed and error.status in (UNAUTHORIZED, FORBIDDEN):
                code = "INVALID_CREDENTIAL" if error.status == UNAUTHORIZED else "INSUFFICIENT_SCOPE"
                raise ApiError(error.status, code, "the API key was refused") from error
            if error.status != UNAUTHORIZED:
                raise UnreachableError(f"the stream was refused: {error.status}") from error
            if token is None or renew:
                raise ApiError(error.status, "INVALID_TOKEN", "the access token was refused") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(f"no stream: {str(error) or type(error).__name__}") from error
        return await self._connect(renew=True)

    async def _subscribe_all(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        for channel in self._channels:
            await self._send({"action": "subscribe", "channel": channel})
        answers_due = len(self._channels)
        while answers_due:
            received = await socket.receive()
            if received.type is not aiohttp.WSMsgType.TEXT:
                raise self._ended(received)
            push = _push_of(received.data)
            if push is not None:
                self._early.append(push)
            else:
                answers_due -= 1

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
    """Return the event in a message of the platform, None if it is a reply. Raises StreamError for a refusal."""
    try:
        message = _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StreamError("UNREADABLE", str(error)) from error
    if message.type == "error":
        raise StreamError(message.code, message.message)
    if message.type not in ("update", "snapshot"):
        return None
    return Push(message.channel, message.type, message.seq, message.ts, message.data, message.event)
