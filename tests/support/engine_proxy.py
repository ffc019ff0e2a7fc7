"""A faulty connection to the engine: an HTTP proxy that can drop, repeat and spoil messages of the event stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession, WSMsgType, web

from openspot.kit.settings import Settings
from tests.support.ports import free_port

Events = list[dict[str, Any]]
Fault = Callable[[Events], Events | str | None]
"""Takes the events of a message. Returns the events to send instead, a text to send instead, or None for a cut."""


class EngineProxy:
    """Between a service and its engine. `fault` is applied to every message of events."""

    def __init__(self, settings: Settings) -> None:
        self._engine_url = settings.engine_url
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.fault: Fault | None = None
        self.connections = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower().startswith("x-")}
        async with ClientSession(headers=headers) as session:
            if request.path == "/ws/events":
                return await self._stream(request, session)
            async with session.get(f"{self._engine_url}{request.path_qs}") as response:
                return web.Response(
                    body=await response.read(), status=response.status, content_type=response.content_type
                )

    async def _stream(self, request: web.Request, session: ClientSession) -> web.WebSocketResponse:
        client = web.WebSocketResponse()
        await client.prepare(request)
        self.connections += 1
        async with session.ws_connect(f"{self._engine_url}{request.path_qs}", max_msg_size=0) as engine:
            gone = asyncio.ensure_future(client.receive())
            while True:
                arriving = asyncio.ensure_future(engine.receive())
                await asyncio.wait({gone, arriving}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done() or arriving.result().type != WSMsgType.TEXT:
                    arriving.cancel()
                    break
                events = json.loads(arriving.result().data)
                changed = events if self.fault is None or events[0]["type"] == "hello" else self.fault(events)
                if changed is None:
                    break
                await client.send_str(changed if isinstance(changed, str) else json.dumps(changed))
            gone.cancel()
        await client.close()
        return client


@asynccontextmanager
async def engine_proxy(settings: Settings) -> AsyncIterator[EngineProxy]:
    """A proxy that listens."""
    proxy = EngineProxy(settings)
    application = web.Application()
    application.router.add_get("/{path:.*}", proxy.handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", proxy.port).start()
    try:
        yield proxy
    finally:
        await runner.cleanup()
