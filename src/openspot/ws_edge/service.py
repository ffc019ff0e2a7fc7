"""The WebSocket edge as a service: its HTTP routes, the handshake, and `run`."""

import asyncio
import functools
import json
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qs

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from openspot.http.addresses import client_address
from openspot.http.api_keys.checker import ApiKeyChecker, SignedRequest
from openspot.http.api_keys.replays import make_replays
from openspot.http.api_keys.store import ApiKeyStore, Ended
from openspot.http.api_keys.uses import UseRecorder
from openspot.http.api_keys.vault import Vault
from openspot.http.connections import ConnectionBounds, Connections
from openspot.http.errors import HttpError, error_body
from openspot.http.protocol import HEAD_S_MAX, HEADERS_MAX, head_too_large
from openspot.http.server import PortTakenError, connection_bounds
from openspot.http.throttle import network_of
from openspot.kit.bus import BusUnavailableError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, system_clock
from openspot.kit.database import Pool, create_idle_pool
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.metrics import exposition
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.tokens import InvalidTokenError
from openspot.ws_edge.connection import (
    CLOSE_TIMEOUT_S,
    SERVICE_RESTART,
    TRY_AGAIN_LATER,
    WRITE_BUFFER_BYTES,
    EdgeConnection,
    Flusher,
    Limits,
    text_frame,
)
from openspot.ws_edge.feed import Feed
from openspot.ws_edge.handshake_gate import RETRY_AFTER_S, Arrivals, HandshakeGate
from openspot.ws_edge.hub import Hub
from openspot.ws_edge.incoming import Turns
from openspot.ws_edge.key_check import keep_checking
from openspot.ws_edge.login import METHOD, TokenChecker, claims_of, login
from openspot.ws_edge.metrics import REFUSED
from openspot.ws_edge.schemas import Notice
from openspot.ws_edge.session import Sessions
from openspot.ws_edge.settings import WsEdgeSettings

WEBSOCKET_PATH = "/"
DATABASE_CONNECTIONS_MAX = 2
SPARE_SOCKETS = 64
"""An address may hold this many sockets beyond its limit, while they are refused or have no handshake yet."""

STOPPING = "the service is stopping"
BACKLOG = 32
"""This many sockets wait to be accepted. The kernel drops more of them, and their clients try again after a second.

So a crowd waits in the kernel and costs the edge no time: docs/performance.md has figures for 32 and 1024.
"""
AT_LIMIT = "this address holds as many connections as it may"
DRAIN_POLL_INTERVAL_S = 0.02

log = get_logger("ws_edge")
_encode = msgspec.json.Encoder().encode


class Handshakes:
    """Handles connections before the upgrade."""

    def __init__(
        self,
        settings: WsEdgeSettings,
        hub: Hub,
        feed: Feed,
        tokens: TokenChecker,
        keys: ApiKeyChecker | None,
        arrivals: Arrivals,
        health: Health,
    ) -> None:
        """`keys` is None for an edge without a database, which takes no API keys. Adds its checks to `health`."""
        self._keys = keys
        self._arrivals = arrivals
        self._settings = settings
        self._hub = hub
        self._feed = feed
        self._tokens = tokens
        self._is_draining = False
        self._trusted = frozenset(part.strip() for part in settings.trusted_proxies.split(",") if part.strip())
        self._health = health
        # Without the bus the edge cannot work at all. If all connections are taken, it still serves those.
        self._health.add("bus", feed.check, vital=True)
        self._health.add("connections", self._check_connections)
        self._health.add("service", self._check_draining)

    def drain(self) -> None:
        """The service is about to stop: refuse new clients."""
        self._is_draining = True

    async def _check_draining(self) -> None:
        if self._is_draining:
            raise RuntimeError(STOPPING)

    async def _check_connections(self) -> None:
        if len(self._hub.connections) >= self._settings.ws_connections_max:
            raise RuntimeError(f"all {self._settings.ws_connections_max} connections are taken")

    # Before the upgrade

    async def process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Respond to a plain HTTP request, refuse a handshake, or accept it (None)."""
        if sum(1 for _ in request.headers.raw_items()) > HEADERS_MAX:
            return self._refuse(connection, head_too_large())
        path, _, query = request.path.partition("?")
        if request.method != "GET":
            return self._refuse(connection, HttpError(405, "only GET is served", headers={"Allow": "GET"}))
        if path in ("/health", "/ready"):
            status, body = await self._health.report(vital_only=path == "/health")
            return _response(HTTPStatus(status), json.dumps(body).encode())
        if path == "/metrics":
            exposed, content_type = exposition()
            return _response(HTTPStatus.OK, exposed, content_type)
        if path != WEBSOCKET_PATH:
            return self._refuse(connection, HttpError(404, "no such route", "ROUTE_NOT_FOUND"))
        try:
            await self._admit(cast(EdgeConnection, connection), request.headers, query)
        except HttpError as error:
            return self._refuse(connection, error)
        return None

    async def _admit(self, connection: EdgeConnection, headers: Headers, query: str) -> None:
        """Accept the handshake, or raise HttpError."""
        if self._is_draining:
            raise _unavailable("STOPPING", STOPPING)
        forwarded = headers.get_all("X-Forwarded-For") if self._trusted else []
        connection.address = client_address(_peer(connection), forwarded, self._trusted)
        connection.network = network_of(connection.address)
        if _peer(connection) in self._trusted:
            self._arrivals.admit(connection.network, True)
        try:
            token = _token_of(query)
            claims = connection.claims = await self._tokens.check(token) if token is not None else None
        except InvalidTokenError as error:
            raise HttpError(401, str(error), "INVALID_TOKEN") from error
        except BusUnavailableError as error:
            raise _unavailable("BUS_UNAVAILABLE", str(error)) from error
        signed = _signed_handshake(headers, query, connection.address)
        if signed is not None and claims is None:
            connection.api_key = await login(self._keys, signed)
            connection.claims = claims_of(connection.api_key)
        # Nothing is awaited from here until the client is in the hub. Otherwise it could miss an event.
        if self._is_draining:
            raise _unavailable("STOPPING", STOPPING)
        if not self._feed.is_listening:
            raise _unavailable("BUS_UNAVAILABLE", "the bus is not connected")
        self._check_room(connection)

    def _check_room(self, connection: EdgeConnection) -> None:
        """Raise HttpError (503) if the connection would exceed a limit.

        Some connections are reserved for clients with a token, so that clients without one cannot take them all.
        """
        settings, hub = self._settings, self._hub
        if len(hub.connections) >= settings.ws_connections_max:
            raise _unavailable("TOO_MANY_CONNECTIONS", "all connections are taken")
        anonymous_max = math.ceil(settings.ws_connections_max * settings.ws_anonymous_share)
        if connection.claims is None and hub.anonymous_connections >= anonymous_max:
            raise _unavailable("TOO_MANY_CONNECTIONS", "all connections without a token are taken")
        if self._is_at_limit(connection.network):
            raise _unavailable("TOO_MANY_CONNECTIONS", AT_LIMIT)

    def admission(self, address: str, is_handshake: bool) -> float:
        """How many seconds a request from this peer must wait. Raises HttpError if it is refused unread."""
        if address in self._trusted:
            return 0.0
        network = network_of(address)
        if is_handshake and self._is_at_limit(network):
            raise _unavailable("TOO_MANY_CONNECTIONS", AT_LIMIT)
        return self._arrivals.admit(network, is_handshake)

    def _is_at_limit(self, network: str) -> bool:
        return self._hub.connections_of(network) >= self._settings.ws_connections_per_address

    def _refuse(self, connection: ServerConnection, error: HttpError) -> Response:
        REFUSED.labels(str(error.status_code)).inc()
        response = _response(HTTPStatus(error.status_code), error_body(error, str(connection.id)))
        for name, value in (error.headers or {}).items():
            response.headers[name] = value
        return response


def _token_of(query: str) -> str | None:
    """The access token of a query, None if it has none. Raises InvalidTokenError."""
    try:
        tokens = parse_qs(query, keep_blank_values=True, max_num_fields=16, errors="strict").get("token")
    except ValueError as error:
        raise InvalidTokenError("the query is not readable") from error
    if tokens is None:
        return None
    if len(tokens) != 1:
        raise InvalidTokenError("more than one token is given")
    return tokens[0]


def _signed_handshake(headers: Headers, query: str, address: str) -> SignedRequest | None:
    """The request that the headers of a handshake sign, None without an API key. Raises HttpError (400, 401)."""
    values: list[str] = []
    for name in ("X-API-Key", "X-API-Timestamp", "X-API-Signature"):
        given = headers.get_all(name)
        if len(given) > 1:
            raise HttpError(400, f"the header {name} must be given once", "REPEATED_HEADER")
        values += given
    if not headers.get_all("X-API-Key"):
        return None
    if len(values) != 3:
        raise HttpError(401, "X-API-Key needs X-API-Timestamp and X-API-Signature", "INVALID_CREDENTIAL")
    target = WEBSOCKET_PATH + (f"?{query}" if query else "")
    key_id, timestamp, signature = values
    return SignedRequest(key_id, timestamp, signature, METHOD, target.encode("latin-1", "replace"), b"", address)


def _unavailable(code: str, message: str) -> HttpError:
    return HttpError(503, message, code, headers={"Retry-After": str(RETRY_AFTER_S)})


def _peer(connection: ServerConnection) -> str:
    peer = connection.transport.get_extra_info("peername")
    return peer[0] if isinstance(peer, tuple) else ""


def _response(status: HTTPStatus, body: bytes, content_type: str = "application/json") -> Response:
    headers = Headers(
        {
            "Date": format_datetime(datetime.now(UTC), usegmt=True),
            "Connection": "close",
            "Content-Length": str(len(body)),
            "Content-Type": content_type,
        }
    )
    return Response(status.value, status.phrase, headers, body)


def _bounds(settings: WsEdgeSettings) -> ConnectionBounds:
    """Limits of sockets. They are higher than the limits of clients, to leave room for handshakes under way."""
    per_address = settings.ws_connections_per_address + SPARE_SOCKETS
    total = settings.ws_connections_max + settings.ws_connections_max // 4 + SPARE_SOCKETS
    return connection_bounds(total, per_address, settings.trusted_proxies)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The checker of API keys, and its connections to the database."""

    checker: ApiKeyChecker
    store: ApiKeyStore
    uses: UseRecorder
    pool: Pool

    async def close(self) -> None:
        await self.uses.stop()
        self.pool.terminate()


async def _keys(settings: WsEdgeSettings, clock: Clock) -> _Keys | None:
    """Return the checker of API keys, None without a database. The database need not be up yet."""
    if not settings.database_url:
        return None
    pool = await create_idle_pool(settings, DATABASE_CONNECTIONS_MAX)
    store = ApiKeyStore(pool)
    replays = make_replays(settings.throttle_storage)
    checker = ApiKeyChecker(store, Vault(*settings.sealing_secrets), replays, lambda: clock() / 1e9)
    uses = UseRecorder(checker, store)
    uses.start()
    return _Keys(checker, store, uses, pool)


async def run(settings: WsEdgeSettings, stop: asyncio.Event, clock: Clock = system_clock) -> None:
    """Serve until `stop` is set. Raises PortTakenError if the port is in use."""
    settings = with_secrets(settings)
    async with ServiceFrame("ws-edge", settings, stop) as frame:
        keys = await _keys(settings, clock)
        if keys is not None:
            frame.at_end(keys.close)
        hub = Hub(lambda: clock() // NANOSECONDS_PER_MS)

        def close_all(reason: str) -> None:
            hub.books.restart()
            hub.candles.restart()
            hub.tickers.restart()
            # Many gaps may be reported in a row. The first one closes all connections.
            if connections := hub.end_all(TRY_AGAIN_LATER, reason):
                log.warning("events may have been missed", reason=reason, connections_closed=connections)

        def key_ended(ended: Ended) -> None:
            if keys is not None:
                keys.checker.drop(ended.key_id)
            hub.api_key_ended(ended)

        feed = Feed(settings, hub, close_all, key_ended)
        frame.at_end(feed.close)
        checker = keys.checker if keys is not None else None
        tokens = TokenChecker(settings.jwt_secret, feed.session_has_ended, lambda: clock() / 1e9)
        arrivals = Arrivals(settings.ws_handshakes_per_address, time.monotonic_ns)
        handshakes = Handshakes(settings, hub, feed, tokens, checker, arrivals, frame.health)
        sessions = Sessions(settings, hub, clock, tokens, checker)
        open_connections = Connections(_bounds(settings))
        call_later = asyncio.get_running_loop().call_later
        make_connection = functools.partial(
            EdgeConnection,
            limits=Limits.of(settings, lambda: clock() / 1e9),
            open_connections=open_connections,
            note_flood=arrivals.note_flood,
            flusher=Flusher(),
            turns=Turns(call_later, time.perf_counter),
        )
        arriving = Turns(call_later, time.perf_counter)
        refusals = Turns(call_later, time.perf_counter)
        gate = HandshakeGate(open_connections, handshakes.admission, arriving, refusals, make_connection, call_later)
        try:
            server = await serve(
                sessions.handle,
                settings.ws_host or settings.host,
                settings.ws_port,
                process_request=handshakes.process_request,
                create_connection=cast(type[ServerConnection], gate),
                backlog=BACKLOG,
                open_timeout=HEAD_S_MAX,
                max_size=settings.ws_message_bytes_max,
                # Frames are shared between clients, so they cannot be compressed for each.
                compression=None,
                # The connections ping by themselves, without a task for each.
                ping_interval=None,
                close_timeout=CLOSE_TIMEOUT_S,
                write_limit=WRITE_BUFFER_BYTES,
                server_header=None,
            )
        except OSError as error:
            raise PortTakenError(f"port {settings.ws_port} is taken") from error

        async def listen() -> None:
            await feed.start()
            log.info("listening", port=settings.ws_port)

        async def stop_listening() -> None:
            hub.end_all(SERVICE_RESTART, STOPPING)
            # The library would wait for what is left of their requests.
            open_connections.cut_fresh()
            server.close()
            await server.wait_closed()

        frame.at_end(stop_listening)
        frame.start("bus", listen())
        frame.start("books", hub.books.run(feed.book))
        frame.start("candles", hub.candles.run(feed.candles))
        frame.start("tickers", hub.tickers.run(feed.ticker))
        if keys is not None:
            frame.start("API keys", keep_checking(hub, keys.store), is_essential=False)
        await frame.until_stopped()
        await _drain(settings, hub, handshakes)


async def _drain(settings: WsEdgeSettings, hub: Hub, handshakes: Handshakes) -> None:
    """Refuse new clients, tell the others that the service stops, and give them time to leave."""
    handshakes.drain()
    message = "the service is stopping: connect again"
    hub.tell_all(text_frame(_encode(Notice("SERVICE_STOPS", message, round(settings.ws_drain_s * 1000)))))
    with suppress(TimeoutError):
        async with asyncio.timeout(settings.ws_drain_s):
            while hub.connections:
                await asyncio.sleep(DRAIN_POLL_INTERVAL_S)
