"""Health, readiness and metrics over HTTP: the same three routes on every service (design section 10).

`/health` and `/ready` answer `{"status", "info", "error", "details"}`, 200 if all checks pass, else 503. A
check is an async function that raises with the reason. `/health` asks the checks without which the service
is of no use at all; `/ready` asks all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from openspot.kit.metrics import exposition

Check = Callable[[], Awaitable[None]]
CHECK_TIMEOUT_S = 2.0


class Health:
    """The checks of one service."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Check, bool]] = {}

    def add(self, name: str, check: Check, *, vital: bool = False) -> None:
        """Add a check; a `vital` one also decides `/health`."""
        self._checks[name] = (check, vital)

    async def report(self, *, vital_only: bool) -> tuple[int, dict[str, Any]]:
        """(status code, body) of a health answer, from the real state at this moment."""
        names = [name for name, (_, vital) in self._checks.items() if vital or not vital_only]
        outcomes = await asyncio.gather(*(self._outcome(name) for name in names))
        details = dict(zip(names, outcomes, strict=True))
        info = {name: outcome for name, outcome in details.items() if outcome["status"] == "up"}
        error = {name: outcome for name, outcome in details.items() if outcome["status"] != "up"}
        body = {"status": "error" if error else "ok", "info": info, "error": error, "details": details}
        return (503 if error else 200), body

    async def _outcome(self, name: str) -> dict[str, str]:
        check, _ = self._checks[name]
        try:
            await asyncio.wait_for(check(), CHECK_TIMEOUT_S)
        except Exception as error:
            return {"status": "down", "message": str(error) or type(error).__name__}
        return {"status": "up"}

    def routes(self) -> list[BaseRoute]:
        """`/health`, `/ready` and `/metrics`."""

        async def health(_: Request) -> Response:
            status, body = await self.report(vital_only=True)
            return JSONResponse(body, status)

        async def ready(_: Request) -> Response:
            status, body = await self.report(vital_only=False)
            return JSONResponse(body, status)

        async def metrics(_: Request) -> Response:
            body, content_type = exposition()
            return Response(body, media_type=content_type)

        return [Route("/health", health), Route("/ready", ready), Route("/metrics", metrics)]


class PortTakenError(Exception):
    """A service's port is in use by another process."""


class HttpServer:
    """An ASGI application on a port, without signal handlers of its own."""

    def __init__(self, app: ASGIApp, host: str, port: int, **options: Any) -> None:
        self._config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=3,
            **options,
        )
        self._server = uvicorn.Server(self._config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen. Raises PortTakenError if the port is in use."""
        if not self._config.loaded:
            self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        try:
            await self._server.startup()
        except SystemExit as error:
            raise PortTakenError(f"port {self._config.port} is taken") from error
        self._task = asyncio.create_task(self._server.main_loop())

    async def stop(self) -> None:
        """Stop listening and finish what is under way, within the graceful time."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
            await self._server.shutdown()


async def serve_health(health: Health, host: str, port: int) -> HttpServer:
    """Serve the three routes alone, for a service without other HTTP. Raises PortTakenError."""
    server = HttpServer(Starlette(routes=health.routes()), host, port)
    await server.start()
    return server
