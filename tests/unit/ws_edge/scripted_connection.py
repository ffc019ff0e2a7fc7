"""A connection without an event loop and a socket: the test moves time on, plays the client, and sees the bytes.

Everything else is the product's: the connection, the library's parser, the turns, the bounds.
"""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
from prometheus_client import REGISTRY
from websockets.protocol import State
from websockets.server import ServerProtocol

from openspot.http.connections import ConnectionBounds, Connections
from openspot.ws_edge.connection import EdgeConnection, Flusher, Limits
from openspot.ws_edge.incoming import Turns

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PING, PONG = b"\x89\x00", b"\x8a\x00"
"""As the edge sends them, without data."""
CLIENTS_PING, CLIENTS_PONG = b"\x89\x80\0\0\0\0", b"\x8a\x80\0\0\0\0"
EOF = b"<end of the stream>"
"""Stands among what was written for the end of the edge's stream."""


def client_text(text: bytes, *, fin: bool = True, is_first: bool = True) -> bytes:
    """A frame of a client's text, masked with zeros: at most 125 bytes, or else at least 126."""
    head = (0x80 if fin else 0) | (0x01 if is_first else 0)
    length = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + len(text).to_bytes(2)
    return bytes([head]) + length + bytes(4) + text


def closing(code: int, reason: str) -> bytes:
    """The edge's close frame."""
    return bytes([0x88, 2 + len(reason)]) + code.to_bytes(2) + reason.encode()


def counted(name: str, **labels: str) -> float:
    """The value of one of the edge's counters."""
    return REGISTRY.get_sample_value(f"openspot_ws_{name}_total", labels) or 0.0


def contents(data: bytes) -> list[Any]:
    """The messages of the edge's text frames, one after the other."""
    found = []
    while data:
        assert data[0] == 0x81
        begin, size = (4, int.from_bytes(data[2:4])) if data[1] == 126 else (2, data[1])
        found.append(msgspec.json.decode(data[begin : begin + size]))
        data = data[begin + size :]
    return found


class Timer:
    """What the event loop will call."""

    def __init__(self, at: float, call: Callable[[], object]) -> None:
        self.at, self.call, self.is_cancelled = at, call, False

    def cancel(self) -> None:
        """Do not call it."""
        self.is_cancelled = True


class ScriptedLoop:
    """An event loop whose time the test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.soon: list[Callable[[], object]] = []
        self._timers: list[Timer] = []

    def time(self) -> float:
        """Seconds of the loop's clock."""
        return self.now

    def create_task(self, _: None) -> None:
        """Start no task of the library's for a connection: the test does what the task would do."""

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call it at the end of the turn."""
        self.soon.append(call)

    def call_later(self, delay_s: float, call: Callable[..., object], *arguments: Any) -> Timer:
        """Call it after some seconds."""
        self._timers.append(Timer(self.now + delay_s, lambda: call(*arguments)))
        return self._timers[-1]

    @property
    def timers(self) -> list[float]:
        """In how many seconds something will be called."""
        return sorted(each.at - self.now for each in self._timers if not each.is_cancelled)

    def end_turn(self) -> None:
        """Call what was to be called soon."""
        soon, self.soon = self.soon, []
        for call in soon:
            call()

    def advance(self, seconds: float) -> None:
        """Let time pass, and call what is due."""
        end = self.now + seconds
        while due := [each for each in self._timers if not each.is_cancelled and each.at <= end]:
            first = min(due, key=lambda each: each.at)
            self._timers.remove(first)
            self.now = max(self.now, first.at)
            first.call()
            self.end_turn()
        self.now = end


class ScriptedSocket(asyncio.Transport):
    """A socket that keeps what is written. Like uvloop's, one that is closing must not be paused or resumed."""

    def __init__(self, peer: Any = ("198.51.100.7", 40_000)) -> None:
        super().__init__({"peername": peer})
        self.written: list[bytes] = []
        self.reads = True
        self.buffered = 0
        self.ended = ""
        self.limits: Any = None
        self.protocol: Any = None
        self.fills_after: int | None = None
        """The buffer is full after this many writes."""

    def write(self, data: Any) -> None:
        """Keep the bytes."""
        self.written.append(data)
        if self.fills_after is not None:
            self.fills_after -= 1
            if not self.fills_after:
                self.fills_after = None
                self.protocol.pause_writing()

    def take(self) -> list[bytes]:
        """What was written since the last call, write by write."""
        written, self.written = self.written, []
        return written

    def write_eof(self) -> None:
        """End the edge's stream."""
        self.written.append(EOF)

    def can_write_eof(self) -> bool:
        """A socket without TLS can."""
        return True

    def get_write_buffer_size(self) -> int:
        """The bytes that the client has not taken."""
        return self.buffered

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Keep the bounds."""
        self.limits = (high, low)

    def set_protocol(self, protocol: Any) -> None:
        """Who gets the bytes from now on."""
        self.protocol = protocol

    def pause_reading(self) -> None:
        """Take no more from the client."""
        assert not self.ended
        self.reads = False

    def resume_reading(self) -> None:
        """Take from the client again."""
        assert not self.ended
        self.reads = True

    def is_closing(self) -> bool:
        """Whether it was closed or aborted."""
        return bool(self.ended)

    def close(self) -> None:
        """Close after the last byte."""
        self.ended = "closed"

    def abort(self) -> None:
        """Close at once."""
        self.ended = "aborted"


class Served:
    """A client's connection, before its handshake or after it."""

    def __init__(self, *, loop: ScriptedLoop | None = None, flusher: Flusher | None = None, **limits: Any) -> None:
        """Needs a running event loop, which the library asks for."""
        self.loop = loop or ScriptedLoop()
        self.socket = ScriptedSocket()
        self.floods: list[str] = []
        self.open_connections = Connections(ConnectionBounds(total=2, per_address=2))
        bounds = {
            "queue_max": 3, "queue_bytes_max": 1000, "idle_s": 120.0, "ping_s": 20.0, "messages_max": 1000,
            "wall_clock": lambda: 1_700_000_000 + self.loop.now,
        } | limits  # fmt: skip
        self.edge = EdgeConnection(
            ServerProtocol(max_size=1024),
            SimpleNamespace(handler=lambda _: None, handler_tasks=set()),
            ping_interval=None,
            close_timeout=3.0,
            max_queue=4,
            write_limit=65_536,
            limits=Limits(**bounds),  # type: ignore[arg-type]
            open_connections=self.open_connections,
            note_flood=self.floods.append,
            flusher=flusher or Flusher(),
            turns=Turns(self.loop.call_later, lambda: self.loop.now, 0.0),
        )
        self.edge.loop = self.loop  # type: ignore[assignment]
        self.socket.protocol = self.edge
        self.open_connections.admit(self.socket, "198.51.100.7", self.socket.abort)
        self.edge.connection_made(self.socket)

    def shake_hands(self) -> "Served":
        """Complete the handshake."""
        self.edge.data_received(HANDSHAKE)
        self.edge.network = "198.51.100.7"
        protocol = self.edge.protocol
        assert self.edge.request is not None
        protocol.send_response(protocol.accept(self.edge.request))
        self.edge.send_data()
        assert protocol.state is State.OPEN
        self.socket.take()
        return self

    def fill(self) -> None:
        """Let the socket's buffer be full: the client reads too slowly."""
        self.edge.pause_writing()

    @property
    def written(self) -> list[bytes]:
        """What was written since the last call, after the end of the turn."""
        self.loop.end_turn()
        return self.socket.take()

    @property
    def got(self) -> list[Any]:
        """The messages that were written since the last call, after the end of the turn."""
        return contents(b"".join(self.written))
