"""Requests as an attacker writes them, to every operation of the edge's document."""

import copy
import http.client
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from openspot.http.errors import ErrorBody
from openspot.http.policy import Access
from openspot.rest_edge.common.payload_digest import payload_digest
from tests.integration.whole_edge.conftest import WEBHOOK_SECRET, WholeEdge
from tests.integration.whole_edge.leaks import LEAKS
from tests.support.http_routes import all_routes, documents

DOCUMENT = documents()["rest-edge"]
POSITIVE_NUMBER = "(?=.*[1-9])"
"""How the pattern of a decimal above 0 begins."""
CALLERS = {
    f"{route.method} {route.path}": {Access.ADMIN: "admin", Access.OPERATOR: "operator"}[route.policy.access]
    for _, route in all_routes()
    if route.policy.access in (Access.ADMIN, Access.OPERATOR)
}
"""By operation that refuses a user before it looks at the request: who is heard."""
ABSENT = {"ALERTS_SILENT", "SUPERVISOR_SILENT"}
"""The codes of a documented 503: the service of operators' alerts and `openspot up` are no part of this platform."""
KNOWN_PARAMETERS = {"symbol": "BTC-USD", "asset": "BTC", "event": "order_filled", "account": "house:fees"}


@dataclass(frozen=True)
class Operation:
    """A method of a path, with what the document says of it."""

    method: str
    path: str
    described: dict[str, Any]

    @property
    def label(self) -> str:
        """Its name in test ids."""
        return f"{self.method} {self.path}"

    @property
    def target(self) -> str:
        """The path with a value for every parameter."""
        return re.sub(r"\{(\w+)\}", lambda match: KNOWN_PARAMETERS.get(match[1], "x" * 24), self.path)

    @property
    def body(self) -> dict[str, Any] | None:
        """The schema of its JSON body."""
        content = self.described.get("requestBody", {}).get("content", {}).get("application/json")
        return None if content is None else resolved(content["schema"])

    @property
    def example(self) -> dict[str, Any]:
        """The example of its body."""
        assert self.body is not None
        return copy.deepcopy(self.body["examples"][0])

    def parameters(self, place: str) -> list[str]:
        """The names of its parameters in `query` or `path`."""
        return [found["name"] for found in self.described.get("parameters", []) if found["in"] == place]

    @property
    def fields(self) -> dict[str, dict[str, Any]]:
        """The schemas of its body's properties; of several alternatives the first."""
        assert self.body is not None
        return {name: resolved(schema) for name, schema in self.body["properties"].items()}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without references, and of alternatives the first."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = schema["anyOf"][0]
    return schema


def operations() -> Iterator[Operation]:
    """Every operation of the document."""
    for path, described in DOCUMENT["paths"].items():
        for method, operation in described.items():
            yield Operation(method.upper(), path, operation)


@dataclass(frozen=True)
class Answer:
    """A response that has passed the checks that every response must pass."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def messages(self) -> list[str]:
        """What an error says."""
        message = self.body["message"]
        return message if isinstance(message, list) else [message]


class HostileClient:
    """One connection to the edge, as the user, or as an administrator or operator where only one is heard."""

    def __init__(self, edge: WholeEdge) -> None:
        address = urlsplit(edge.url)
        assert address.hostname is not None
        assert address.port is not None
        self.host, self.port = address.hostname, address.port
        self.token = edge.tokens["user"]
        self._tokens = edge.tokens
        self._connection = http.client.HTTPConnection(self.host, self.port, timeout=60)

    def __call__(self, operation: Operation, body: Any = None, *, target: str | None = None, query: str = "") -> Answer:
        """Send a request. `body` is sent as JSON, bytes as they are; `target` is a path as it stands on the wire."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        caller = CALLERS.get(operation.label)
        token = self.token if caller is None else self._tokens[caller]
        headers = {"Authorization": f"Bearer {token}"}
        if raw is not None:
            headers |= {"Content-Type": "application/json", "X-Payload-Digest": payload_digest(WEBHOOK_SECRET, raw)}
        where = (target or operation.target) + (f"?{query}" if query else "")
        self._connection.request(operation.method, where, raw, headers)
        response = self._connection.getresponse()
        return checked(operation, response.status, dict(response.getheaders()), response.read())

    def raw(self, request: bytes) -> bytes:
        """Send bytes on a connection of their own, and return the head and the body of the response."""
        with socket.create_connection((self.host, self.port), 60) as connection:
            connection.sendall(request)
            received = b""
            while b"\r\n\r\n" not in received:
                chunk = connection.recv(65_536)
                assert chunk, f"the connection ended with {received!r}"
                received += chunk
            head, _, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            assert length is not None, head
            while len(body) < int(length[1]):
                chunk = connection.recv(65_536)
                assert chunk, f"the connection ended with {received!r}"
                body += chunk
        return head + b"\r\n\r\n" + body

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def checked(operation: Operation, status: int, headers: dict[str, str], content: bytes) -> Answer:
    """The response. Fails if it is a fault, has an undocumented status or another shape, or shows the inside."""
    about = f"{operation.label}: {status} {content[:500]!r}"
    assert status < 500 or json.loads(content)["code"] in ABSENT, about
    assert str(status) in operation.described["responses"] or status in (404, 405), about
    text = content.decode()
    body = json.loads(text) if headers.get("content-type", "").startswith("application/json") else text
    if status >= 400:
        assert ErrorBody.model_validate(body).status_code == status, about
        assert not LEAKS.search(text), about
    return Answer(status, headers, body)
