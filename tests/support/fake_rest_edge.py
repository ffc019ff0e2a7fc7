"""A stand-in for the REST edge: returns the replies that a test puts in, and remembers the requests."""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

CUT = object()
"""Instead of a reply, the connection is cut."""


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    authorization: str | None
    body: Any


@dataclass
class FakeRestEdge:
    """`answers` are given in order: (status, body, headers) or CUT."""

    url: str = ""
    answers: deque[Any] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)

    def answer(self, status: int, body: Any = None, **headers: str) -> None:
        """Add a reply; an underscore in a header's name stands for a hyphen."""
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))

    def refuse(self, status: int, code: str, message: str | list[str] = "no", **headers: str) -> None:
        """Add a refusal in the platform's error shape."""
        body = {"statusCode": status, "message": message, "error": "x", "code": code, "requestId": "r1"}
        self.answer(status, body, **headers)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        self.asked.append(
            Asked(
                request.method,
                request.raw_path.partition("?")[0],
                dict(request.query),
                request.headers.get("Authorization"),
                msgspec.json.decode(data) if data else None,
            )
        )
        given = self.answers.popleft()
        if given is CUT:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        status, body, headers = given
        encoded = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(status=status, body=encoded, headers={"Content-Type": "application/json"} | headers)


@asynccontextmanager
async def running_fake() -> AsyncIterator[FakeRestEdge]:
    """A stand-in on a free port."""
    fake = FakeRestEdge()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", fake._handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fake
    await runner.cleanup()
