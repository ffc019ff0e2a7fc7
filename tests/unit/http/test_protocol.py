"""What a connection sends for bytes that are no request: the whole reply, and the end of the connection."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn import Config
from uvicorn.server import ServerState

from openspot.http.connections import ConnectionBounds, Connections
from openspot.http.errors import HttpError
from openspot.http.protocol import HEAD_BYTES_MAX, GuardedProtocol, refusal_bytes


class Transport(asyncio.Transport):
    """Keeps what is written, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("203.0.113.1", 5), "sockname": ("127.0.0.1", 80)})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


async def application(_scope: AsgiScope, _receive: Receive, send: Send) -> None:
    start: Message = {"type": "http.response.start", "status": 204, "headers": []}
    await send(start)
    await send({"type": "http.response.body"})


async def connected() -> tuple[GuardedProtocol, Transport]:
    config = Config(application, ws="none", lifespan="off", http=GuardedProtocol)
    config.load()
    protocol = GuardedProtocol(
        config, ServerState(), {}, open_connections=Connections(ConnectionBounds(10, 10))
    )  # fmt: skip
    transport = Transport()
    protocol.connection_made(transport)
    return protocol, transport


def refusal(message: str) -> bytes:
    """The reply to a malformed request."""
    body = (
        f'{{"statusCode":400,"message":"{message}","error":"Bad Request","code":"MALFORMED_REQUEST","requestId":""}}'
    ).encode()
    head = (
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n",
    ],
)
async def test_bytes_that_are_no_http_are_refused_as_malformed(data: bytes) -> None:
    protocol, transport = await connected()
    protocol.data_received(data)
    assert transport.written == refusal("the request is not valid HTTP")
    assert transport.closed
    protocol.data_received(data)
    protocol.connection_lost(None)
    assert transport.written == refusal("the request is not valid HTTP")


async def test_framing_beyond_a_bound_is_refused_as_malformed() -> None:
    protocol, transport = await connected()
    protocol.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    # Five bytes carry each byte of the body: what is beyond it is counted, in whatever pieces it comes.
    protocol.data_received(b"1;" + b"x" * (HEAD_BYTES_MAX - 2))
    assert (transport.written, transport.closed) == (b"", False)
    protocol.data_received(b"x")
    assert transport.written == refusal("the framing of the body is too large")
    assert transport.closed
    protocol.connection_lost(None)


def test_a_refusal_without_a_request_is_a_whole_response_with_its_headers() -> None:
    body = b'{"statusCode":503,"message":"later","error":"Service Unavailable","code":"X","requestId":""}'
    assert refusal_bytes(HttpError(503, "later", "X", headers={"Retry-After": "1"})) == (
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
        b"content-length: 92\r\nconnection: close\r\n\r\n" + body
    )
