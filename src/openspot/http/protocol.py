"""uvicorn's HTTP and WebSocket protocols, with the bounds that uvicorn does not have (docs/adr/0010).

A head has at most HEAD_BYTES_MAX bytes and HEADERS_MAX headers, and is complete within HEAD_S_MAX seconds. A client
that does not take its response, or its messages, within SEND_S_MAX seconds is cut off. A connection that ends with a
response while its body still comes is half closed first: a client that goes on sending would lose it.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

from prometheus_client import Counter
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from openspot.http.connections import Connections
from openspot.http.context import DISCARDED_BYTES_MAX
from openspot.http.errors import HttpError, error_body

HEAD_BYTES_MAX = 65_536
HEADERS_MAX = 100
HEAD_S_MAX = 10.0
SEND_S_MAX = 30.0
KEEP_ALIVE_S = 75
STOPPING_BODY_S_MAX = 1.0
"""A body that is still coming when the server stops is waited for that long."""
LINGER_S_MAX = 30.0
LINGER_BYTES_MAX = 32 * 1024 * 1024
"""What is left of a body after its response is read and dropped within these bounds."""
FRAGMENTS_MAX = 256
"""A WebSocket message comes in at most so many parts."""
WRITE_BUFFER_BYTES_MAX = 4 * 1024 * 1024
"""More bytes must not wait for a WebSocket client."""

STOPPING = HttpError(503, "the service stops, and the request had not arrived: send it again", "STOPPING")

REFUSED = Counter("openspot_http_connections_ended_total", "Connections that the server ended", ["reason"])


class _ResponseTransport:
    """A transport as a response uses it. Where the response ends the connection, the protocol decides how."""

    __slots__ = ("close", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, end: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = end


class GuardedProtocol(HttpToolsProtocol):
    """One connection. It waits for a request head, or reads a body, or works on a response."""

    def __init__(self, *arguments: Any, open_connections: Connections, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._open_connections = open_connections
        self._waits_for_head = True
        self._has_begun = False
        self._heads = 0
        self._chunk_bytes = 0
        self._head_bytes = 0
        """Bytes of the current head in earlier chunks."""
        self._framing_bytes = 0
        """Bytes of the current message after its head that are not body: chunk sizes, extensions, trailers."""
        self._discarded_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._send_deadline: asyncio.TimerHandle | None = None
        self._refusal: HttpError | None = None
        self._is_upgraded = False
        self._lingers = False
        self._server_stops = False
        self._responses: _ResponseTransport | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection if there is a place for it, else refuse it."""
        super().connection_made(transport)
        self._responses = _ResponseTransport(transport, self._end)
        address = self.client[0] if self.client else ""
        if self._open_connections.admit(transport, address, self._cut):
            self._start_deadline(HEAD_S_MAX)
        else:
            self._refuse(HttpError(503, "too many connections", "TOO_MANY_CONNECTIONS"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the connection's place back."""
        self._stop_deadline()
        self.resume_writing()
        self._open_connections.remove(self.transport)
        if self._responses is not None:
            # What has ended must not wait for the garbage collector.
            self._responses.close = self.transport.close
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops: end the connection now, or after the request that is under way."""
        super().shutdown()
        self._server_stops = True
        if not self._waits_for_head and not self.transport.is_closing():
            self._stop_deadline()
            self._start_deadline(STOPPING_BODY_S_MAX)

    def pause_writing(self) -> None:
        """The client does not take its response as fast as it comes."""
        super().pause_writing()
        self._send_deadline = self.loop.call_later(SEND_S_MAX, self._cut)

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        self._stop_send_deadline()

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and end the connection if what has come breaks a bound."""
        if self.transport.is_closing():
            return
        heads, waited = self._heads, self._waits_for_head
        self._chunk_bytes = len(data)
        if not waited:
            self._framing_bytes += len(data)
        super().data_received(data)
        if self._is_upgraded or self.transport.is_closing():
            return
        if not self._waits_for_head:
            if self._framing_bytes > HEAD_BYTES_MAX:
                self._refuse(HttpError(400, "the framing of the body is too large", "MALFORMED_REQUEST"))
            return
        all_of_it_is_head = waited and self._heads == heads
        if all_of_it_is_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(head_too_large())
                return
        if (all_of_it_is_head or self._has_begun) and self._deadline is None:
            self._start_deadline(HEAD_S_MAX)

    # The parser's callbacks

    def on_message_begin(self) -> None:
        """The first byte of a request has come."""
        super().on_message_begin()
        self._has_begun = True

    def on_headers_complete(self) -> None:
        """A head is complete: begin to work on it, unless it is too large."""
        if len(self.headers) > HEADERS_MAX or (
            self._head_bytes + self._chunk_bytes > HEAD_BYTES_MAX and self._head_size() > HEAD_BYTES_MAX
        ):
            self._refusal = head_too_large()
            raise ValueError("the head is too large")
        self._stop_deadline()
        self._waits_for_head = False
        self._heads += 1
        self._framing_bytes = self._discarded_bytes = 0
        self._open_connections.note_request(self.transport)
        known = self.cycle
        super().on_headers_complete()
        if self.cycle is not known:
            self.cycle.transport = cast(asyncio.Transport, self._responses)

    def on_body(self, body: bytes) -> None:
        """A part of a body has come. Parts that come after the response are dropped, up to a bound."""
        self._framing_bytes -= len(body)
        super().on_body(body)
        if self.cycle.response_complete:
            self._discarded_bytes += len(body)
            if self._discarded_bytes > LINGER_BYTES_MAX:
                self.transport.close()
            elif self._discarded_bytes > DISCARDED_BYTES_MAX:
                self._linger()

    def on_message_complete(self) -> None:
        """The request is complete: what comes next is another head."""
        super().on_message_complete()
        if self._lingers:
            self.transport.close()
            return
        self._waits_for_head = True
        self._has_begun = False
        self._head_bytes = 0
        self._stop_deadline()
        if self.cycle is not None and self.cycle.response_complete:
            # The response came before the end of the body, which then stopped the timer of the idle connection.
            self._start_deadline(KEEP_ALIVE_S)

    def on_response_complete(self) -> None:
        """The response is sent."""
        if self._lingers:
            self.pipeline.clear()
        super().on_response_complete()
        if self.transport.is_closing() or self.pipeline:
            return
        self._open_connections.note_response(self.transport)
        if not self._waits_for_head and self._deadline is None:
            self._start_deadline(LINGER_S_MAX)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over. No deadline of HTTP may write into it from now on."""
        self._is_upgraded = True
        self._stop_deadline()
        self._stop_send_deadline()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser could not read, or what `on_headers_complete` refused."""
        if self._lingers:
            self.transport.close()
            return
        self._refuse(self._refusal or HttpError(400, "the request is not valid HTTP", "MALFORMED_REQUEST"))

    # Endings

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _refuse(self, error: HttpError) -> None:
        """Respond with an error and end the connection."""
        REFUSED.labels(error.code).inc()
        self._stop_deadline()
        self.transport.write(refusal_bytes(error))
        self.transport.close()

    def _end(self) -> None:
        """End the connection after a response: at once if the request is complete, else when its body has been read."""
        if self._waits_for_head or self._server_stops:
            self.transport.close()
        else:
            self._linger()

    def _linger(self) -> None:
        """Send nothing more, and drop what still comes of the body."""
        if self._lingers or self.transport.is_closing():
            return
        self._lingers = True
        self._stop_deadline()
        self._start_deadline(LINGER_S_MAX)
        self.transport.write_eof()

    def _cut(self) -> None:
        REFUSED.labels("CUT").inc()
        self.transport.abort()

    def _start_deadline(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self._on_deadline)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _stop_send_deadline(self) -> None:
        if self._send_deadline is not None:
            self._send_deadline.cancel()
            self._send_deadline = None

    def _on_deadline(self) -> None:
        self._deadline = None
        if self._lingers:
            self._cut()
        elif self._server_stops:
            # Behind a request that is still worked on, this answer would be taken for its own.
            if not self.pipeline and not self.cycle.response_started:
                self._refuse(STOPPING)
        elif not self.transport.is_closing():
            self._refuse(HttpError(408, "the request did not arrive in time"))


class GuardedWebSocketProtocol(WebSocketsSansIOProtocol):
    """An upgraded connection. It keeps its place until it ends."""

    def __init__(self, *arguments: Any, open_connections: Connections, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._open_connections = open_connections
        self._send_deadline: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the connection's place back."""
        self._stop_send_deadline()
        self._open_connections.remove(self.transport)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take its messages as fast as they come."""
        super().pause_writing()
        self._send_deadline = self.loop.call_later(SEND_S_MAX, self._cut)

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        self._stop_send_deadline()

    def handle_ping(self) -> None:
        """Answer a ping. A client that does not take the pongs is cut off."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > WRITE_BUFFER_BYTES_MAX:
            self._cut()

    def handle_cont(self, event: Frame) -> None:
        """A further part of a message has come. Empty parts have no bytes that could be too many."""
        if len(self.frames) >= FRAGMENTS_MAX:
            self._cut()
        else:
            super().handle_cont(event)

    def _cut(self) -> None:
        REFUSED.labels("CUT").inc()
        self.transport.abort()

    def _stop_send_deadline(self) -> None:
        if self._send_deadline is not None:
            self._send_deadline.cancel()
            self._send_deadline = None


def refusal_bytes(error: HttpError) -> bytes:
    """A response to data that is not a request yet. It announces the end of the connection."""
    body = error_body(error, "")
    phrase = HTTPStatus(error.status_code).phrase
    given = "".join(f"{name.lower()}: {value}\r\n" for name, value in (error.headers or {}).items())
    head = f"HTTP/1.1 {error.status_code} {phrase}\r\ncontent-type: application/json\r\n{given}"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


def head_too_large() -> HttpError:
    """The refusal of a head beyond a bound."""
    return HttpError(431, f"a request head has at most {HEAD_BYTES_MAX} bytes and {HEADERS_MAX} headers")
