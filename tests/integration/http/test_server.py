"""The server under attack: an attacker and an ordinary client side by side, and the ordinary client is served."""

import asyncio
import gc
import json
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn

from openspot.http import protocol
from openspot.http import server as server_module
from openspot.http.server import FILES_RESERVED, HttpServer, PortTakenError, connection_bounds, listen
from openspot.kit.settings import Settings
from openspot.up.services import PlatformSettings
from tests.integration.http.small_service import small_server
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, port: int) -> "Client":
        return cls(*await asyncio.open_connection(HOST, port))

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of the next answer."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), stretched(20))
        status, *lines = head.decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return int(status.split()[1]), headers, await self.reader.readexactly(int(headers["content-length"]))

    async def get(self, path: str = "/hello", *headers: str) -> int:
        """The status of an ordinary request."""
        lines = "".join(f"{header}\r\n" for header in headers)
        self.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
        return (await self.answer())[0]

    async def is_closed(self) -> bool:
        """Read to the end of the connection."""
        try:
            while await asyncio.wait_for(self.reader.read(65_536), stretched(20)):
                pass
        except ConnectionError:
            pass
        return True

    def close(self) -> None:
        self.writer.close()


@pytest.fixture
async def port(settings_without_servers: Settings) -> AsyncIterator[int]:
    """A server of this process with room for eight connections, four of one address."""
    number = free_port()
    server = small_server(settings_without_servers, number)
    await server.start()
    yield number
    await server.stop()


@pytest.fixture
def settings_without_servers() -> Settings:
    return PlatformSettings(http_connections_max=8, http_connections_per_address=4)


async def test_keep_alive_and_pipelining_work_as_ever(port: int) -> None:
    client = await Client.connect(port)
    for _ in range(3):
        assert await client.get() == 200
    request = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
    client.send(request * 5)
    for _ in range(5):
        status, _, body = await client.answer()
        assert (status, json.loads(body)) == (200, {"text": "hello"})
    for byte in request:
        client.send(bytes([byte]))
        await client.writer.drain()
    assert (await client.answer())[0] == 200
    client.close()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 65_000 + b"\r\n\r\n", 200),
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 66_000 + b"\r\n\r\n", 431),
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 66_000, 431),
        (b"GET /hello?" + b"x" * 66_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET /hello HTTP/1.1\r\n" + b"A: b\r\n" * 100 + b"\r\n", 200),
        (b"GET /hello HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n", 431),
        (b"NONSENSE\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
    ],
)
async def test_a_head_beyond_a_bound_is_refused_and_the_connection_closed(port: int, head: bytes, status: int) -> None:
    client = await Client.connect(port)
    client.send(head)
    answered, headers, body = await client.answer()
    assert answered == status
    if status != 200:
        assert json.loads(body)["statusCode"] == status
        assert headers["content-type"] == "application/json"
        assert await client.is_closed()
    client.close()


async def test_a_head_without_end_grows_no_memory_and_stops_nobody(port: int) -> None:
    ordinary, attacker = await Client.connect(port), await Client.connect(port)
    attacker.send(b"GET / HTTP/1.1\r\nX-Endless: ")
    sent = 0

    async def attack() -> None:
        nonlocal sent
        while sent < 80_000_000:
            attacker.send(b"x" * 65_536)
            sent += 65_536
            await attacker.writer.drain()

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(attack(), stretched(20))
    # Cut off long before the end: what lay in the sockets' buffers was lost.
    assert sent < 20_000_000
    assert await ordinary.get() == 200
    ordinary.close()


async def test_a_slow_head_is_closed_and_a_slow_next_head_too(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_S_MAX", 0.3)
    ordinary = await Client.connect(port)
    assert await ordinary.get() == 200
    silent = await Client.connect(port)
    assert (await silent.answer())[0] == 408
    assert await silent.is_closed()
    slow = await Client.connect(port)
    slow.send(b"GET /hello HTTP/1.1\r\nHost:")
    assert (await slow.answer())[0] == 408
    later = await Client.connect(port)
    assert await later.get() == 200
    later.send(b"GET /he")
    assert (await later.answer())[0] == 408
    drip = await Client.connect(port)
    assert await drip.get() == 200
    # Empty lines before a request are not one.
    drip.send(b"\r\n")
    assert (await drip.answer())[0] == 408
    # Between two requests a client may wait: nothing has begun.
    assert await ordinary.get() == 200


async def test_no_deadline_of_requests_reaches_a_websocket(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "KEEP_ALIVE_S", 0.1)
    monkeypatch.setattr(protocol, "HEAD_S_MAX", 0.3)
    client = await Client.connect(port)
    assert await client.get() == 200
    # The connection of an earlier request, as clients with a pool use it.
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    client.send(f"GET /quiet HTTP/1.1\r\nHost: x\r\n{upgrade}Sec-WebSocket-Key: {'a' * 22}==\r\n\r\n".encode())
    head = await asyncio.wait_for(client.reader.readuntil(b"\r\n\r\n"), stretched(20))
    assert head.startswith(b"HTTP/1.1 101 ")
    silent = await Client.connect(port)
    assert await silent.is_closed()
    ping, pong = b"\x89\x80" + bytes(4), b"\x8a\x00"
    client.send(ping)
    assert await asyncio.wait_for(client.reader.readexactly(2), stretched(20)) == pong
    client.close()


async def test_trailers_without_end_are_refused(port: int) -> None:
    client = await Client.connect(port)
    client.send(b"GET /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ")
    assert (await client.answer())[0] == 200
    client.send(b"x" * 200_000)
    assert await client.is_closed()


async def test_a_body_that_nobody_reads_is_thrown_away_up_to_a_bound(port: int) -> None:
    client = await Client.connect(port)
    client.send(b"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n")
    assert (await client.answer())[0] == 200
    client.send(b"x" * 500_000)
    assert await client.get() == 200
    client.send(b"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
    assert (await client.answer())[0] == 200

    async def flood() -> None:
        for _ in range(500):
            client.send(b"x" * 100_000)
            await client.writer.drain()

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(flood(), stretched(20))


@pytest.mark.parametrize("headers", ["", "Connection: close\r\n"], ids=["kept", "closed"])
async def test_whoever_sends_a_large_body_before_reading_gets_the_answer(port: int, headers: str) -> None:
    client = await Client.connect(port)
    client.send(f"GET /hello HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: 20000000\r\n\r\n".encode())
    for _ in range(200):
        client.send(b"x" * 100_000)
        await client.writer.drain()
    assert (await client.answer())[0] == 200
    assert await client.is_closed()


async def test_a_refused_upload_that_goes_on_too_slowly_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LINGER_S_MAX", 0.3)
    before = protocol.REFUSED.labels("CUT")._value.get()
    client = await Client.connect(port)
    client.send(b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9000000\r\n\r\n")
    assert (await client.answer())[0] == 200
    # The server has ended its half.
    assert await client.reader.read() == b""

    async def is_cut() -> bool:
        client.send(b"x")
        return bool(protocol.REFUSED.labels("CUT")._value.get() > before)

    await eventually(is_cut)
    client.close()


BODY = b'{"text":"hello"}'


async def with_half_a_body(port: int) -> Client:
    client = await Client.connect(port)
    assert await client.get() == 200
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
    client.send(head.encode() + BODY[:8])
    return client


async def test_a_body_that_has_not_come_when_the_server_stops_is_refused_and_stops_nothing(
    settings_without_servers: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(protocol, "STOPPING_BODY_S_MAX", 0.1)
    monkeypatch.setattr(server_module, "GRACEFUL_S", 60)
    number = free_port()
    server = small_server(settings_without_servers, number)
    await server.start()
    clients = [await with_half_a_body(number) for _ in range(3)]
    await eventually(lambda: len(server._server.server_state.tasks) == len(clients))
    await server.stop()
    for client in clients:
        status, headers, body = await client.answer()
        assert (status, headers["connection"], json.loads(body)["code"]) == (503, "close", "STOPPING")
        assert await client.is_closed()
    # uvicorn cancels what does not end in time, and shows where it was.
    assert capsys.readouterr().err == ""


async def test_a_body_that_comes_while_the_server_stops_is_answered(
    settings_without_servers: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A slow machine may take longer than the server waits to see that it stops.
    monkeypatch.setattr(protocol, "STOPPING_BODY_S_MAX", 60)
    monkeypatch.setattr(server_module, "GRACEFUL_S", 60)
    number = free_port()
    server = small_server(settings_without_servers, number)
    await server.start()
    client = await with_half_a_body(number)
    await eventually(lambda: server._server.server_state.tasks)
    stop = asyncio.create_task(server.stop())

    async def stops() -> bool:
        try:
            (await Client.connect(number)).close()
        except ConnectionRefusedError:
            return True
        return False

    await eventually(stops)
    client.send(BODY[8:])
    status, headers, body = await client.answer()
    assert (status, headers["connection"], json.loads(body)) == (200, "close", {"text": "hello"})
    await stop


async def test_no_pipelined_request_is_begun_when_the_answer_before_it_ends_the_connection(port: int) -> None:
    client = await Client.connect(port)
    hello = b"GET /hello HTTP/1.1\r\nHost: x\r\n"
    client.send(hello + b"Connection: close\r\n\r\n" + hello + b"Content-Length: 9\r\n\r\nx")
    assert (await client.answer())[0] == 200
    assert await client.reader.read() == b""
    client.send(b"x" * 8)
    assert await client.is_closed()


async def test_an_ended_connection_leaves_nothing_to_the_garbage_collector(port: int) -> None:
    def open_here() -> list[protocol.GuardedProtocol]:
        # By `type`: `isinstance` asks a weak proxy for the class of what it stands for, which may be gone.
        found = [each for each in gc.get_objects() if issubclass(type(each), protocol.GuardedProtocol)]
        return [each for each in found if each.server is not None and each.server[1] == port]

    gc.disable()
    try:
        client = await Client.connect(port)
        assert await client.get() == 200
        assert len(open_here()) == 1
        client.close()
        await eventually(lambda: not open_here(), pause_s=0.05)
    finally:
        gc.enable()


async def test_a_client_that_does_not_read_its_answer_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SEND_S_MAX", 0.3)
    client = await Client.connect(port)
    client.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    transport = client.writer.transport
    transport.pause_reading()  # type: ignore[attr-defined]
    before = protocol.REFUSED.labels("CUT")._value.get()

    async def is_cut() -> bool:
        return bool(protocol.REFUSED.labels("CUT")._value.get() > before)

    await eventually(is_cut)
    client.close()


async def test_one_address_that_holds_every_place_gives_way_to_a_new_connection(port: int) -> None:
    holders = [await Client.connect(port) for _ in range(4)]
    for holder in holders[:2]:
        assert await holder.get() == 200
    # The two that never sent a request lose their places first.
    for _ in range(2):
        ordinary = await Client.connect(port)
        assert await ordinary.get() == 200
    assert all([await holder.is_closed() for holder in holders[2:]])
    assert all([await holder.get() == 200 for holder in holders[:2]])


async def test_a_port_that_is_taken_is_named(settings_without_servers: Settings, port: int) -> None:
    with pytest.raises(PortTakenError, match=str(port)):
        await small_server(settings_without_servers, port).start()


async def test_a_host_that_is_none_is_named() -> None:
    with pytest.raises(PortTakenError, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", free_port())


def test_clients_never_get_the_last_file_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    bounds = connection_bounds(10**9, 5)
    raised, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert raised >= soft
    assert bounds.total <= raised - FILES_RESERVED
    assert bounds.per_address == 5
    assert connection_bounds(7, 5, "10.0.0.1, 10.0.0.2").trusted == {"10.0.0.1", "10.0.0.2"}
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def small_child() -> Iterator[int]:
    """The server in a process of its own that may open 1,024 files."""
    number = free_port()

    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    child = subprocess.Popen(
        [sys.executable, "-m", "tests.integration.http.small_service", str(number)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=few_files,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"listening\n"
    yield number
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(stretched(20)) == 0
    child.stdout.close()


@pytest.mark.proof
async def test_more_half_open_requests_than_files_keep_nobody_out(small_child: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    ordinary = await Client.connect(small_child)
    assert await ordinary.get() == 200
    attackers = []
    for _ in range(1_100):
        attacker = await Client.connect(small_child)
        attacker.send(b"GET / HTTP/1.1\r\nX-Slow: ")
        attackers.append(attacker)
    assert await ordinary.get() == 200
    for _ in range(5):
        another = await Client.connect(small_child)
        assert await another.get() == 200
        another.close()
    for client in (ordinary, *attackers):
        client.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_the_server_stops_while_clients_hold_connections_open(settings_without_servers: Settings) -> None:
    number = free_port()
    server: HttpServer = small_server(settings_without_servers, number)
    await server.start()
    idle, half = await Client.connect(number), await Client.connect(number)
    assert await idle.get() == 200
    half.send(b"GET /hel")
    await asyncio.wait_for(server.stop(), stretched(10))
    assert await idle.is_closed()
    assert await half.is_closed()


async def test_a_server_stops_at_once_and_does_not_wait_for_its_next_tick(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "TICK_S", 3600)
    server = small_server(settings, free_port())
    await server.start()
    async with asyncio.timeout(stretched(20)):
        await server.stop()


async def test_the_date_of_a_response_is_that_of_the_last_tick(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "TICK_S", 0.01)
    port = free_port()
    server = small_server(settings, port)
    await server.start()
    now = 1_000_000_000.0
    monkeypatch.setattr(uvicorn.server, "time", SimpleNamespace(time=lambda: now))

    async def date() -> str:
        client = await Client.connect(port)
        client.send(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        _, headers, _ = await client.answer()
        client.writer.close()
        return headers["date"]

    async def is_first() -> bool:
        return await date() == "Sun, 09 Sep 2001 01:46:40 GMT"

    async def is_next() -> bool:
        return await date() == "Sun, 09 Sep 2001 01:46:41 GMT"

    await eventually(is_first)
    now += 1
    await eventually(is_next)
    await server.stop()
