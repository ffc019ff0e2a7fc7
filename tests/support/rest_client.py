"""A small HTTP client of the REST edge for tests, and a running edge to point it at."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.service import run
from tests.support.waiting import START_S_MAX, eventually, stretched

PREFIX = "/api/v1"
REPLY_S_MAX = stretched(60.0)


@dataclass(frozen=True)
class Reply:
    """An answer: status, headers (any case), and the body as JSON where it is JSON, else as text."""

    status: int
    headers: Any
    body: Any

    @property
    def code(self) -> str:
        """The `code` of an error body."""
        return str(self.body["code"])

    @property
    def message(self) -> Any:
        """The `message` of an error body."""
        return self.body["message"]


class RestClient:
    """Requests to one edge, all in one session of connections. `token` is sent where there is one."""

    def __init__(self, settings: Settings, token: str | None = None, base_url: str | None = None) -> None:
        """Without `base_url` the edge of `settings` is asked."""
        self.settings = settings
        self._base_url = base_url
        self.token = token
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=REPLY_S_MAX))

    def as_user(self, user_id: str, role: str = "user", session_id: str = "", life_s: int = 600) -> str:
        """Send a fresh access token of that user from now on. Returns the token."""
        now = int(time.time())
        claims = Claims(user_id, role, now + life_s, session_id=session_id)
        self.token = sign(claims, self.settings.jwt_secret, now)
        return self.token

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
        prefix: str = PREFIX,
    ) -> Reply:
        """Send a request. `body` is sent as JSON, `raw` unchanged."""
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        url = f"{self._base_url or self.settings.rest_url}{prefix}{path}"
        async with self._session.request(method, url, data=data, headers=sent, allow_redirects=False) as response:
            text = await response.text()
            is_json = bool(text) and response.headers.get("Content-Type", "").startswith("application/json")
            return Reply(response.status, response.headers, json.loads(text) if is_json else text)

    async def close(self) -> None:
        """End the connections."""
        await self._session.close()


@asynccontextmanager
async def running_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """The REST edge, started as in production and stopped cleanly at the end."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))
    client = RestClient(settings)
    try:

        async def alive() -> bool:
            if task.done():
                task.result()
            try:
                return (await client("GET", "/health/live")).status == 200
            except aiohttp.ClientError:
                return False

        await eventually(alive, START_S_MAX)
        yield client
    finally:
        await client.close()
        stop.set()
        await asyncio.wait_for(task, stretched(30))
