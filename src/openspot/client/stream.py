"""The WebSocket side of the client."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any, NamedTuple, Self

import aiohttp
import msgspec
from yarl import URL

from openspot.client.errors import ApiError, OpenSpotError, StreamClosedError, StreamError, UnreachableError
from openspot.client.events import ChannelFault, EdgeMessage, Event, Push, Reconnected, event_of, read_message
from openspot.client.gen.records import Balance, Order
from openspot.client.signing import RequestSigner
from openspot.client.tokens import expiry_of
from openspot.client.transport import Transport
from openspot.domain.order import TERMINAL
from openspot.kit.backoff import Backoff

PING_S = 30.0
"""Pause between two pings. The platform closes a connection after 120 s without a client message."""
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
REPLY_TIMEOUT_S = 10.0
STABLE_S = 10.0
"""After a connection of this length, the pauses before a reconnection begin with the shortest again."""
RENEWAL_MARGIN_S = 60.0
"""A token is renewed this long before it expires, or after three quarters of its time if that is later."""
RENEWAL_PAUSE_S = 1.0
RESYNC_PAUSE_S = 1.0
"""Order rows follow the events by some milliseconds. After this pause they include every missed event."""
EVENTS_MAX = 1024
CUT_OFF = 1006
UNAUTHORIZED, FORBIDDEN, TOO_MANY_REQUESTS = 401, 403, 429
_ENDED_STATUSES = frozenset(status.value for status in TERMINAL)

TokenSource = Callable[[str | None], Awaitable[str | None]]
"""Returns the access token, or None without a session. Its argument is a refused token, which it renews first."""


class OwnState(NamedTuple):
    """A user's open orders, the requested orders, and the balances."""

    orders: list[Order]
    balances: list[Balance]


OwnStateSource = Callable[[frozenset[str]], Awaitable[OwnState | None]]
"""Reads from REST the user's open orders, the orders with these ids, and the balances. None without a user."""


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """Limits on the attempts to open a closed stream again, and on the pauses (seconds) before each.

    A pause doubles with every attempt. A random part of it, at most half, is cut off.
    """

    attempts_max: int = 20
    pause_s: float = 0.1
    pause_s_max: float = 5.0


_encode = msgspec.json.Encoder().encode


class Stream:
    """Events, in the order in which the platform sent them. Opened with `async with`, read with `async for`.

    Opening subscribes to every channel; from then on no event is missed without notice. Opening raises StreamError for
    a channel that the platform does not know, ApiError for a session that has ended or an API key that is not taken
    (401) or lacks the scope `read` (403), and UnreachableError.

    The stream is read in the background. While `EVENTS_MAX` events wait for a slow caller, it reads no more. The
    platform then leaves out events that a later one replaces: updates of a book (a snapshot follows), tickers and
    candles. It queues the others. If its queue is full, it closes the connection with 1013: the stream yields
    Reconnected, or raises StreamClosedError.
    """

    def __init__(
        self,
        transport: Transport,
        url: str,
        token: TokenSource,
        channels: Iterable[str],
        *,
        reconnect: ReconnectPolicy | None,
        signer: RequestSigner | None = None,
        own_state: OwnStateSource | None = None,
    ) -> None:
        self._transport = transport
        self._url = url.rstrip("/") + "/"
        self._token = token
        self._signer = signer
        self._own_state = own_state
        self._channels = dict.fromkeys(channels)
        self._reconnect = reconnect
        self._backoff = Backoff(reconnect.pause_s, reconnect.pause_s_max) if reconnect is not None else None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._helpers: list[asyncio.Task[None]] = []
        """Pings, and renews the token of the present connection."""
        self._replies: dict[int, asyncio.Future[EdgeMessage]] = {}
        self._ids = count(1)
        self._events: deque[Event] = deque()
        self._changed = asyncio.Event()
        """An event was added, or the stream has ended."""
        self._wanted = asyncio.Event()
        """An event was taken, or a reply is awaited."""
        self._failure: OpenSpotError | None = None
        self._is_opened = False
        self._is_closed = False
        self._opened_at = 0.0
        self._open_orders: dict[str, None] = {}
        """Ids of the orders that pushes have shown as open."""
        self.reconnects = 0
        """How often the stream was opened again."""

    @property
    def is_connected(self) -> bool:
        """Whether the stream has a connection on which every channel is subscribed."""
        return self._socket is not None and not self._socket.closed

    async def __aenter__(self) -> Self:
        early, refused = await self._open()
        if refused:
            await self.close()
            raise StreamError(refused[0].code, refused[0].message)
        self._is_opened = True
        for message in early:
            self._take(message)
        self._start(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def subscribe(self, channel: str) -> None:
        """Add a market channel. If it is a subscribed book or candle already, the platform sends a fresh snapshot.

        During a reconnection, the channel is subscribed with the others. Raises StreamError if the platform refuses
        the channel, UnreachableError without a reply, and StreamClosedError if the stream is closed.
        """
        is_new = channel not in self._channels
        self._channels[channel] = None
        try:
            await self._ask({"action": "subscribe", "channel": channel})
        except StreamError:
            if is_new:
                self._channels.pop(channel, None)
            raise

    async def unsubscribe(self, channel: str) -> None:
        """Remove a market channel. Its events that are already received still come. Raises what `subscribe` raises."""
        self._channels.pop(channel, None)
        await self._ask({"action": "unsubscribe", "channel": channel})

    async def close(self) -> None:
        """End the stream. Reading it then ends without an error."""
        self._is_closed = True
        self._changed.set()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._disconnect(StreamClosedError(CUT_OFF, "the stream is not open"))

    # Reading

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises StreamError if the platform refused a message, StreamClosedError if it has ended."""
        if not self._is_opened:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        while not self._is_closed:
            if self._events:
                self._wanted.set()
                return self._events.popleft()
            if self._failure is not None:
                raise self._failure
            self._changed.clear()
            await self._changed.wait()
        raise StopAsyncIteration

    def _add(self, event: Event) -> None:
        self._events.append(event)
        self._changed.set()

    async def _run(self) -> None:
        """Read until the stream has ended."""
        try:
            while True:
                try:
                    await self._read()
                except StreamClosedError as ended:
                    await self._come_back(ended)
        except OpenSpotError as error:
            self._failure = error
        finally:
            # Whatever ended the reading, every waiting caller must learn of it.
            self._failure = self._failure or StreamClosedError(CUT_OFF, "the stream is not read any more")
            await self._disconnect(self._failure)
            self._changed.set()

    async def _read(self) -> None:
        """Read until the connection has ended. Raises StreamClosedError, StreamError."""
        while True:
            # While a caller waits for a reply, events may exceed their bound, because the reply comes after them.
            while len(self._events) >= EVENTS_MAX and not self._replies:
                self._wanted.clear()
                await self._wanted.wait()
            self._take(await self._receive())

    async def _receive(self) -> EdgeMessage:
        if self._socket is None:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        received = await self._socket.receive()
        if received.type is not aiohttp.WSMsgType.TEXT:
            reason = received.extra if isinstance(received.extra, str) else ""
            raise StreamClosedError(self._socket.close_code or CUT_OFF, reason)
        return read_message(received.data)

    def _take(self, message: EdgeMessage) -> None:
        reply = self._replies.pop(message.id, None) if isinstance(message.id, int) else None
        if reply is not None:
            if not reply.done():
                reply.set_result(message)
            return
        event = event_of(message)
        if event is not None:
            if isinstance(event, Push) and event.channel == "orders":
                self._note_order(event.data)
            self._add(event)

    def _note_order(self, order: Any) -> None:
        if not isinstance(order, dict) or not isinstance(order.get("orderId"), str):
            return
        if order.get("status") in _ENDED_STATUSES:
            self._open_orders.pop(order["orderId"], None)
        else:
            self._open_orders[order["orderId"]] = None

    # Opening

    async def _open(self) -> tuple[list[EdgeMessage], list[ChannelFault]]:
        """Connect and subscribe. Returns the events that came before the last reply, and the refused channels."""
        token = await self._token(None)
        self._socket, token = await self._connect(token)
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                outcome = await self._subscribe_all()
        except TimeoutError as error:
            await self._disconnect(StreamClosedError(CUT_OFF, "no reply"))
            raise UnreachableError("the subscriptions were not answered") from error
        except BaseException:
            await self._disconnect(StreamClosedError(CUT_OFF, "not opened"))
            raise
        self._opened_at = asyncio.get_running_loop().time()
        self._helpers = [self._start(self._keep_alive())]
        if token is not None:
            self._helpers.append(self._start(self._keep_authenticated(token)))
        return outcome

    async def _connect(self, token: str | None) -> tuple[aiohttp.ClientWebSocketResponse, str | None]:
        """Open a connection. Returns it with the token that opened it."""
        renewed = False
        while True:
            query = {"token": token} if token is not None else {}
            signed = self._signer.headers("GET", URL(self._url).raw_path, b"") if self._signer is not None else {}
            try:
                socket = await self._transport.session.ws_connect(
                    self._url, params=query, headers=signed, max_msg_size=MESSAGE_BYTES_MAX
                )
            except aiohttp.WSServerHandshakeError as error:
                if error.status not in (UNAUTHORIZED, FORBIDDEN):
                    raise UnreachableError(f"the stream was refused: {error.status}") from error
                if signed and (renewed or not self._transport.correct_clock(error.headers)):
                    code = "INVALID_CREDENTIAL" if error.status == UNAUTHORIZED else "INSUFFICIENT_SCOPE"
                    raise ApiError(error.status, code, "the API key was refused") from error
                if not signed and (token is None or renewed):
                    raise ApiError(error.status, "INVALID_TOKEN", "the access token was refused") from error
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise UnreachableError(f"no stream: {str(error) or type(error).__name__}") from error
            else:
                return socket, token
            renewed = True
            token = await self._token(token)

    async def _subscribe_all(self) -> tuple[list[EdgeMessage], list[ChannelFault]]:
        waiting: dict[int, str] = {}
        for channel in list(self._channels):
            number = next(self._ids)
            waiting[number] = channel
            await self._send({"action": "subscribe", "channel": channel, "id": number})
        early: list[EdgeMessage] = []
        refused: list[ChannelFault] = []
        while waiting:
            message = await self._receive()
            channel_of_reply = waiting.pop(message.id, None) if isinstance(message.id, int) else None
            if channel_of_reply is None:
                early.append(message)
            elif message.type == "error":
                self._channels.pop(channel_of_reply, None)
                refused.append(ChannelFault(channel_of_reply, message.code, message.message))
        return early, refused

    async def _come_back(self, ended: StreamClosedError) -> None:
        """Reconnect, and tell the caller. Raises `ended` if there is no reconnect policy, or if it fails."""
        await self._disconnect(ended)
        if self._reconnect is None or self._backoff is None:
            raise ended
        if asyncio.get_running_loop().time() - self._opened_at >= STABLE_S:
            self._backoff.succeeded()
        while self._backoff.failures < self._reconnect.attempts_max:
            await asyncio.sleep(self._backoff.failed())
            try:
                early, refused = await self._open()
                own = await self._read_own_state()
            except (UnreachableError, StreamClosedError):
                await self._disconnect(ended)
            except ApiError as error:
                await self._disconnect(ended)
                if not _is_passing(error):
                    raise
            else:
                self.reconnects += 1
                self._add(Reconnected(ended.code, ended.reason, *own))
                for fault in refused:
                    self._add(fault)
                for message in early:
                    self._take(message)
                return
        raise ended

    async def _read_own_state(self) -> tuple[list[Order] | None, list[Balance] | None]:
        if self._own_state is None:
            return None, None
        await asyncio.sleep(RESYNC_PAUSE_S)
        own = await self._own_state(frozenset(self._open_orders))
        if own is None:
            return None, None
        self._open_orders = dict.fromkeys(order.order_id for order in own.orders if order.status not in _ENDED_STATUSES)
        return own.orders, own.balances

    # While it is open

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            with suppress(StreamClosedError):
                await self._send({"action": "ping"})

    async def _keep_authenticated(self, token: str) -> None:
        """Renew the connection before its token expires.

        If that fails, the platform closes the connection when the token expires, and the reconnection gives the reason.
        """
        while (expires_at := expiry_of(token)) is not None:
            left_s = expires_at - self._transport.platform_time()
            await asyncio.sleep(max(left_s - RENEWAL_MARGIN_S, left_s * 0.75, 0.0))
            if self._transport.platform_time() >= expires_at:
                return
            try:
                renewed = await self._token(token)
                if renewed is None:
                    return
                await self._ask({"action": "authenticate", "token": renewed})
            except StreamClosedError:
                return
            except (UnreachableError, StreamError):
                await asyncio.sleep(RENEWAL_PAUSE_S)
            except ApiError as error:
                if not _is_passing(error):
                    return
                await asyncio.sleep(RENEWAL_PAUSE_S)
            else:
                token = renewed

    async def _ask(self, message: dict[str, Any]) -> None:
        """Send a message and wait for the reply.

        Raises StreamError for a refusal, UnreachableError without a reply, StreamClosedError if the stream ends.
        """
        if not self._is_opened or self._is_closed or self._failure is not None:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        if not self.is_connected:
            return
        number = next(self._ids)
        reply: asyncio.Future[EdgeMessage] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        self._wanted.set()
        try:
            await self._send(message | {"id": number})
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                answered = await reply
        except TimeoutError as error:
            raise UnreachableError(f"{message['action']} was not answered") from error
        finally:
            self._replies.pop(number, None)
        if answered.type == "error":
            raise StreamError(answered.code, answered.message)

    async def _send(self, message: dict[str, Any]) -> None:
        if self._socket is None:
            raise StreamClosedError(CUT_OFF, "the stream is not open")
        try:
            await self._socket.send_str(_encode(message).decode())
        except (aiohttp.ClientError, OSError) as error:
            raise StreamClosedError(CUT_OFF, str(error)) from error

    async def _disconnect(self, reason: OpenSpotError) -> None:
        """Close the connection, if there is one. Callers that wait for a reply get `reason`."""
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(reason)
        self._replies.clear()
        helpers, self._helpers = self._helpers, []
        for helper in helpers:
            helper.cancel()
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_passing(error: ApiError) -> bool:
    """Whether the same request may succeed later."""
    return error.status == TOO_MANY_REQUESTS or error.status >= 500
