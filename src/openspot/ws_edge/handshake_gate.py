"""New sockets, up to the first bytes of their request. In a flood, most connections are refused here, unread.

A socket costs little until it is served: it has no task, no parser and no queues. Its first bytes show whether it asks
for the upgrade. Then it is refused, or waits for its turn. The handshakes of one address are spread over time.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from websockets.asyncio.server import ServerConnection

from openspot.http.connections import Connections
from openspot.http.errors import HttpError
from openspot.http.protocol import HEAD_S_MAX, refusal_bytes
from openspot.kit.rate_limit import RateLimit
from openspot.ws_edge.incoming import Turns
from openspot.ws_edge.metrics import REFUSED

UNDELAYED = 10
"""This many connections of an address are served without a pause between them."""
FLOOD_COST = 25
"""A connection that is closed for sending too much counts as this many handshakes of its address."""
REFUSAL_DELAY_S = 0.1
"""A refused client waits this long for its refusal. Without the wait, a client that tries again at once costs most."""
ADDRESSES_MAX = 50_000
RETRY_AFTER_S = 1
TOO_FAST = "this address opens connections too fast"

_HANDSHAKE_BEGINS = (b"GET / ", b"GET /?")

Admission = Callable[[str, bool], float]
"""Returns how many seconds a request from a peer's address must wait. Raises HttpError if it is refused unread.

The second argument says whether the request asks for the upgrade.
"""


class Arrivals:
    """Limits the connections that each network may open to `per_second`.

    The first `UNDELAYED` are served at once, the rest of a second's one after the other at an even pace, and more than
    these are refused. Handshakes and plain requests count apart, so that a flood of handshakes does not stop health
    checks.
    """

    def __init__(self, per_second: int, now_ns: Callable[[], int]) -> None:
        """`now_ns` returns the nanoseconds of a monotonic clock."""
        self._now_ns = now_ns
        self._undelayed_s = UNDELAYED / per_second
        self._handshakes, self._plain = (
            RateLimit(at_once=per_second, interval_s=1 / per_second, keys_max=ADDRESSES_MAX) for _ in range(2)
        )

    def admit(self, network: str, is_handshake: bool) -> float:
        """Count a request. Returns the seconds that it must wait. Raises HttpError (429) beyond a second."""
        limit, now_ns = self._handshakes if is_handshake else self._plain, self._now_ns()
        if limit.take(network, now_ns):
            raise HttpError(429, TOO_FAST, headers={"Retry-After": str(RETRY_AFTER_S)})
        return max(0.0, limit.whole_in_s(network, now_ns) - self._undelayed_s)

    def note_flood(self, network: str) -> None:
        """Count a connection that sent too much. Otherwise each new connection could send as much again."""
        now_ns = self._now_ns()
        for _ in range(FLOOD_COST):
            self._handshakes.take(network, now_ns)


class HandshakeGate:
    """Admits sockets. The library calls it where it would make a connection of each socket."""

    def __init__(
        self,
        open_connections: Connections,
        admission: Admission,
        turns: Turns,
        refusals: Turns,
        make_connection: Callable[..., ServerConnection],
        call_later: Callable[..., asyncio.TimerHandle],
    ) -> None:
        """A slice of `turns` serves one socket; a slice of `refusals` refuses one. `call_later` is the event loop's."""
        self.open_connections = open_connections
        self.admission = admission
        self.turns = turns
        self.refusals = refusals
        self.call_later = call_later
        self._make_connection = make_connection

    def __call__(self, *arguments: Any, **options: Any) -> "Arrival":
        """Return a new socket. When it is served, its connection is made with the same arguments."""
        return Arrival(self, lambda: self._make_connection(*arguments, **options))


class Arrival(asyncio.Protocol):
    """A socket that is not served yet."""

    def __init__(self, gate: HandshakeGate, make_connection: Callable[[], ServerConnection]) -> None:
        self._gate = gate
        self._make_connection = make_connection
        self._received = b""
        self._refusal: HttpError | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the socket if there is room. Until its handshake is complete, a new socket may take its place."""
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self._address = peer[0] if isinstance(peer, tuple) else ""
        if self._gate.open_connections.admit(self._transport, self._address, self._cut):
            self._timer = self._gate.call_later(HEAD_S_MAX, self._cut)
        else:
            self._cut()

    def data_received(self, data: bytes) -> None:
        """Refuse the request, or let the socket wait for its turn."""
        is_first = not self._received
        self._received += data
        if not is_first:
            return
        self._transport.pause_reading()
        self._stop_timer()
        call_later = self._gate.call_later
        try:
            wait_s = self._gate.admission(self._address, _may_be_handshake(data))
        except HttpError as refusal:
            self._refusal = refusal
            self._timer = call_later(REFUSAL_DELAY_S, self._gate.refusals.add, self)
        else:
            self._timer = call_later(wait_s, self._gate.turns.add, self)

    def parse_slice(self) -> bool:
        """Refuse the request, or serve the socket, which is a connection from now on."""
        self._stop_timer()
        if self._transport.is_closing():
            return False
        if self._refusal is not None:
            REFUSED.labels(str(self._refusal.status_code)).inc()
            self._transport.write(refusal_bytes(self._refusal))
            self._transport.close()
            return False
        connection = self._make_connection()
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)
        self._transport.resume_reading()
        connection.data_received(self._received)
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """The socket is closed: give its place back."""
        self._stop_timer()
        self._gate.open_connections.remove(self._transport)

    def _cut(self) -> None:
        REFUSED.labels("cut").inc()
        self._transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _may_be_handshake(begin: bytes) -> bool:
    """Whether a request with these first bytes may ask for the upgrade.

    A request that comes in pieces may: else a flood that sends its first letter alone would count as plain requests.
    """
    return begin.startswith(_HANDSHAKE_BEGINS) or any(whole.startswith(begin) for whole in _HANDSHAKE_BEGINS)
