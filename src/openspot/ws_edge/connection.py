"""One client's connection: a bounded queue of frames, deadlines, and a close that never waits for the client.

While the client keeps up, a frame is written at once. When the transport's buffer is full, frames wait in a queue of at
most `queue_max`. If the queue is full as well, the connection is closed. So a client never misses a frame and then
receives a later one.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from openspot.http.api_keys.checker import ApiKey
from openspot.http.connections import Connections
from openspot.http.protocol import HEAD_BYTES_MAX, head_too_large, refusal_bytes
from openspot.kit.rate_limit import NANOSECONDS_PER_S, RateLimit
from openspot.kit.tokens import Claims
from openspot.ws_edge.metrics import CLOSED_BY_EDGE
from openspot.ws_edge.settings import WsEdgeSettings

TOO_MANY_MESSAGES = 1008
SERVICE_RESTART = 1012
TRY_AGAIN_LATER = 1013
TOKEN_EXPIRED = 4401
IDLE_TIMEOUT = 4408

CLOSE_TIMEOUT_S = 3.0
"""How long a client may take to reply to a close before its socket is aborted."""
WRITE_BUFFER_BYTES = 65_536
WRITE_BUFFER_BYTES_MAX = 4 * 1024 * 1024
"""If a client's buffer grows beyond this, its socket is aborted. Protocol pongs can do that: they bypass the queue."""
RATE_WINDOW_S = 10.0
"""A client may send `Limits.messages_max` messages at once, and as many in each window of this length."""
_RATE_KEY = ""


def text_frame(payload: bytes) -> bytes:
    """A WebSocket text frame, ready for any number of clients."""
    return Frame(Opcode.TEXT, payload).serialize(mask=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one connection. `wall_clock` gives seconds since 1970."""

    queue_max: int
    idle_s: float
    messages_max: int
    wall_clock: Callable[[], float]

    @classmethod
    def of(cls, settings: WsEdgeSettings, wall_clock: Callable[[], float]) -> Limits:
        """The bounds that the settings give."""
        return cls(settings.ws_queue_max, settings.ws_idle_s, settings.ws_messages_max, wall_clock)


class EdgeConnection(ServerConnection):
    """A connection of the edge. `claims` is None for an anonymous client."""

    def __init__(self, *args: Any, limits: Limits, open_connections: Connections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.claims: Claims | None = None
        self.api_key: ApiKey | None = None
        """The key that the client authenticated with, if it was not a token."""
        self.failed_logins = 0
        self.address = ""
        self.network = ""
        """Connections per address are counted by this network."""
        self._open_connections = open_connections
        self._head_bytes = 0
        self.channels: set[str] = set()
        self._limits = limits
        self._queue: deque[bytes] = deque()
        self._writable = True
        self._last_message = 0.0
        self._rate = RateLimit(at_once=limits.messages_max, interval_s=RATE_WINDOW_S / limits.messages_max, keys_max=1)
        self._deadline: asyncio.TimerHandle | None = None
        self._cut: asyncio.TimerHandle | None = None

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the socket if there is room. Until its handshake is complete, a new socket may take its place."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        address = peer[0] if isinstance(peer, tuple) else ""
        if not self._open_connections.admit(self.transport, address, self.transport.abort):
            self.transport.abort()

    def note_upgrade(self) -> None:
        """The handshake is complete: the connection keeps its place until it ends."""
        self._open_connections.note_request(self.transport)

    # Out

    def push(self, frame: bytes) -> None:
        """Send a frame, or queue it behind waiting ones. Closes the connection if the queue is full."""
        if self.protocol.state is not State.OPEN:
            return
        if self._writable:
            self.transport.write(frame)
        elif len(self._queue) < self._limits.queue_max:
            self._queue.append(frame)
        else:
            self.end(TRY_AGAIN_LATER, "the client reads too slowly")

    def end(self, code: int, reason: str) -> bool:
        """Begin to close, without waiting. Drops queued frames, and aborts the socket if the client does not reply.

        Returns False if the connection is closing already.
        """
        if self.protocol.state is not State.OPEN:
            return False
        CLOSED_BY_EDGE.labels(str(code)).inc()
        self._queue.clear()
        self.protocol.send_close(code, reason)
        self.send_data()
        self._cut = self.loop.call_later(CLOSE_TIMEOUT_S, self.transport.abort)
        return True

    def pause_writing(self) -> None:
        """The transport's buffer is full: frames wait from now on."""
        super().pause_writing()
        self._writable = False

    def resume_writing(self) -> None:
        """The transport takes more: write the waiting frames first."""
        super().resume_writing()
        self._writable = True
        # A write may fill the buffer and so call `pause_writing`.
        while self._queue and self._writable:
            self.transport.write(self._queue.popleft())

    # In

    def data_received(self, data: bytes) -> None:
        """Handle received bytes. A handshake larger than a request head may be is refused with 431."""
        if self.protocol.state is State.CONNECTING:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.transport.write(refusal_bytes(head_too_large()))
                self.transport.close()
                return
        super().data_received(data)
        if self.transport.get_write_buffer_size() > WRITE_BUFFER_BYTES_MAX:
            self.transport.abort()

    def note_message(self) -> bool:
        """Count a client message as activity. If there are too many, begin to close and return False."""
        self._last_message = self.loop.time()
        if not self._rate.take(_RATE_KEY, int(self._last_message * NANOSECONDS_PER_S)):
            return True
        self.end(TOO_MANY_MESSAGES, f"more than {self._limits.messages_max} messages in {RATE_WINDOW_S:g} s")
        return False

    # Deadlines

    def watch_deadlines(self) -> None:
        """From now on close the connection when it is idle for too long, or its token expires."""
        self._last_message = self.loop.time()
        self._check_deadlines()

    def _check_deadlines(self) -> None:
        idle_left = self._last_message + self._limits.idle_s - self.loop.time()
        token_left = self.claims.expires_at - self._limits.wall_clock() if self.claims else math.inf
        if token_left <= 0:
            self.end(TOKEN_EXPIRED, "the access token has expired")
        elif idle_left <= 0:
            self.end(IDLE_TIMEOUT, f"no message for {self._limits.idle_s:g} s")
        else:
            self._deadline = self.loop.call_later(min(idle_left, token_left), self._check_deadlines)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed: cancel the timers and drop queued frames."""
        self._open_connections.remove(self.transport)
        for timer in (self._deadline, self._cut):
            if timer is not None:
                timer.cancel()
        self._queue.clear()
        super().connection_lost(exc)
