"""The simulated venue: its REST and WebSocket interface on one port, and the player of its timeline."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable

import msgspec
from aiohttp import web

from openspot.domain.market import load_markets
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, system_clock
from openspot.venue_simulator.connection import ClientConnection
from openspot.venue_simulator.events import Data, EventSource, TimelineEvent, market_id, stamped
from openspot.venue_simulator.faults import FaultInjector, Faults
from openspot.venue_simulator.streams import REQUEST_BYTES_MAX, exchange_info, streams_of_path

EVENTS_IN_A_ROW_MAX = 32
"""After this many events in a row, other tasks get their turn."""
DEPTH_LIMIT_MAX = 5000
SHORTEST_SLEEP_S = 0.001
SUBSCRIBER_POLL_S = 0.01
GOODBYE_TIMEOUT_S = 1.0

_encode = msgspec.json.Encoder().encode
OnSent = Callable[[str, Data], None]


class Simulator:
    """A venue that plays the timeline of a source, once `play` is called.

    `speed` is the number of seconds of the timeline that pass in one second; 0 plays as fast as the clients read.
    `faults` may be replaced at any time. `on_sent` is called with each message that has a subscriber.
    """

    def __init__(
        self,
        source: EventSource,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        speed: float = 1.0,
        seed: int = 0,
        faults: Faults | None = None,
        clock: Clock = system_clock,
        on_sent: OnSent | None = None,
    ) -> None:
        self.faults = faults or Faults()
        self.sent: Counter[str] = Counter()
        """Messages by stream, counted once for each client. Faults do not change the count."""
        self.connections: set[ClientConnection] = set()
        self.connections_taken = 0
        self._source = source
        self._host = host
        self._port = port
        self._speed = speed
        self._seed = seed
        self._clock = clock
        self._on_sent = on_sent
        self._books = {market_id(market): source.first_book(market_id(market)) for market in source.markets}
        self._limits = load_markets().limits
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen. Raises OSError if the port is taken."""
        app = web.Application()
        app.router.add_get("/api/v3/ping", self._ping)
        app.router.add_get("/api/v3/time", self._time)
        app.router.add_get("/api/v3/exchangeInfo", self._exchange_info)
        app.router.add_get("/api/v3/depth", self._depth)
        for path in ("/ws", "/ws/{streams:.*}", "/stream", "/stream/{streams:.*}"):
            app.router.add_get(path, self._connect)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close all connections and stop listening."""
        goodbyes = [connection.close() for connection in self.connections]
        await asyncio.gather(*goodbyes, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()

    async def play(self) -> int:
        """Play the timeline to its end and return the number of events. Cancel the call to end an endless one."""
        loop = asyncio.get_running_loop()
        began, count = loop.time(), 0
        for event in self._source.events():
            if self._speed:
                wait_s = began + event.at_ns / 1e9 / self._speed - loop.time()
                if wait_s > SHORTEST_SLEEP_S:
                    await asyncio.sleep(wait_s)
            else:
                # The speed is that of the readers. Without a reader, nothing is played.
                while not any(connection.streams for connection in self.connections):
                    await asyncio.sleep(SUBSCRIBER_POLL_S)
            count += 1
            if count % EVENTS_IN_A_ROW_MAX == 0:
                await asyncio.sleep(0)
            await self.send(event)
        return count

    @property
    def streams(self) -> set[str]:
        """The streams that at least one client is subscribed to."""
        return set().union(*(connection.streams for connection in self.connections))

    @property
    def rest_url(self) -> str:
        """Address of the REST interface."""
        return f"http://{self._host}:{self._port}/api/v3"

    @property
    def ws_url(self) -> str:
        """Address of the WebSocket interface, for streams without their names."""
        return f"ws://{self._host}:{self._port}/ws"

    @property
    def adapter_config(self) -> str:
        """The value of OPENSPOT_VENUE_CONFIG with which the venue adapter finds this venue as `binance`."""
        return json.dumps({"urls": {"api": {"public": self.rest_url, "ws": {"spot": self.ws_url}}}})

    async def send(self, event: TimelineEvent) -> None:
        """Send an event to its subscribers now."""
        data = stamped(event.data, self._now_ms())
        if "U" in data:
            self._books[data["s"]].apply(data)
        subscribers = [connection for connection in self.connections if event.stream in connection.streams]
        if not subscribers:
            return
        bare = _encode(data)
        wrapped = b'{"stream":"%b","data":%b}' % (event.stream.encode(), bare)
        if self._on_sent is not None:
            self._on_sent(event.stream, data)
        for connection in subscribers:
            self.sent[event.stream] += 1
            frame = wrapped if connection.wraps else bare
            if self._speed:
                connection.offer(frame)
            else:
                await connection.put(frame)

    # Requests

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(
            autoping=False, autoclose=False, compress=False, timeout=GOODBYE_TIMEOUT_S, max_msg_size=REQUEST_BYTES_MAX
        )
        await socket.prepare(request)
        self.connections_taken += 1
        connection = ClientConnection(
            socket,
            request,
            streams_of_path(request.match_info.get("streams", ""), request.query.get("streams", "")),
            wraps=request.path.startswith("/stream"),
            injector=FaultInjector(self._seed + self.connections_taken),
            faults=lambda: self.faults,
        )
        self.connections.add(connection)
        try:
            await connection.serve()
        finally:
            self.connections.discard(connection)
        return socket

    async def _ping(self, _: web.Request) -> web.Response:
        return web.json_response({})

    async def _time(self, _: web.Request) -> web.Response:
        return web.json_response({"serverTime": self._now_ms()})

    async def _exchange_info(self, _: web.Request) -> web.Response:
        return web.json_response(exchange_info(self._source.markets, self._limits, self._now_ms()))

    async def _depth(self, request: web.Request) -> web.Response:
        book = self._books.get(request.query.get("symbol", ""))
        if book is None:
            return _refusal(-1121, "Invalid symbol.")
        limit = request.query.get("limit", "100")
        if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit) <= DEPTH_LIMIT_MAX:
            return _refusal(-1130, "Data sent for parameter 'limit' is not valid.")
        return web.json_response(book.snapshot(int(limit)))

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def _refusal(code: int, message: str) -> web.Response:
    return web.json_response({"code": code, "msg": message}, status=400)
