"""Requests and replies in frames over real connections: what arrives, what is refused, and what a lost side leaves."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from openspot.http.server import listen
from openspot.kit import frames
from openspot.kit.frames import FrameClient, FrameRefusedError, FrameServer, NoReplyError, NotConnectedError
from openspot.kit.service_credential import ServiceCredential, headers
from openspot.up.embedded_nats import free_port
from tests.support.waiting import eventually, stretched

HOST = "127.0.0.1"
CREDENTIAL = headers("key", "secret")
GREETING = json.dumps({"version": 1, **CREDENTIAL}).encode()


class Methods:
    """What the server answers: `echo` the message, `wait` until `go_on` is set, `refuse`, `fail`."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.began = 0

    async def answer(self, name: str, message: bytes) -> bytes:
        self.began += 1
        if name == "wait":
            await self.go_on.wait()
        if name == "refuse":
            raise FrameRefusedError(7, "not for you")
        if name == "fail":
            raise LookupError("secret detail")
        return message


class Peer:
    """A server with its methods, and the clients that were made for it."""

    def __init__(self) -> None:
        self.port = free_port()
        self.methods = Methods()
        self.server = FrameServer(self.methods.answer, ServiceCredential("key", "secret"))
        self.clients: list[FrameClient] = []

    async def start(self) -> None:
        await self.server.start(listen(HOST, self.port))

    def client(self, **credential: str) -> Callable[..., Coroutine[Any, Any, bytes]]:
        """Sends a request with some time for its reply."""
        made = FrameClient(HOST, self.port, credential or CREDENTIAL)
        self.clients.append(made)

        async def request(name: str, message: bytes = b"", timeout_s: float = 30.0) -> bytes:
            return await made.request(name, message, stretched(timeout_s), stretched(5.0))

        return request


@asynccontextmanager
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    await made.start()
    try:
        yield made
    finally:
        for client in made.clients:
            await client.close()
        await made.server.stop(0)


def frame(request_id: int, byte: int, payload: bytes) -> bytes:
    return struct.pack("<IIB", len(payload), request_id, byte) + payload


async def sent_raw(port: int, data: bytes) -> bytes:
    """All that the server sends to whoever sends this, until it ends the connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(data)
    try:
        async with asyncio.timeout(stretched(10)):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_many_requests_at_once_get_each_their_own_reply_in_any_order() -> None:
    async with peer() as served:
        request = served.client()
        slow = asyncio.create_task(request("wait", b"slow"))
        numbers = [str(number).encode() for number in range(2_000)]
        assert await asyncio.gather(*(request("echo", number) for number in numbers)) == numbers
        assert not slow.done()
        served.methods.go_on.set()
        assert await slow == b"slow"


async def test_long_messages_arrive_whole_beside_short_ones() -> None:
    long = bytes(range(256)) * 4 * 4_000
    async with peer() as served:
        request = served.client()
        found = await asyncio.gather(
            request("echo", long), request("echo"), request("echo", long), request("echo", b"1")
        )
        assert found == [long, b"", long, b"1"]


async def test_what_is_too_long_for_a_frame_is_refused_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with peer() as served:
        request = served.client()
        slow = asyncio.create_task(request("wait", b"slow"))
        longest = bytes(frames.MESSAGE_BYTES_MAX - len("echo"))
        assert await request("echo", longest) == longest
        with pytest.raises(FrameRefusedError, match=r"^the message has 4194301 bytes, too many$") as refused:
            await request("echo", longest + b"1")
        assert refused.value.status == 8
        monkeypatch.setattr(frames, "REPLY_BYTES_MAX", 10)
        assert await request("echo", b"1234567890") == b"1234567890"
        with pytest.raises(FrameRefusedError, match=r"^the reply has 11 bytes, more than 10$") as refused:
            await request("echo", b"12345678901")
        assert refused.value.status == 8
        served.methods.go_on.set()
        assert await slow == b"slow"


async def test_a_refusal_has_its_status_and_its_reason_and_a_fault_shows_only_its_kind() -> None:
    async with peer() as served:
        request = served.client()
        with pytest.raises(FrameRefusedError, match=r"^not for you$") as refused:
            await request("refuse")
        assert refused.value.status == 7
        with pytest.raises(FrameRefusedError, match=r"^unexpected LookupError$") as failed:
            await request("fail")
        assert failed.value.status == 2
        assert await request("echo", b"on") == b"on"


@pytest.mark.parametrize(
    "credential",
    [{"x-api-key": "key"}, CREDENTIAL | {"x-api-secret": "other"}, CREDENTIAL | {"x-participant-type": ""}],
)
async def test_without_the_credential_nothing_is_answered(credential: dict[str, str]) -> None:
    async with peer() as served:
        request = served.client(**credential)
        for _ in range(2):
            with pytest.raises(FrameRefusedError, match="a service's key and secret are required") as refused:
                await request("echo")
            assert refused.value.status == 16
        assert served.methods.began == 0
        greeting = json.dumps({"version": 1, **credential}).encode()
        replied = await sent_raw(served.port, frame(0, 0, greeting) + frame(1, 4, b"echo"))
        assert replied == frame(0, 16, b"a service's key and secret are required")
        assert served.methods.began == 0


@pytest.mark.parametrize(
    "data",
    [
        frame(1, 4, b"echo"),
        frame(1, 0, GREETING),
        frame(0, 0, b"[]"),
        frame(0, 0, b"no JSON"),
        frame(0, 0, b"[" * 4_000),
        frame(0, 0, b"\xff" * 10),
        frame(0, 0, GREETING.replace(b"1", b"2", 1)),
        struct.pack("<IIB", 4_097, 0, 0),
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
    ids=["no greeting", "id", "list", "text", "deep", "bytes", "version", "long", "http"],
)
async def test_whoever_does_not_greet_is_cut_off_without_a_word(data: bytes) -> None:
    async with peer() as served:
        assert await sent_raw(served.port, data) == b""
        assert await served.client()("echo", b"on") == b"on"


@pytest.mark.parametrize(
    "data",
    [frame(1, 5, b"echo"), frame(1, 1, b"\xff"), struct.pack("<IIB", 4 * 1024 * 1024 + 1, 1, 4)],
    ids=["short", "name", "long"],
)
async def test_a_malformed_request_ends_its_connection_alone(data: bytes) -> None:
    async with peer() as served:
        other = served.client()
        slow = asyncio.create_task(other("wait", b"other"))
        assert await sent_raw(served.port, frame(0, 0, GREETING) + data) in (b"", frame(0, 0, b""))
        served.methods.go_on.set()
        assert await slow == b"other"


async def test_whoever_connects_and_says_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "GREETING_S_MAX", 0.05)
    async with peer() as served:
        assert await sent_raw(served.port, b"") == b""


async def test_a_caller_that_has_greeted_may_be_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "GREETING_S_MAX", 0.05 * stretched(1))
    async with peer() as served:
        request = served.client()
        assert await request("echo") == b""
        (first,) = served.server.connections
        with pytest.raises(NoReplyError):
            await request("wait", b"", 0.1)
        assert await request("echo") == b""
        assert set(served.server.connections) == {first}


async def test_no_two_requests_that_wait_have_the_same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_ID_MAX", 3)
    async with peer() as served:
        request = served.client()
        slow = asyncio.create_task(request("wait", b"slow"))
        await eventually(lambda: served.methods.began == 1)
        for number in range(6):
            assert await request("echo", b"%d" % number) == b"%d" % number
        served.methods.go_on.set()
        assert await slow == b"slow"


async def test_more_connections_than_a_server_has_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "CONNECTIONS_MAX", 1)
    async with peer() as served:
        assert await served.client()("echo", b"first") == b"first"
        assert await sent_raw(served.port, frame(0, 0, GREETING)) == b""
        assert len(served.server.connections) == 1


async def test_a_caller_of_more_than_may_be_under_way_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "UNDER_WAY_MAX", 2)
    # Longer than what a server reads at once.
    message = bytes(1024 * 1024)
    async with peer() as served:
        request = served.client()
        tasks = [asyncio.create_task(request("wait", message)) for _ in range(20)]
        await eventually(lambda: served.methods.began >= 2)
        assert await served.client()("echo", b"other") == b"other"
        assert served.methods.began <= 4
        served.methods.go_on.set()
        assert await asyncio.gather(*tasks) == [message] * 20


async def test_without_a_server_nothing_is_sent_and_a_later_one_is_found() -> None:
    served = Peer()
    client = FrameClient(HOST, served.port, CREDENTIAL)
    try:
        with pytest.raises(NotConnectedError):
            await client.request("echo", b"", 30.0, 0.05)
        await served.start()
        assert await client.request("echo", b"found", stretched(30), stretched(30)) == b"found"
    finally:
        await client.close()
        await served.server.stop(0)


async def test_a_lost_connection_leaves_its_requests_without_a_reply_and_the_next_request_connects() -> None:
    async with peer() as served:
        request = served.client()
        waiting = asyncio.create_task(request("wait"))
        await eventually(lambda: served.methods.began == 1)
        for connection in list(served.server.connections):
            connection.end()
        with pytest.raises(NoReplyError, match="the connection was lost"):
            await waiting
        assert await request("echo", b"again") == b"again"


async def test_a_request_without_a_reply_in_time_is_given_up_and_its_late_reply_is_nobodys() -> None:
    async with peer() as served:
        request = served.client()
        assert await request("echo", b"1") == b"1"
        with pytest.raises(NoReplyError, match=r"no reply within"):
            await request("wait", b"late", 0.05 / stretched(1))
        served.methods.go_on.set()
        assert await request("echo", b"2") == b"2"
        assert len(served.server.connections) == 1


async def test_a_server_that_is_silent_for_long_is_left_and_a_talking_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with peer() as served:
        request = served.client()
        assert await request("echo") == b""
        (first,) = served.server.connections
        monkeypatch.setattr(frames, "SILENT_S_MAX", 0.05)
        # The reply that comes meanwhile shows that the server is there.
        slow = asyncio.create_task(request("wait", b"slow"))
        await eventually(lambda: served.methods.began == 2)
        assert await request("echo") == b""
        monkeypatch.setattr(frames, "SILENT_S_MAX", stretched(60.0))
        with pytest.raises(NoReplyError):
            await request("wait", b"", 0.01 / stretched(1))
        assert set(served.server.connections) == {first}
        monkeypatch.setattr(frames, "SILENT_S_MAX", 0.0)
        with pytest.raises(NoReplyError):
            await request("wait", b"", 0.01 / stretched(1))
        assert await request("echo", b"again") == b"again"
        # A server that was only starved still replies to what it has.
        assert len(served.server.connections) == 2
        served.methods.go_on.set()
        assert await slow == b"slow"
        await eventually(lambda: first not in served.server.connections)
        assert await request("echo", b"and again") == b"and again"
        assert len(served.server.connections) == 1


async def test_closing_a_client_ends_what_waits_on_a_connection_that_it_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "SILENT_S_MAX", 0.0)
    async with peer() as served:
        request = served.client()
        waiting = asyncio.create_task(request("wait"))
        await eventually(lambda: served.methods.began == 1)
        with pytest.raises(NoReplyError, match=r"no reply within"):
            await request("wait", b"", 0.01 / stretched(1))
        assert await request("echo") == b""
        await served.clients[0].close()
        with pytest.raises(NoReplyError, match="closed"):
            await waiting


async def test_a_server_that_stops_answers_what_is_under_way_and_takes_nothing_more() -> None:
    async with peer() as served:
        request = served.client()
        under_way = asyncio.create_task(request("wait", b"answered"))
        await eventually(lambda: served.methods.began == 1)
        stopping = asyncio.create_task(served.server.stop(stretched(10)))
        await asyncio.sleep(0)
        late = asyncio.create_task(request("echo", b"late"))
        served.methods.go_on.set()
        assert await under_way == b"answered"
        await stopping
        with pytest.raises(NoReplyError):
            await late
        assert served.methods.began == 1


async def test_closing_a_client_ends_its_waiting_requests() -> None:
    async with peer() as served:
        request = served.client()
        waiting = asyncio.create_task(request("wait"))
        await eventually(lambda: served.methods.began == 1)
        await served.clients[0].close()
        with pytest.raises(NoReplyError, match="closed"):
            await waiting
