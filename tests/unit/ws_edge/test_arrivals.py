"""A new socket from its first byte to its connection: its turn, its refusal byte by byte, and its place."""

from collections.abc import Callable
from typing import Any

import pytest

from openspot.http.connections import ConnectionBounds, Connections
from openspot.http.errors import HttpError
from openspot.ws_edge.handshake_gate import Arrival, HandshakeGate
from openspot.ws_edge.incoming import Turns
from tests.unit.ws_edge.scripted_connection import HANDSHAKE, ScriptedLoop, ScriptedSocket, counted

TOO_FAST = HttpError(429, "this address opens connections too fast", "TOO_MANY_REQUESTS", headers={"Retry-After": "1"})


class Connection:
    """What the gate does with the connection that it makes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.made_with = (arguments, options)
        self.calls: list[Any] = []

    def connection_made(self, transport: Any) -> None:
        """The socket is the connection's."""
        self.calls.append(transport)

    def data_received(self, data: bytes) -> None:
        """The first bytes."""
        self.calls.append(data)


class Gate:
    """The gate, with two places for sockets, and a clock of its own."""

    def __init__(self) -> None:
        self.loop = ScriptedLoop()
        self.open_connections = Connections(ConnectionBounds(total=2, per_address=1))
        self.asked: list[tuple[str, bool]] = []
        self.answer: float | HttpError = 0.0
        self.made: list[Connection] = []
        turns, refusals = (Turns(self.loop.call_later, self.loop.time) for _ in range(2))
        call_later: Any = self.loop.call_later
        self.gate = HandshakeGate(self.open_connections, self._admission, turns, refusals, self._make, call_later)

    def _admission(self, address: str, is_handshake: bool) -> float:
        self.asked.append((address, is_handshake))
        if isinstance(self.answer, HttpError):
            raise self.answer
        return self.answer

    def _make(self, *arguments: Any, **options: Any) -> Any:
        self.made.append(Connection(*arguments, **options))
        return self.made[-1]

    def arrive(self, peer: Any = ("198.51.100.7", 40_000)) -> tuple[Arrival, ScriptedSocket]:
        """A socket is accepted."""
        arrival, socket = self.gate("protocol", server=1), ScriptedSocket(peer)
        socket.protocol = arrival
        arrival.connection_made(socket)
        return arrival, socket


@pytest.fixture
def gate() -> Gate:
    return Gate()


def test_a_socket_is_served_after_its_wait_with_all_that_it_has_sent(gate: Gate) -> None:
    gate.answer = 2.0
    arrival, socket = gate.arrive()
    arrival.data_received(HANDSHAKE[:20])
    assert (gate.asked, socket.reads) == ([("198.51.100.7", True)], False)
    # The kernel had this already when reading stopped. It is not asked about twice.
    arrival.data_received(HANDSHAKE[20:])
    gate.loop.advance(1.9)
    assert (gate.made, gate.asked) == ([], [("198.51.100.7", True)])
    gate.loop.advance(0.1)
    (connection,) = gate.made
    assert connection.made_with == (("protocol",), {"server": 1})
    assert connection.calls == [socket, HANDSHAKE]
    assert (socket.protocol, socket.reads, socket.written, socket.ended) == (connection, True, [], "")
    # Nothing of the gate ends it later.
    gate.loop.advance(60.0)
    assert (socket.ended, gate.loop.timers) == ("", [])


@pytest.mark.parametrize(
    ("begin", "is_handshake"),
    [
        (b"GET / HTTP/1.1\r\n", True),
        (b"GET /?token=x HTTP/1.1\r\n", True),
        (b"GET /health HTTP/1.1\r\n", False),
        (b"POST / HTTP/1.1\r\n", False),
        (b"get / HTTP/1.1\r\n", False),
        (b" GET / HTTP/1.1\r\n", False),
        (b"G", True),
        (b"GET /", True),
        (b"GET /h", False),
        (b"P", False),
    ],
)
def test_the_first_bytes_say_whether_it_is_a_handshake(gate: Gate, begin: bytes, is_handshake: bool) -> None:
    arrival, _ = gate.arrive()
    arrival.data_received(begin)
    assert gate.asked == [("198.51.100.7", is_handshake)]


def test_a_socket_without_an_address_is_nobodys(gate: Gate) -> None:
    for peer in (None, ""):
        arrival, _ = gate.arrive(peer)
        arrival.data_received(b"GET / ")
    assert gate.asked == [("", True), ("", True)]


def test_a_refusal_is_sent_a_tenth_of_a_second_later(gate: Gate) -> None:
    before = counted("refused", status="429")
    gate.answer = TOO_FAST
    arrival, socket = gate.arrive()
    arrival.data_received(b"GET / ")
    gate.loop.advance(0.09)
    assert (socket.written, socket.ended) == ([], "")
    gate.loop.advance(0.01)
    body = (
        b'{"statusCode":429,"message":"this address opens connections too fast","error":"Too Many Requests",'
        b'"code":"TOO_MANY_REQUESTS","requestId":""}'
    )
    (written,) = socket.written
    assert (
        written.replace(b'": ', b'":').replace(b", ", b",")
        == (
            b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        )
        + body
    )
    assert (socket.ended, socket.reads, gate.made) == ("closed", False, [])
    assert counted("refused", status="429") == before + 1


def test_a_socket_that_sends_nothing_is_cut_off_after_ten_seconds(gate: Gate) -> None:
    before = counted("refused", status="cut")
    _, socket = gate.arrive()
    gate.loop.advance(9.9)
    assert socket.ended == ""
    gate.loop.advance(0.1)
    assert (socket.ended, socket.written) == ("aborted", [])
    assert counted("refused", status="cut") == before + 1


def test_a_socket_that_waits_for_its_turn_is_not_cut_off(gate: Gate) -> None:
    gate.answer = 20.0
    arrival, socket = gate.arrive()
    gate.loop.advance(9.0)
    arrival.data_received(b"GET / ")
    gate.loop.advance(19.9)
    assert (socket.ended, gate.made) == ("", [])
    gate.loop.advance(0.1)
    assert len(gate.made) == 1


def test_a_newer_socket_takes_the_place_of_one_that_waits(gate: Gate) -> None:
    _, first = gate.arrive()
    _, second = gate.arrive()
    assert (first.ended, second.ended, len(gate.open_connections)) == ("aborted", "", 1)


def test_a_socket_without_a_place_is_cut_off(gate: Gate) -> None:
    _, first = gate.arrive()
    gate.open_connections.note_request(first)
    _, second = gate.arrive()
    assert (first.ended, second.ended, len(gate.open_connections)) == ("", "aborted", 1)
    assert gate.loop.timers == [10.0]


def lose(arrival: Arrival, socket: ScriptedSocket) -> None:
    """The client ends its socket, which the event loop reports."""
    socket.close()
    arrival.connection_lost(None)


@pytest.mark.parametrize("answer", [0.5, TOO_FAST])
def test_a_socket_that_ends_gives_its_place_back_and_is_not_served(gate: Gate, answer: float | HttpError) -> None:
    gate.answer = answer
    silent, silent_socket = gate.arrive(("203.0.113.9", 1))
    waiting, waiting_socket = gate.arrive()
    waiting.data_received(b"GET / ")
    lose(silent, silent_socket)
    lose(waiting, waiting_socket)
    assert (len(gate.open_connections), gate.loop.timers) == (0, [])
    gate.loop.advance(60.0)
    assert (gate.made, waiting_socket.written, silent_socket.ended) == ([], [], "closed")


def ends_in_its_turn(gate: Gate, end: Callable[[ScriptedSocket], None]) -> ScriptedSocket:
    arrival, socket = gate.arrive()
    arrival.data_received(b"GET / ")
    end(socket)
    gate.loop.advance(1.0)
    return socket


@pytest.mark.parametrize("answer", [0.0, TOO_FAST])
def test_a_socket_that_closes_before_its_turn_gets_nothing(gate: Gate, answer: float | HttpError) -> None:
    gate.answer = answer
    before = counted("refused", status="429")
    socket = ends_in_its_turn(gate, ScriptedSocket.close)
    assert (socket.written, gate.made, counted("refused", status="429")) == ([], [], before)


def test_one_turn_serves_one_socket_once(gate: Gate) -> None:
    arrival, _ = gate.arrive()
    arrival.data_received(b"GET / ")
    assert arrival.parse_slice() is False
    refused, _ = gate.arrive(("203.0.113.9", 1))
    gate.answer = TOO_FAST
    refused.data_received(b"GET / ")
    assert refused.parse_slice() is False
    ended, socket = gate.arrive(("203.0.113.10", 1))
    socket.close()
    assert ended.parse_slice() is False
