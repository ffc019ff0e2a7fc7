"""Requests and replies between two processes over one TCP connection, as frames: many at once, in any order.

A frame is a header of nine bytes, little-endian, and the payload: the length of the payload (4 bytes), the request's id
(4), and the length of the method's name in a request or the status in a reply (1). In a request the name stands before
the message, and is a part of the payload. Status 0 is success; with any other, the payload is a text that says why.

The first frame of a connection has the id 0 and a credential as its message. The server ends a connection whose
credential it does not accept, whose frames are malformed or too long, or whose greeting does not come in time.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from openspot.kit.backoff import Backoff
from openspot.kit.log import get_logger
from openspot.kit.service_credential import ServiceCredential

log = get_logger("frames")

MESSAGE_BYTES_MAX = 4 * 1024 * 1024
"""The longest request. A reply may be REPLY_BYTES_MAX long."""
REPLY_BYTES_MAX = 16 * 1024 * 1024
GREETING_BYTES_MAX = 4096
GREETING_S_MAX = 5.0
"""A caller that has not greeted by then is cut off. A client that was too slow connects again by itself, while its
requests wait for as long as they say."""
CONNECTIONS_MAX = 256
UNDER_WAY_MAX = 1024
"""Requests of one connection that are under way. The server reads no more until some of them are answered."""
SILENT_S_MAX = 3.0
"""A server that sends nothing for so long, while requests wait, may be gone: the next request connects anew. It may be
starved as well: those that wait keep their time."""
RECONNECT_S, RECONNECT_S_MAX = 0.05, 0.25
VERSION = 1

_HEADER = struct.Struct("<IIB")
_ID_MAX = 2**32 - 1

Handler = Callable[[str, bytes], Awaitable[bytes]]
"""Answers a request, given the method's name and the message. Raises FrameRefusedError."""


class FrameRefusedError(Exception):
    """The server refused the request: `status` (1 to 255) says of what kind the reason is."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class NotConnectedError(Exception):
    """There is no connection to the server. Nothing was sent."""


class NoReplyError(Exception):
    """The request was sent, and no reply came: in time, or before the connection ended."""


REFUSED_FAULT, REFUSED_LENGTH, REFUSED_CREDENTIAL = 2, 8, 16
"""The statuses of the frames themselves, as gRPC numbers them: UNKNOWN, RESOURCE_EXHAUSTED and UNAUTHENTICATED."""


class _Frames:
    """Cuts what arrives into frames."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self._parts: list[bytes] = []
        """The beginning of a frame that is not whole yet, as it came."""
        self._size = self._needed = 0

    def take(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """(id, name length or status, payload) of every frame that is whole now. Raises ValueError for a long one."""
        if self._parts:
            self._parts.append(data)
            self._size += len(data)
            if self._size < self._needed:
                return []
            data = b"".join(self._parts)
        frames, at, end, self._needed = [], 0, len(data), _HEADER.size
        while end - at >= _HEADER.size:
            length, request_id, byte = _HEADER.unpack_from(data, at)
            if length > self.bytes_max:
                raise ValueError(f"a frame of {length} bytes is too long")
            begin = at + _HEADER.size
            if end - begin < length:
                self._needed = _HEADER.size + length
                break
            at = begin + length
            frames.append((request_id, byte, data[begin:at]))
        self._parts = [data[at:]] if at < end else []
        self._size = end - at
        return frames


def _frame(request_id: int, byte: int, payload: bytes) -> bytes:
    return _HEADER.pack(len(payload), request_id, byte) + payload


class FrameServer:
    """Answers requests with `handler`, for callers that send an accepted credential."""

    def __init__(self, handler: Handler, credential: ServiceCredential) -> None:
        self.handler = handler
        self.credential = credential
        self.connections: set[_ServerConnection] = set()
        self._servers: list[asyncio.Server] = []

    async def start(self, listeners: Sequence[socket.socket]) -> None:
        """Begin to serve the connections of these sockets."""
        loop = asyncio.get_running_loop()
        self._servers = [await loop.create_server(lambda: _ServerConnection(self), sock=each) for each in listeners]

    async def stop(self, grace_s: float) -> None:
        """Take no more requests, and give those under way `grace_s` seconds to end."""
        for server in self._servers:
            server.close()
        for connection in self.connections:
            connection.pause("stopping")
        tasks = [task for connection in self.connections for task in connection.under_way]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for connection in list(self.connections):
            connection.end()


class _ServerConnection(asyncio.Protocol):
    def __init__(self, server: FrameServer) -> None:
        self._server = server
        self._frames = _Frames(GREETING_BYTES_MAX)
        self._is_greeted = False
        self._paused_for: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self.under_way: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if len(self._server.connections) >= CONNECTIONS_MAX:
            log.warning("a connection too many is refused", most=CONNECTIONS_MAX)
            self._transport.abort()
        self._server.connections.add(self)
        self._deadline = self._loop.call_later(GREETING_S_MAX, self._transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._deadline.cancel()

    def pause_writing(self) -> None:
        self.pause("writing")

    def resume_writing(self) -> None:
        self._resume("writing")

    def pause(self, reason: str) -> None:
        """Read no more for this reason."""
        if not self._paused_for and not self._transport.is_closing():
            self._transport.pause_reading()
        self._paused_for.add(reason)

    def _resume(self, reason: str) -> None:
        if self._paused_for == {reason} and not self._transport.is_closing():
            self._transport.resume_reading()
        self._paused_for.discard(reason)

    def end(self) -> None:
        """End the connection after what was written."""
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        try:
            frames = self._frames.take(data)
            for request_id, name_length, payload in frames:
                if not self._is_greeted:
                    self._greet(request_id, payload)
                    if self._transport.is_closing():
                        return
                    continue
                if name_length >= len(payload) + 1:
                    raise ValueError("a frame is shorter than the name of its method")
                name = payload[:name_length].decode("ascii")
                task = self._loop.create_task(self._answer(request_id, name, payload[name_length:]))
                self.under_way.add(task)
                task.add_done_callback(self._answered)
        except (ValueError, RecursionError) as error:
            log.warning("a connection with malformed frames is ended", error=str(error))
            self._transport.abort()
            return
        if len(self.under_way) >= UNDER_WAY_MAX:
            self.pause("busy")

    def _greet(self, request_id: int, payload: bytes) -> None:
        greeting = json.loads(payload)
        if request_id or not isinstance(greeting, dict) or greeting.pop("version", None) != VERSION:
            raise ValueError("the first frame is no greeting of this version")
        self._deadline.cancel()
        if not self._server.credential.accepts((str(key), str(value)) for key, value in greeting.items()):
            self._transport.write(_frame(0, REFUSED_CREDENTIAL, b"a service's key and secret are required"))
            self._transport.close()
            return
        self._is_greeted = True
        self._frames.bytes_max = MESSAGE_BYTES_MAX
        self._transport.write(_frame(0, 0, b""))

    async def _answer(self, request_id: int, name: str, message: bytes) -> None:
        status = 0
        try:
            reply = await self._server.handler(name, message)
        except FrameRefusedError as error:
            status, reply = error.status, str(error).encode()
        except Exception as error:
            log.exception("a request failed", method=name)
            status, reply = REFUSED_FAULT, f"unexpected {type(error).__name__}".encode()
        if len(reply) > REPLY_BYTES_MAX:
            # The client would end the connection, and all other requests on it.
            status, reply = REFUSED_LENGTH, f"the reply has {len(reply)} bytes, more than {REPLY_BYTES_MAX}".encode()
        if not self._transport.is_closing():
            self._transport.write(_frame(request_id, status, reply))

    def _answered(self, task: asyncio.Task[None]) -> None:
        self.under_way.discard(task)
        if len(self.under_way) <= UNDER_WAY_MAX // 2:
            self._resume("busy")


class FrameClient:
    """A connection to a server of frames, made at the first request and anew after it was lost.

    Create it inside a running loop and end it with `close`.
    """

    def __init__(self, host: str, port: int, credential: Mapping[str, str]) -> None:
        self._host, self._port = host, port
        self._greeting = json.dumps({"version": VERSION, **credential}).encode()
        self._connection: _ClientConnection | None = None
        self._left: list[_ClientConnection] = []
        """Connections to a silent server on which requests still wait."""
        self._connecting: asyncio.Task[_ClientConnection] | None = None

    async def close(self) -> None:
        """End the connection. Requests under way get no reply."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        for connection in (self._connection, *self._left):
            if connection is not None:
                connection.end("closed")

    async def request(self, name: str, message: bytes, timeout_s: float, connect_timeout_s: float) -> bytes:
        """The reply to a request.

        Raises NotConnectedError if nothing was sent, FrameRefusedError if the server refused, and NoReplyError.
        """
        connection = self._connection
        if connection is None or not connection.is_ready:
            connection = await self._connected(connect_timeout_s)
        return await connection.request(name, message, timeout_s)

    async def _connected(self, timeout_s: float) -> "_ClientConnection":
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connect())
        done, _ = await asyncio.wait({self._connecting}, timeout=timeout_s)
        if not done:
            raise NotConnectedError(f"no connection to {self._host}:{self._port}")
        if self._connecting.cancelled():
            raise NotConnectedError("the connection was closed")
        return self._connecting.result()

    async def _connect(self) -> "_ClientConnection":
        """Connect, and try again until it succeeds. Raises FrameRefusedError if the server refuses the credential."""
        backoff = Backoff(RECONNECT_S, RECONNECT_S_MAX)
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(GREETING_S_MAX):
                    _, connection = await loop.create_connection(_ClientConnection, self._host, self._port)
                    try:
                        await connection.greet(self._greeting)
                    except BaseException:
                        connection.end("no greeting")
                        raise
                self._left = [each for each in (self._connection, *self._left) if each is not None and each.is_left]
                self._connection = connection
                return connection
            except (OSError, NoReplyError):
                # A server that listens and does not greet is paused, or is another program.
                await asyncio.sleep(backoff.failed())


class _ClientConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self._frames = _Frames(REPLY_BYTES_MAX)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._last_id = 0
        self._silent_since: float | None = None
        """When the first request was sent after which nothing has come."""
        self._loop = asyncio.get_running_loop()
        self.is_ready = False
        self.is_left = False
        """Whether it takes no more requests, and ends after those that wait."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end("the connection was lost" if exc is None else f"the connection was lost: {exc}")

    def end(self, reason: str) -> None:
        """End the connection. Every request that waits raises NoReplyError."""
        self.is_ready = self.is_left = False
        self._transport.abort()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(NoReplyError(reason))

    def data_received(self, data: bytes) -> None:
        self._silent_since = self._loop.time() if len(self._waiting) > 1 else None
        try:
            frames = self._frames.take(data)
        except ValueError as error:
            self.end(str(error))
            return
        for request_id, status, payload in frames:
            # The reply of a request that nobody waits for any more has no future.
            future = self._waiting.pop(request_id, None)
            if future is None or future.done():
                continue
            if status:
                future.set_exception(FrameRefusedError(status, payload.decode("utf-8", "replace")))
            else:
                future.set_result(payload)

    async def greet(self, greeting: bytes) -> None:
        """Send the credential, and wait until it is accepted. Raises FrameRefusedError or NoReplyError."""
        future = self._waiting[0] = self._loop.create_future()
        self._transport.write(_frame(0, 0, greeting))
        await future
        self.is_ready = True

    async def request(self, name: str, message: bytes, timeout_s: float) -> bytes:
        """Send a request and wait for its reply. Raises FrameRefusedError or NoReplyError."""
        method = name.encode("ascii")
        if len(method) + len(message) > MESSAGE_BYTES_MAX:
            raise FrameRefusedError(REFUSED_LENGTH, f"the message has {len(message)} bytes, too many")
        request_id = self._next_id()
        future: asyncio.Future[bytes] = self._loop.create_future()
        self._waiting[request_id] = future
        if self._silent_since is None:
            self._silent_since = self._loop.time()
        timer = self._loop.call_later(timeout_s, self._give_up, future, timeout_s)
        try:
            self._transport.write(_frame(request_id, len(method), method + message))
            return await future
        finally:
            timer.cancel()
            self._waiting.pop(request_id, None)
            if self.is_left and not self._waiting:
                self.end("the server is silent")

    def _give_up(self, future: asyncio.Future[Any], timeout_s: float) -> None:
        if not future.done():
            future.set_exception(NoReplyError(f"no reply within {timeout_s} s"))
        if self._silent_since is not None and self._loop.time() - self._silent_since >= SILENT_S_MAX:
            self.is_ready, self.is_left = False, True

    def _next_id(self) -> int:
        while True:
            self._last_id = self._last_id % _ID_MAX + 1
            if self._last_id not in self._waiting:
                return self._last_id
