"""One client's connection: what is written to it and when, deadlines, and a close that never waits for the client.

All frames that are pushed in one turn of the event loop go out in one write. If the transport's buffer is full, the
client reads too slowly. From then on the edge keeps only the latest ticker and candle, leaves out updates of an order
book and owes a snapshot instead, and queues everything else. If the queue is full as well, the edge closes the
connection. So whatever a client misses, a later message replaces it.

The bytes of a client are parsed in slices, in turns with other clients (`incoming`). The edge reads no more of them
until the slices are parsed and the messages have their replies. If a client sends too much, all its input is dropped.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State

from openspot.http.api_keys.checker import ApiKey
from openspot.http.connections import Connections
from openspot.http.protocol import HEAD_BYTES_MAX, head_too_large, refusal_bytes
from openspot.kit.rate_limit import NANOSECONDS_PER_S, RateLimit
from openspot.kit.tokens import Claims
from openspot.ws_edge.incoming import SLICE_BYTES, Received, Turns
from openspot.ws_edge.metrics import CLOSED_BY_EDGE, CONFLATED
from openspot.ws_edge.outgoing import OutgoingFrames, QueueFullError
from openspot.ws_edge.settings import WsEdgeSettings

TOO_MANY_MESSAGES = 1008
MESSAGE_TOO_BIG = 1009
SERVICE_RESTART = 1012
TRY_AGAIN_LATER = 1013
TOKEN_EXPIRED = 4401
IDLE_TIMEOUT = 4408

SLOW = "the client reads too slowly"

CLOSE_TIMEOUT_S = 3.0
"""A client must reply to a close within this time. Otherwise its socket is aborted."""
WRITE_BUFFER_BYTES = 65_536
WRITE_BUFFER_BYTES_MAX = 4 * 1024 * 1024
"""If a client's buffer grows beyond this, its socket is aborted. Protocol pongs can do that: they bypass the queue."""
RATE_WINDOW_S = 10.0
"""A client may send `Limits.messages_max` messages at once, and as many in each window of this length."""
FRAGMENTS_MAX = 256
"""A message may come in this many frames, and one more that ends it."""
PINGS_MISSED_MAX = 3
"""A client is gone if it sends nothing, not even a pong, while this many pings fall due."""
_RATE_KEY = ""
_OPEN = State.OPEN
_CONTROL_FRAMES = (Opcode.PING, Opcode.PONG)


def text_frame(payload: bytes) -> bytes:
    """A WebSocket text frame, ready for any number of clients."""
    # The library would make an object first, which takes four times as long.
    length = len(payload)
    if length < 126:
        return b"\x81%c%b" % (length, payload)
    if length < 65_536:
        return b"\x81\x7e%b%b" % (length.to_bytes(2), payload)
    return b"\x81\x7f%b%b" % (length.to_bytes(8), payload)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one connection. `wall_clock` gives seconds since 1970."""

    queue_max: int
    queue_bytes_max: int
    idle_s: float
    ping_s: float
    messages_max: int
    wall_clock: Callable[[], float]

    @classmethod
    def of(cls, settings: WsEdgeSettings, wall_clock: Callable[[], float]) -> Limits:
        """The bounds that the settings give."""
        return cls(
            settings.ws_queue_max,
            settings.ws_queue_bytes_max,
            settings.ws_idle_s,
            settings.ws_ping_s,
            settings.ws_messages_max,
            wall_clock,
        )


Joined = dict[tuple[bytes, ...], bytes]
"""Frames joined for one client, kept for other clients that get the same frames."""
SnapshotSource = Callable[[str], bytes | None]
"""Gives the frame of a channel's snapshot, None if there is none yet."""


class Flusher:
    """Writes the frames of one turn of the event loop, in one write for each connection."""

    def __init__(self) -> None:
        self.waiting: list[EdgeConnection] = []
        """The connections with frames to write. One may stand here twice: the second time it has nothing left."""

    def add(self, connection: EdgeConnection) -> None:
        """Write to this connection at the end of the turn."""
        if not self.waiting:
            connection.loop.call_soon(self._flush)
        self.waiting.append(connection)

    def _flush(self) -> None:
        waiting, self.waiting = self.waiting, []
        joined: Joined = {}
        for connection in waiting:
            connection.flush(joined)


class EdgeConnection(ServerConnection):
    """A connection of the edge. `claims` is None for an anonymous client."""

    # The attributes of a push lie together in memory. With thousands of connections, cache misses cost most.
    __slots__ = ("_flusher", "_outgoing", "_socket", "_writable")

    def __init__(
        self,
        *args: Any,
        limits: Limits,
        open_connections: Connections,
        note_flood: Callable[[str], None],
        flusher: Flusher,
        turns: Turns,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.snapshot_of: SnapshotSource = _no_snapshot
        self.claims: Claims | None = None
        self.api_key: ApiKey | None = None
        """The key that the client authenticated with, None if it used a token or nothing."""
        self.failed_logins = 0
        self.address = ""
        self.network = ""
        """Connections per address are counted by this network."""
        self._open_connections = open_connections
        self._note_flood = note_flood
        self._head_bytes = 0
        self._turns = turns
        self._received = Received()
        self._takes_turns = False
        self._input_is_full = False
        self._drops_input = False
        self._fragments = 0
        self.channels: set[str] = set()
        self._limits = limits
        self._outgoing = OutgoingFrames(limits.queue_max, limits.queue_bytes_max)
        self._flusher = flusher
        self._writable = True
        # The first bytes and `watch_deadlines` set these, before anything reads them.
        self._last_received: float
        self._last_message: float
        self._last_ping: float
        self._rate = RateLimit(at_once=limits.messages_max, interval_s=RATE_WINDOW_S / limits.messages_max, keys_max=1)
        self._deadline: asyncio.TimerHandle | None = None
        self._cut: asyncio.TimerHandle | None = None

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The gate has admitted the socket (`handshake_gate`). Its first bytes come next."""
        super().connection_made(transport)
        self._socket = self.transport
        self.recv_messages.pause = self._pause_input
        self.recv_messages.resume = self._resume_input

    def note_upgrade(self) -> None:
        """The handshake is complete: the connection keeps its place until it ends."""
        self._open_connections.note_request(self.transport)

    # Out

    def push(self, frame: bytes) -> None:
        """Send a frame that must not be left out. Closes the connection if too many frames wait."""
        outgoing = self._outgoing
        if self._writable:
            if not outgoing.bytes:
                # This saves a call for each client but the first.
                waiting = self._flusher.waiting
                if waiting:
                    waiting.append(self)
                else:
                    self._flusher.add(self)
            if outgoing.add(frame) >= WRITE_BUFFER_BYTES:
                self.flush({})
        elif self.protocol.state is State.OPEN:
            outgoing.add(frame)
            self._check_queue()

    def push_latest(self, channel: str, part: Hashable, frame: bytes) -> None:
        """Send a frame that replaces the previous one of the same part of the channel."""
        if channel in self._outgoing.owed:
            return
        if self._writable:
            self.push(frame)
        elif self.protocol.state is State.OPEN:
            if self._outgoing.replace(channel, part, frame):
                CONFLATED.labels(channel.partition(":")[0]).inc()
            self._check_queue()

    def push_update(self, channel: str, frame: bytes) -> None:
        """Send an update that continues the channel's snapshot, or owe another snapshot if the client is slow."""
        owed = self._outgoing.owed
        if not self._writable:
            CONFLATED.labels(channel.partition(":")[0]).inc()
            owed[channel] = None
        elif channel not in owed:
            self.push(frame)

    def owe_snapshot(self, channel: str) -> None:
        """Send a snapshot of the channel as soon as one exists and the client can take it."""
        self._outgoing.owed[channel] = None
        if self._writable:
            self._flusher.add(self)

    def forget(self, channel: str) -> None:
        """The client no longer follows the channel."""
        self._outgoing.forget(channel)

    def flush(self, joined: Joined) -> None:
        """Write the waiting frames, as far as the client takes them."""
        outgoing = self._outgoing
        if self.protocol.state is not _OPEN:
            outgoing.clear()
            return
        # A write may fill the buffer and so call `pause_writing`.
        while outgoing.bytes and self._writable:
            frames = outgoing.take(WRITE_BUFFER_BYTES)
            self._socket.write(frames[0] if len(frames) == 1 else _join(frames, joined))
        if outgoing.owed and self._writable:
            self._write_snapshots()
        if not self._writable:
            self._check_queue()

    def _write_snapshots(self) -> None:
        owed = self._outgoing.owed
        for channel in list(owed):
            frame = self.snapshot_of(channel)
            if frame is not None:
                del owed[channel]
                self.transport.write(frame)
                if not self._writable:
                    return

    def _check_queue(self) -> None:
        try:
            self._outgoing.check()
        except QueueFullError:
            self.end(TRY_AGAIN_LATER, SLOW)

    def end(self, code: int, reason: str) -> bool:
        """Begin to close, without waiting. Aborts the socket if the client does not reply.

        Frames that were pushed in this turn of the event loop are written first, unless the client reads too slowly.
        Returns False if the connection is closing already.
        """
        if self.protocol.state is not State.OPEN:
            return False
        if self._writable and len(self._outgoing):
            self.transport.write(b"".join(self._outgoing.take(WRITE_BUFFER_BYTES)))
        CLOSED_BY_EDGE.labels(str(code)).inc()
        self._outgoing.clear()
        if code in (TOO_MANY_MESSAGES, MESSAGE_TOO_BIG):
            self._drop_input()
            self._note_flood(self.network)
            self.protocol.fail(code, reason)
        else:
            self.protocol.send_close(code, reason)
        self.send_data()
        self._cut = self.loop.call_later(CLOSE_TIMEOUT_S, self.transport.abort)
        return True

    def pause_writing(self) -> None:
        """The transport's buffer is full: the client reads too slowly."""
        super().pause_writing()
        self._writable = False

    def resume_writing(self) -> None:
        """The transport takes more: write the waiting frames."""
        super().resume_writing()
        self._writable = True
        self.flush({})

    # In

    def data_received(self, data: bytes) -> None:
        """Handle received bytes. A handshake larger than a request head may be is refused with 431."""
        self._last_received = self.loop.time()
        if self.protocol.state is State.CONNECTING:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.transport.write(refusal_bytes(head_too_large()))
                self.transport.close()
                return
        if self._drops_input or (len(data) <= SLICE_BYTES and not self._received):
            self._parse(data)
        else:
            self._received.add(data)
            self._pause_reading()
            self._take_turns()

    def _take_turns(self) -> None:
        if not self._takes_turns:
            self._takes_turns = True
            self._turns.add(self)

    def parse_slice(self) -> bool:
        """Parse one slice of the received bytes. Returns whether another one can be parsed now."""
        if self.transport.is_closing():
            self._received.clear()
        elif self._received and not self._input_is_full:
            self._parse(self._received.take())
            if self._received and not self._input_is_full:
                return True
        self._takes_turns = False
        self._resume_reading()
        return False

    def _parse(self, data: bytes) -> None:
        super().data_received(data)
        if self.protocol.parser_exc is not None and not self._drops_input:
            # The library closes the connection. The flood counts, or a new connection could send as much again at once.
            self._drop_input()
            self._note_flood(self.network)
        if self.transport.get_write_buffer_size() > WRITE_BUFFER_BYTES_MAX:
            self.transport.abort()

    def _pause_input(self) -> None:
        """Enough messages wait for their replies."""
        self._input_is_full = True
        self._pause_reading()

    def _resume_input(self) -> None:
        self._input_is_full = False
        if self._received:
            self._take_turns()
        else:
            self._resume_reading()

    def _drop_input(self) -> None:
        """From now on read without parsing, only to see when the client ends the connection."""
        self._drops_input = True
        self._received.clear()
        self._resume_input()

    def _pause_reading(self) -> None:
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def _resume_reading(self) -> None:
        if not self._received and not self._input_is_full and not self.transport.is_closing():
            self.transport.resume_reading()

    def process_event(self, event: Event) -> None:
        """Pass on a received frame. Pings, pongs and parts of a message count as messages too: they also cost time."""
        if self._drops_input:
            return
        super().process_event(event)
        if not isinstance(event, Frame):
            return
        if event.opcode in _CONTROL_FRAMES:
            self._take_from_rate(self._last_received)
        elif event.fin:
            self._fragments = 0
        elif self._take_from_rate(self._last_received):
            self._fragments += 1
            if self._fragments > FRAGMENTS_MAX:
                self.end(MESSAGE_TOO_BIG, f"more than {FRAGMENTS_MAX} parts of a message")

    def note_message(self) -> bool:
        """Count a client message as activity. If there are too many, begin to close and return False."""
        self._last_message = self.loop.time()
        return self._take_from_rate(self._last_message)

    def _take_from_rate(self, now: float) -> bool:
        if not self._rate.take(_RATE_KEY, int(now * NANOSECONDS_PER_S)):
            return True
        self.end(TOO_MANY_MESSAGES, f"more than {self._limits.messages_max} messages in {RATE_WINDOW_S:g} s")
        return False

    # Deadlines

    def watch_deadlines(self) -> None:
        """From now on ping the client. Close the connection when it is idle for too long or its token expires.

        Call this again when the token changes.
        """
        if self._deadline is None:
            self._last_message = self._last_ping = self.loop.time()
        else:
            self._deadline.cancel()
        self._check_deadlines()

    def _check_deadlines(self) -> None:
        limits, now = self._limits, self.loop.time()
        idle_left = self._last_message + limits.idle_s - now
        token_left = self.claims.expires_at - limits.wall_clock() if self.claims else math.inf
        silence_s = PINGS_MISSED_MAX * limits.ping_s
        silence_left = max(self._last_received, self._last_message) + silence_s - now
        if token_left <= 0:
            self.end(TOKEN_EXPIRED, "the access token has expired")
        elif idle_left <= 0:
            self.end(IDLE_TIMEOUT, f"no message for {limits.idle_s:g} s")
        elif silence_left <= 0:
            self.end(IDLE_TIMEOUT, f"no pong for {silence_s:g} s")
        else:
            if now >= self._last_ping + limits.ping_s:
                self._ping(now)
            ping_left = self._last_ping + limits.ping_s - now
            delay_s = min(idle_left, token_left, silence_left, ping_left)
            self._deadline = self.loop.call_later(delay_s, self._check_deadlines)

    def _ping(self, now: float) -> None:
        self._last_ping = now
        if self._writable and self.protocol.state is State.OPEN:
            self.protocol.send_ping(b"")
            self.send_data()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed: cancel the timers and drop queued frames."""
        self._open_connections.remove(self.transport)
        for timer in (self._deadline, self._cut):
            if timer is not None:
                timer.cancel()
        self._outgoing.clear()
        self._received.clear()
        super().connection_lost(exc)


def _join(frames: list[bytes], joined: Joined) -> bytes:
    key = tuple(frames)
    data = joined.get(key)
    if data is None:
        data = joined[key] = b"".join(frames)
    return data


def _no_snapshot(_: str) -> bytes | None:
    """No channel has a snapshot before the client is in the hub."""
    return None
