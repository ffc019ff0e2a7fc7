"""Requests to an ASGI application in this process, without a server."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Reply:
    """What the application sent."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The value of a header, None if it is absent. Fails if it was sent twice."""
        values = [value.decode() for given, value in self.headers if given.decode().lower() == name.lower()]
        assert len(values) <= 1, f"{name} was sent twice"
        return values[0] if values else None


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    query: str = "",
    raw_headers: Sequence[tuple[bytes, bytes]] = (),
) -> Reply:
    """One request."""
    given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    if body:
        given.append((b"content-length", b"%d" % len(body)))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [*given, *raw_headers], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "state": {},
    }  # fmt: skip
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    answer = Reply()

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not answer.status, "an answer begins once"
            answer.status, answer.headers = message["status"], list(message["headers"])
        else:
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer
