"""The WebSocket edge as a service: its HTTP routes, the handshake, the sessions, and `run`."""

import asyncio
import functools
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qs

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from openspot.http.addresses import client_address
from openspot.http.api_keys.checker import ApiKey, ApiKeyChecker, SignedRequest
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
from openspot.kit.database import TRANSIENT_ERRORS, Pool, create_idle_pool
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.metrics import exposition
from openspot.kit.secrets_file import with_secrets
from openspot.kit.tokens import Claims, InvalidTokenError, verify_access_token
from openspot.ws_edge.channels import PER_USER_CHANNELS, is_market_channel
from openspot.ws_edge.connection import (
    CLOSE_TIMEOUT_S,
    SERVICE_RESTART,
    TOKEN_EXPIRED,
    TRY_AGAIN_LATER,
    WRITE_BUFFER_BYTES,
    EdgeConnection,
    Limits,
    text_frame,
)
from openspot.ws_edge.feed import Feed
from openspot.ws_edge.hub import API_KEY_ENDED, SESSION_ENDED, Hub
from openspot.ws_edge.login import FAILED_LOGINS_MAX, METHOD, PATH, claims_of, login
from openspot.ws_edge.metrics import CONNECTIONS, REFUSED
from openspot.ws_edge.schemas import (
    Action,
    Answer,
    Authenticated,
    ClientMessage,
    ClientMessageError,
    ErrorCode,
    Pong,
    Refusal,
    SignedMessage,
    Subscribed,
    Unsubscribed,
    parse_client_message,
)
from openspot.ws_edge.settings import WsEdgeSettings

WEBSOCKET_PATH = "/"
POLICY_VIOLATION = 1008
DATABASE_CONNECTIONS_MAX = 2
CHANNELS_MAX = 256
"""Market channels of one connection."""
RETRY_AFTER_S = 1
HANDSHAKES_PER_ADDRESS = 64
"""An address may hold this many sockets beyond its limit: being refused, or still without a handshake."""

log = get_logger("ws_edge")
_encode = msgspec.json.Encoder().encode


class Edge:
    """Handshakes and sessions. Time comes from `clock`."""

    def __init__(
        self, settings: WsEdgeSettings, hub: Hub, feed: Feed, clock: Clock, keys: ApiKeyChecker | None
    ) -> None:
        """`keys` is None for an edge without a database: it takes no API keys."""
        self._keys = keys
        self._settings = settings
        self._hub = hub
        self._feed = feed
        self._clock = clock
        self._trusted = frozenset(part.strip() for part in settings.trusted_proxies.split(",") if part.strip())
        self._health = Health()
        # Without the bus the edge cannot work at all. With all connections taken, it still serves them.
        self._health.add("bus", feed.check, vital=True)
        self._health.add("connections", self._check_connections)

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
        forwarded = headers.get_all("X-Forwarded-For") if self._trusted else []
        connection.address = client_address(_peer(connection), forwarded, self._trusted)
        connection.network = network_of(connection.address)
        try:
            claims = connection.claims = self._claims(query)
            if claims is not None and claims.session_id and await self._feed.session_has_ended(claims.session_id):
                raise InvalidTokenError(SESSION_ENDED)
        except InvalidTokenError as error:
            raise HttpError(401, str(error), "INVALID_TOKEN") from error
        except BusUnavailableError as error:
            raise _unavailable("BUS_UNAVAILABLE", str(error)) from error
        signed = _signed_handshake(headers, query, connection.address)
        if signed is not None and claims is None:
            connection.api_key = await self._login(signed)
            connection.claims = claims_of(connection.api_key)
        # From here on nothing is awaited until the client is in the hub, or it could miss an event.
        if not self._feed.is_listening:
            raise _unavailable("BUS_UNAVAILABLE", "the bus is not connected")
        self._check_room(connection)

    async def _login(self, signed: SignedRequest) -> ApiKey:
        """The API key of a signed request. Raises HttpError."""
        if self._keys is None:
            raise _unavailable("API_KEYS_UNAVAILABLE", "this edge has no database to look API keys up in")
        return await login(self._keys, signed)

    def _check_room(self, connection: EdgeConnection) -> None:
        """Raise HttpError (503) if the connection would exceed a limit.

        Part of the connections is reserved for clients with a token, so that clients without one cannot take them all.
        """
        settings, hub = self._settings, self._hub
        if len(hub.connections) >= settings.ws_connections_max:
            raise _unavailable("TOO_MANY_CONNECTIONS", "all connections are taken")
        anonymous_max = math.ceil(settings.ws_connections_max * settings.ws_anonymous_share)
        if connection.claims is None and hub.anonymous_connections >= anonymous_max:
            raise _unavailable("TOO_MANY_CONNECTIONS", "all connections without a token are taken")
        if hub.connections_of(connection.network) >= settings.ws_connections_per_address:
            raise _unavailable("TOO_MANY_CONNECTIONS", "this address holds as many connections as it may")

    def _claims(self, query: str) -> Claims | None:
        try:
            tokens = parse_qs(query, keep_blank_values=True, max_num_fields=16, errors="strict").get("token")
        except ValueError as error:
            raise InvalidTokenError("the query is not readable") from error
        if tokens is None:
            return None
        if len(tokens) != 1:
            raise InvalidTokenError("more than one token is given")
        return verify_access_token(tokens[0], self._settings.jwt_secret, self._wall_clock())

    def _wall_clock(self) -> float:
        return self._clock() / 1e9

    def _refuse(self, connection: ServerConnection, error: HttpError) -> Response:
        REFUSED.labels(str(error.status_code)).inc()
        response = _response(HTTPStatus(error.status_code), error_body(error, str(connection.id)))
        for name, value in (error.headers or {}).items():
            response.headers[name] = value
        return response

    # After it

    async def handle(self, connection: ServerConnection) -> None:
        """Serve one client until its connection ends."""
        client = cast(EdgeConnection, connection)
        client.note_upgrade()
        self._hub.join(client)
        CONNECTIONS.inc()
        try:
            client.watch_deadlines()
            await self._end_if_key_changed(client)
            while True:
                data = await client.recv()
                if client.note_message():
                    client.push(text_frame(_encode(await self._answer(client, data))))
                    if client.failed_logins >= FAILED_LOGINS_MAX:
                        client.end(POLICY_VIOLATION, "too many wrong credentials")
        except ConnectionClosed:
            log.debug("connection closed", code=client.close_code)
        finally:
            self._hub.leave(client)
            CONNECTIONS.dec()

    async def _end_if_key_changed(self, client: EdgeConnection) -> None:
        """Close a connection whose API key changed before it was in the hub, where changes reach it."""
        if client.api_key is None or self._keys is None:
            return
        try:
            if not await self._keys.is_current(client.api_key):
                client.end(TOKEN_EXPIRED, API_KEY_ENDED)
        except TRANSIENT_ERRORS as error:
            log.warning("connection closed: its API key cannot be looked up", error=repr(error))
            client.end(TRY_AGAIN_LATER, "API keys cannot be looked up now")

    async def _answer(self, client: EdgeConnection, data: str | bytes) -> Answer:
        try:
            message = parse_client_message(data)
            if message.credential is not None:
                return await self._authenticate(client, message.credential, message.message_id)
            return self._obey(client, message)
        except ClientMessageError as error:
            return Refusal(error.code, str(error), error.message_id)

    async def _authenticate(self, client: EdgeConnection, given: SignedMessage, message_id: str | int | None) -> Answer:
        if client.claims is not None:
            reason = "this connection speaks for a user already"
            raise ClientMessageError(ErrorCode.ALREADY_AUTHENTICATED, reason, message_id)
        signed = SignedRequest(
            given.api_key, given.timestamp, given.signature, METHOD, PATH.encode(), b"", client.address
        )
        try:
            key = await self._login(signed)
        except HttpError as error:
            if error.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
                raise ClientMessageError(ErrorCode.UNAVAILABLE, str(error.message), message_id) from error
            client.failed_logins += 1
            raise ClientMessageError(ErrorCode(error.code), str(error.message), message_id) from error
        client.api_key = key
        self._hub.authenticate(client, claims_of(key))
        await self._end_if_key_changed(client)
        return Authenticated(key.identity.user_id, message_id)

    def _obey(self, client: EdgeConnection, message: ClientMessage) -> Answer:
        channel, message_id = message.channel, message.message_id
        if message.action is Action.PING:
            return Pong(self._clock() // NANOSECONDS_PER_MS, message_id)
        if channel in PER_USER_CHANNELS:
            reason = f"the events of {channel} come with a token, without subscribing"
            raise ClientMessageError(ErrorCode.UNKNOWN_CHANNEL, reason, message_id)
        if not is_market_channel(channel):
            reason = "channel must be ticker:<SYMBOL>, orderbook:<SYMBOL> or trades:<SYMBOL>"
            raise ClientMessageError(ErrorCode.UNKNOWN_CHANNEL, reason, message_id)
        if message.action is Action.UNSUBSCRIBE:
            self._hub.unsubscribe(client, channel)
            return Unsubscribed(channel, message_id)
        if len(client.channels) >= CHANNELS_MAX and channel not in client.channels:
            reason = f"a connection has at most {CHANNELS_MAX} channels"
            raise ClientMessageError(ErrorCode.TOO_MANY_CHANNELS, reason, message_id)
        self._hub.subscribe(client, channel)
        return Subscribed(channel, message_id)


def _signed_handshake(headers: Headers, query: str, address: str) -> SignedRequest | None:
    """What the headers of a handshake sign, None without an API key. Raises HttpError (400, 401)."""
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
    """Limits of sockets. They are higher than those of clients, to leave room for handshakes under way."""
    per_address = settings.ws_connections_per_address + HANDSHAKES_PER_ADDRESS
    total = settings.ws_connections_max + settings.ws_connections_max // 4 + HANDSHAKES_PER_ADDRESS
    return connection_bounds(total, per_address, settings.trusted_proxies)


@dataclass(frozen=True, slots=True)
class _Keys:
    """What checks API keys, and its connections to the database."""

    checker: ApiKeyChecker
    uses: UseRecorder
    pool: Pool

    async def close(self) -> None:
        await self.uses.stop()
        self.pool.terminate()


async def _keys(settings: WsEdgeSettings, clock: Clock) -> _Keys | None:
    """What checks API keys; None without a database. The database need not be up."""
    if not settings.database_url:
        return None
    pool = await create_idle_pool(settings, DATABASE_CONNECTIONS_MAX)
    store = ApiKeyStore(pool)
    replays = make_replays(settings.throttle_storage)
    checker = ApiKeyChecker(store, Vault(settings.sealing_secret), replays, lambda: clock() / 1e9)
    uses = UseRecorder(checker, store)
    uses.start()
    return _Keys(checker, uses, pool)


async def run(settings: WsEdgeSettings, stop: asyncio.Event, clock: Clock = system_clock) -> None:
    """Serve until `stop` is set. Raises PortTakenError if the port is in use."""
    settings = with_secrets(settings)
    keys = await _keys(settings, clock)
    hub = Hub(lambda: clock() // NANOSECONDS_PER_MS)

    def close_all(reason: str) -> None:
        # Many gaps may be reported in a row. The first one closes all connections.
        if connections := hub.end_all(TRY_AGAIN_LATER, reason):
            log.warning("events may have been missed", reason=reason, connections_closed=connections)

    def key_ended(ended: Ended) -> None:
        if keys is not None:
            keys.checker.drop(ended.key_id)
        hub.api_key_ended(ended)

    feed = Feed(settings, hub, close_all, key_ended)
    edge = Edge(settings, hub, feed, clock, keys.checker if keys is not None else None)
    limits = Limits.of(settings, lambda: clock() / 1e9)
    open_connections = Connections(_bounds(settings))
    make_connection = functools.partial(EdgeConnection, limits=limits, open_connections=open_connections)
    try:
        server = await serve(
            edge.handle,
            settings.ws_host or settings.host,
            settings.ws_port,
            process_request=edge.process_request,
            create_connection=cast(type[ServerConnection], make_connection),
            open_timeout=HEAD_S_MAX,
            max_size=settings.ws_message_bytes_max,
            # Frames are shared between clients, so they cannot be compressed for each.
            compression=None,
            # The idle time decides when a client is gone.
            ping_interval=None,
            close_timeout=CLOSE_TIMEOUT_S,
            write_limit=WRITE_BUFFER_BYTES,
            server_header=None,
        )
    except OSError as error:
        raise PortTakenError(f"port {settings.ws_port} is taken") from error
    listening = asyncio.create_task(feed.start())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({listening, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if listening.done():
            listening.result()
            log.info("listening", port=settings.ws_port)
            await stopping
    finally:
        for task in (listening, stopping):
            task.cancel()
        await asyncio.gather(listening, stopping, return_exceptions=True)
        hub.end_all(SERVICE_RESTART, "the service is stopping")
        server.close()
        await server.wait_closed()
        await feed.close()
        if keys is not None:
            await keys.close()
