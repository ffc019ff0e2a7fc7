"""Fan-out of trades and books to 1,000 WebSocket connections: the edge against bare loops over the same connections.

    .venv/bin/python -m benchmarks.ws_fan_out

One server process holds all connections, and each side sends through them in turns: the edge (events in, as the bus
gives them, through hub and queues), a bare loop that writes pre-framed payloads to each transport, one write a message,
and the library's own `broadcast`. A child process reads and drops what comes. The figure is messages delivered per CPU
second of the server, so it does not depend on what the child needs. A burst is what is sent in one turn of the loop.
"""

import asyncio
import functools
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from typing import cast

import msgspec
import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

from openspot.contracts.messages import MarketTradeEvent, OrderBookEvent
from openspot.http.connections import ConnectionBounds, Connections
from openspot.kit.clock import system_clock
from openspot.kit.log import configure_log
from openspot.ws_edge.connection import WRITE_BUFFER_BYTES, EdgeConnection, Flusher, Limits, text_frame
from openspot.ws_edge.hub import Hub
from openspot.ws_edge.incoming import Turns
from openspot.ws_edge.login import TokenChecker
from openspot.ws_edge.session import Sessions
from openspot.ws_edge.settings import WsEdgeSettings

CONNECTIONS = 1_000
TURNS = 20
ROUNDS = 5
BURSTS = (1, 2, 8)
SYMBOL = "BTC-USD"
CHANNELS = (f"trades:{SYMBOL}", f"orderbook:{SYMBOL}")
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: edge\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)

_encode = msgspec.json.Encoder().encode


class Reader(asyncio.Protocol):
    """A client: shakes hands, subscribes, and drops what it receives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send everything at once. The mask of the messages is zero."""
        requests = [_encode({"action": "subscribe", "channel": channel}) for channel in CHANNELS]
        frames = [bytes((0x81, 0x80 | len(request), 0, 0, 0, 0)) + request for request in requests]
        cast(asyncio.Transport, transport).write(HANDSHAKE + b"".join(frames))


async def read(port: int) -> None:
    """The child process: all clients, until the server ends."""
    loop = asyncio.get_running_loop()
    for _ in range(CONNECTIONS):
        await loop.create_connection(Reader, "127.0.0.1", port)
    await asyncio.Event().wait()


class Events:
    """What the bus would give: trades, and updates of a book by turns, as (subject, payload)."""

    def __init__(self) -> None:
        self._seq = 1

    def snapshot(self) -> tuple[str, bytes]:
        """The book at the beginning."""
        return self._book("snapshot", None, "1")

    def take(self, count: int) -> list[tuple[str, bytes]]:
        """The next events."""
        return [self._next() for _ in range(count)]

    def _next(self) -> tuple[str, bytes]:
        before, self._seq = self._seq, self._seq + 1
        if self._seq % 2:
            # Of both kinds, a book's update continues the one before the last event.
            return self._book("update", before - 1, str(self._seq))
        trade = MarketTradeEvent(
            SYMBOL, self._seq, before, f"trade-{self._seq}", "100.5", "0.25", "buy", 1_700_000_000_000
        )
        return f"marketdata.trade.{SYMBOL}", _encode(trade)

    def _book(self, kind: str, before: int | None, quantity: str) -> tuple[str, bytes]:
        text = f"100.5:{quantity}"
        event = OrderBookEvent(
            SYMBOL, kind, self._seq, before, 1_700_000_000_000, [("100.5", quantity)], [], zlib.crc32(text.encode()),  # type: ignore[arg-type]
        )  # fmt: skip
        return f"marketdata.orderbook.{SYMBOL}", _encode(event)


Batch = list[tuple[str, bytes]]


async def cpu_s(send: Callable[[Batch], None], batches: list[Batch], connections: set[EdgeConnection]) -> float:
    """CPU seconds of this process to send all batches, each in a turn of the loop, until the sockets have taken all."""
    begin = time.process_time()
    for batch in batches:
        send(batch)
        await asyncio.sleep(0)
        while any(connection.transport.get_write_buffer_size() for connection in connections):
            await asyncio.sleep(0)
    return time.process_time() - begin


def framed(batch: Batch) -> list[bytes]:
    """The frames of a batch, as the edge makes them."""
    return [
        text_frame(b'{"channel":"%b","type":"update","seq":1,"ts":1700000000000,"data":%b}' % (name.encode(), payload))
        for (subject, payload) in batch
        for name in (CHANNELS[0] if "trade" in subject else CHANNELS[1],)
    ]


async def measure(hub: Hub, burst: int, events: Events) -> None:
    """All sides in turns, with the same events; prints the medians."""
    connections = hub.connections

    def edge(batch: Batch) -> None:
        for subject, payload in batch:
            hub.market_event(subject, payload)

    def bare(batch: Batch) -> None:
        for frame in frames[id(batch)]:
            for connection in connections:
                connection.transport.write(frame)

    def library(batch: Batch) -> None:
        for _, payload in batch:
            broadcast(connections, payload.decode())

    rates: dict[str, list[float]] = {}
    for number in range(ROUNDS + 1):
        batches = [events.take(burst) for _ in range(TURNS)]
        frames = {id(batch): framed(batch) for batch in batches}
        for send in (bare, edge, library):
            rate = TURNS * burst * CONNECTIONS / await cpu_s(send, batches, connections)
            if number:
                rates.setdefault(send.__name__, []).append(rate)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(
        f"burst {burst}: edge {medians['edge']:,.0f} messages per CPU second, bare loop {medians['bare']:,.0f} "
        f"(edge is {medians['edge'] / medians['bare']:.2f} x), broadcast {medians['library']:,.0f} "
        f"(edge is {medians['edge'] / medians['library']:.2f} x)",
        flush=True,
    )


async def never_ended(_: str) -> bool:
    """No session has ended."""
    return False


async def main() -> None:
    """Serve, connect, measure."""
    settings = WsEdgeSettings(ws_idle_s=3600, ws_ping_s=3600)
    configure_log(settings, "benchmark")
    hub = Hub(lambda: 1_700_000_000_000)
    tokens = TokenChecker("-", never_ended, time.time)
    sessions = Sessions(settings, hub, system_clock, tokens, None)
    make = functools.partial(
        EdgeConnection,
        limits=Limits.of(settings, time.time),
        open_connections=Connections(ConnectionBounds(2 * CONNECTIONS, 2 * CONNECTIONS)),
        note_flood=lambda _: None,
        flusher=Flusher(),
        turns=Turns(asyncio.get_running_loop().call_later, time.perf_counter),
    )
    server = await serve(
        sessions.handle, "127.0.0.1", 0, create_connection=cast(type[ServerConnection], make),
        compression=None, ping_interval=None, write_limit=WRITE_BUFFER_BYTES,
    )  # fmt: skip
    port = server.sockets[0].getsockname()[1]
    events = Events()
    child = subprocess.Popen([sys.executable, "-m", "benchmarks.ws_fan_out", str(port)])  # noqa: ASYNC220
    try:
        while len(hub.connections) < CONNECTIONS or not all(
            len(connection.channels) == len(CHANNELS) for connection in hub.connections
        ):
            await asyncio.sleep(0.05)
        hub.market_event(*events.snapshot())
        for burst in BURSTS:
            await measure(hub, burst, events)
    finally:
        child.kill()
        child.wait()
        server.close()


if __name__ == "__main__":
    uvloop.run(read(int(sys.argv[1])) if len(sys.argv) > 1 else main())
