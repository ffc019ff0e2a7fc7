"""The HTTP server: uvicorn, with bounds on request heads and on connections (docs/adr/0010).

Some of the process's file descriptors are reserved, so that the journal, the database and the bus can always open
theirs.
"""

import asyncio
import contextlib
import functools
import socket
import sys
from collections.abc import Iterator
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from openspot.http.app import make_http_app
from openspot.http.connections import ConnectionBounds, Connections
from openspot.http.protocol import KEEP_ALIVE_S, GuardedProtocol, GuardedWebSocketProtocol
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import Settings
from openspot.kit.tasks import is_set_within

FILES_WANTED = 65_536
"""Soft limit of open files that a server asks for."""
FILES_RESERVED = 256
"""Open files that clients cannot use up."""
BACKLOG = 2048
GRACEFUL_S = 3
TICK_S = 1.0
"""The header Date is this old at most."""


class PortTakenError(Exception):
    """A service's port is in use by another process."""


def raise_file_limit() -> int:
    """Raise this process's soft limit of open files as far as its hard limit allows, and return it."""
    if sys.platform == "win32":
        return FILES_WANTED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


def connection_bounds(total: int, per_address: int, trusted: str = "") -> ConnectionBounds:
    """Bounds within the process's limit of open files; `trusted` holds the proxies' addresses, separated by commas."""
    files = raise_file_limit()
    within = max(1, files - FILES_RESERVED) if files > 2 * FILES_RESERVED else max(1, files // 2)
    addresses = frozenset(address.strip() for address in trusted.split(",") if address.strip())
    return ConnectionBounds(min(total, within), per_address, addresses)


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on every address that `host` names. Raises PortTakenError."""
    sockets: list[socket.socket] = []
    try:
        for family, kind, number, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            listener = socket.socket(family, kind, number)
            sockets.append(listener)
            if sys.platform != "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
            listener.setblocking(False)
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise PortTakenError(f"{host}: port {port} is taken ({error.strerror})") from error
    return sockets


class _Server(uvicorn.Server):
    """uvicorn's server. It wakes once a second, for the header Date, instead of ten times, and at once for its end."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ends = asyncio.Event()

    def end(self) -> None:
        """Make `serve` stop listening and finish what is under way."""
        self.should_exit = True
        self._ends.set()

    async def main_loop(self) -> None:
        """Wait for the end."""
        # uvicorn renews the header at every tenth tick, so also at tick 0.
        while not await self.on_tick(0):
            await is_set_within(self._ends, TICK_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the service runner."""
        yield


class HttpServer:
    """An ASGI application on a port."""

    def __init__(
        self, app: ASGIApp, host: str, port: int, bounds: ConnectionBounds, *, websocket: bool = False, **options: Any
    ) -> None:
        """With `websocket` connections may be upgraded; `options` are uvicorn's."""
        self._host, self._port = host, port
        open_connections = Connections(bounds)
        trusted = ",".join(sorted(bounds.trusted))
        http = functools.partial(GuardedProtocol, open_connections=open_connections)
        upgraded = functools.partial(GuardedWebSocketProtocol, open_connections=open_connections)
        self._server = _Server(
            uvicorn.Config(
                app,
                http=cast(type[asyncio.Protocol], http),
                ws=cast(type[asyncio.Protocol], upgraded) if websocket else "none",
                log_level="error",
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=bool(trusted),
                forwarded_allow_ips=trusted or None,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GRACEFUL_S,
                **options,
            )
        )
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen. Raises PortTakenError if the port is in use."""
        sockets = listen(self._host, self._port)
        self._task = asyncio.create_task(self._server.serve(sockets))

    async def stop(self) -> None:
        """Stop listening and finish what is under way, within GRACEFUL_S."""
        self._server.end()
        if self._task is not None:
            await self._task


def http_server(app: ASGIApp, settings: Settings, port: int, host: str = "", **options: Any) -> HttpServer:
    """A server of `app` on `port`, with the bounds of the settings; `options` are those of HttpServer.

    It listens on `host`, or on `settings.host` if that is empty.
    """
    bounds = connection_bounds(
        settings.http_connections_max, settings.http_connections_per_address, settings.trusted_proxies
    )
    return HttpServer(app, host or settings.host, port, bounds, **options)


async def serve_health(frame: ServiceFrame, port: int, title: str, host: str = "") -> None:
    """Serve health and metrics alone until the frame ends, for a service without other HTTP. Raises PortTakenError."""
    application = make_http_app([], title=title, health=frame.health)
    await frame.serve(http_server(application, frame.settings, port, host))
