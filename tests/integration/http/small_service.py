"""A service on the HTTP layer that does next to nothing: as a program it serves PORT until its input ends."""

import asyncio
import contextlib
import sys
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from openspot.http.app import make_http_app
from openspot.http.policy import PUBLIC
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.server import HttpServer, http_server
from openspot.kit.health import Health
from openspot.kit.settings import Settings
from openspot.up.services import PlatformSettings


def small_server(settings: Settings, port: int) -> HttpServer:
    """Routes that anybody may call: `GET /hello`, `POST /echo`, a large answer at `/large`, WebSockets at `/quiet`."""
    router = Router(tag="hello")

    @router.get("/hello", PUBLIC, summary="Say hello")
    async def hello(_: Request) -> Response:
        return json_response({"text": "hello"})

    @router.post("/echo", PUBLIC, summary="Say what was sent")
    async def echo(body: dict[str, Any]) -> Response:
        return json_response(body)

    @router.get("/large", PUBLIC, summary="Say a lot")
    async def large(_: Request) -> Response:
        return Response(b"x" * 20_000_000)

    async def quiet(websocket: WebSocket) -> None:
        await websocket.accept()
        with contextlib.suppress(WebSocketDisconnect):
            await websocket.receive_text()

    router.websocket("/quiet", PUBLIC, quiet)
    return http_server(make_http_app([router], title="Hello", health=Health()), settings, port, websocket=True)


async def main(port: int) -> None:
    """Serve until standard input ends."""
    server = small_server(PlatformSettings(), port)
    await server.start()
    print("listening", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
