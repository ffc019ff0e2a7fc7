"""Memory of 5,000 idle connections to the WebSocket edge, against a bare server of the same library, in one run.

    .venv/bin/python -m benchmarks.ws_idle [--connections 5000]

Each side is a process of its own: the edge as `openspot run ws-edge` with an embedded bus, and a bare server whose
handler only waits for messages, with the library's own defaults but without compression, as at the edge. Each client
subscribes to trades (the bare server ignores that) and then is silent. The figure is how much the server's resident
memory grows for a connection; the clients' side and the kernel's buffers are not in it.
"""

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from websockets.asyncio.server import ServerConnection, serve

from benchmarks.ws_fan_out import CHANNELS, Reader
from openspot.kit.settings import environment_of
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.supervisor import is_ready
from openspot.ws_edge.settings import WsEdgeSettings

WARM_UP = 200
UNDER_WAY_MAX = 100
DESCRIPTORS = 20_000
HOST = "127.0.0.1"
KIBIBYTE = 1024


class Idler(Reader):
    """A client that remembers its transport and whether it was upgraded."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.upgraded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Shake hands and subscribe."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Note the reply to the handshake; drop the rest."""
        if not self.upgraded.done():
            self.upgraded.set_result(data.startswith(b"HTTP/1.1 101 "))


async def connected(port: int, count: int) -> list[Idler]:
    """Open this many connections."""
    loop, clients = asyncio.get_running_loop(), []
    for begin in range(0, count, UNDER_WAY_MAX):
        made = [loop.create_connection(Idler, HOST, port) for _ in range(min(UNDER_WAY_MAX, count - begin))]
        batch = [client for _, client in await asyncio.gather(*made)]
        assert all(await asyncio.gather(*(client.upgraded for client in batch))), "a connection was refused"
        clients += batch
    return clients


async def growth(pid: int, port: int, count: int) -> float:
    """Bytes of resident memory that one connection costs the server."""
    server = psutil.Process(pid)
    # What the first connections make the process load is not theirs.
    clients = await connected(port, WARM_UP)
    await asyncio.sleep(1)
    before = server.memory_info().rss
    clients += await connected(port, count)
    await asyncio.sleep(1)
    per_connection = (server.memory_info().rss - before) / count
    for client in clients:
        assert client.transport is not None
        assert not client.transport.is_closing(), "the server closed a connection"
        client.transport.abort()
    return per_connection


async def bare(port: int) -> None:
    """The bare server."""

    async def handle(connection: ServerConnection) -> None:
        async for _ in connection:
            pass

    async with serve(handle, HOST, port, compression=None):
        await asyncio.Event().wait()


@contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[int]:
    """A server's process."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], env=os.environ | environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        try:
            yield child.pid
        finally:
            child.kill()


async def measure(count: int, folder: Path) -> None:
    """Both sides, one after the other."""
    nats = EmbeddedNats(folder / "nats", free_port())
    nats.start()
    try:
        changes: dict[str, Any] = {
            "data_dir": folder, "nats_url": nats.url, "ws_port": free_port(), "ws_connections_max": 2 * count,
            "ws_connections_per_address": 2 * count, "ws_handshakes_per_address": 2 * count,
            "ws_anonymous_share": 1.0, "ws_idle_s": 3600, "ws_ping_s": 3600,
        }  # fmt: skip
        settings = WsEdgeSettings(database_url="").model_copy(update=changes)
        with running(["openspot.cli", "run", "ws-edge"], environment_of(settings)) as pid:
            while not await is_ready(HOST, settings.ws_port, settings.readiness_timeout_s):
                await asyncio.sleep(0.05)
            edge = await growth(pid, settings.ws_port, count)
        port = free_port()
        with running(["benchmarks.ws_idle", "--serve", str(port)], {}) as pid:
            while not await listens(port):
                await asyncio.sleep(0.05)
            library = await growth(pid, port, count)
    finally:
        nats.stop()
    print(f"{count:,} idle connections with {len(CHANNELS)} subscriptions each; load {os.getloadavg()[0]:.1f}")
    print(
        f"edge {edge / KIBIBYTE:.1f} KiB a connection, bare server {library / KIBIBYTE:.1f} KiB "
        f"(edge is {edge / library:.2f} x)"
    )


async def listens(port: int) -> bool:
    """Whether a server listens on the port."""
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    return True


def main() -> None:
    """Measure both sides."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=5_000)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    if options.serve is not None:
        asyncio.run(bare(options.serve))
        return
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    try:
        asyncio.run(measure(options.connections, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
