"""Around the service of operators' alerts: a service that is watched, and a webhook that receives."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Receiver:
    """A webhook. It answers with `status`, after `may_answer` is set; `calls` has headers and bodies."""

    status: int = 200
    calls: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of all calls."""
        return [message for _, body in self.calls for message in json.loads(body)["messages"]]

    @property
    def events(self) -> list[tuple[str, str]]:
        """Kind and event of each message."""
        return [(message["kind"], message["event"]) for message in self.messages]

    async def take(self, request: web.Request) -> web.Response:
        """Take a call."""
        self.calls.append((dict(request.headers), await request.read()))
        await self.may_answer.wait()
        return web.Response(status=self.status, headers={"Location": "/elsewhere"})


@dataclass
class Watched:
    """A service with readiness and metrics."""

    metrics: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    async def ready(self, _: web.Request) -> web.Response:
        """Its readiness."""
        return web.json_response({"details": self.details})

    async def show(self, _: web.Request) -> web.Response:
        """Its metrics."""
        return web.Response(text=self.metrics)


@asynccontextmanager
async def alert_surroundings() -> AsyncIterator[tuple[Receiver, Watched, str]]:
    """A receiver, a watched service, and the address of both: the webhook is at /hook."""
    receiver, watched = Receiver(), Watched()
    receiver.may_answer.set()
    application = web.Application()
    application.add_routes(
        [
            web.post("/hook", receiver.take),
            web.get("/ready", watched.ready),
            web.get("/metrics", watched.show),
        ]
    )
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server = site._server
    assert isinstance(server, asyncio.Server)
    try:
        yield receiver, watched, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        receiver.may_answer.set()
        await runner.cleanup()
