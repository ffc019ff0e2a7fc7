"""What ordinary clients of the WebSocket edge notice of an attack: their latency without it and with it, in one run.

    .venv/bin/python -m benchmarks.ws_hostile [--seconds 5] [--rounds 3] [--only NAME …]

The edge runs as `openspot run ws-edge` with an embedded bus. This process publishes a trade every 5 ms, and ordinary
clients receive it; the time runs from before the publishing to the arrival, and every client must receive every trade.
A process of its own attacks: first with each attack on its own, then with all at once. It stands for another machine,
so it has the lowest priority. It shares this one all the same, so a second edge is attacked in the same way, as a
control: what that does to the ordinary clients of the first edge is what the machine spends on attacker and edge, and
no edge could do better. The intervals without an attack, with the control and with the attack come in turns.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import msgspec
import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.priority import yield_to_others
from benchmarks.ws_fan_out import HANDSHAKE
from openspot.contracts import subjects
from openspot.contracts.messages import MarketTradeEvent
from openspot.kit.bus import Bus
from openspot.kit.settings import environment_of
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.supervisor import is_ready
from openspot.ws_edge.settings import WsEdgeSettings

HOST, ATTACKERS_HOST = "127.0.0.1", "127.0.0.2"
SYMBOL = "BTC-USD"
CLIENTS = 20
PACE_S = 0.005
CROWD = 10_000
UNDER_WAY_MAX = 50
RECEIVE_BUFFER_BYTES = 4096
SLOW_S = 6.0
DESCRIPTORS = 20_000
ARRIVE_S_MAX = 60.0
SHARES = (0.5, 0.9, 0.99)
MASK = b"\0\0\0\0"


class Data(msgspec.Struct):
    """What a client reads of a trade: when it was published, in nanoseconds."""

    seq: int
    trade_id: str = msgspec.field(name="tradeId")


class Push(msgspec.Struct):
    """A push of the trades channel, or a reply without data."""

    data: Data | None = None


class Ordinary:
    """The ordinary clients. `latencies` are in milliseconds."""

    def __init__(self) -> None:
        self.latencies: list[float] = []
        self.received = [0] * CLIENTS
        self.failures: list[str] = []

    async def run(self, number: int, url: str) -> None:
        """One client, until cancelled. Notes why it failed: a trade is missing, or the edge closed it."""
        try:
            await self._follow(number, url)
        except (ConnectionClosed, AssertionError) as error:
            self.failures.append(repr(error))

    async def _follow(self, number: int, url: str) -> None:
        decode = msgspec.json.Decoder(Push).decode
        async with connect(url, compression=None) as socket:
            await socket.send(json.dumps({"action": "subscribe", "channel": f"trades:{SYMBOL}"}))
            assert b"subscribed" in await socket.recv(decode=False)
            while True:
                data = await socket.recv(decode=False)
                now = time.time_ns()
                trade = decode(data).data
                assert trade is not None
                assert trade.seq == self.received[number] + 1, "a trade is missing"
                self.received[number] = trade.seq
                self.latencies.append((now - int(trade.trade_id)) / 1e6)

    async def interval(self, bus: Bus, seconds: float, number: int) -> tuple[list[float], int]:
        """Publish for so long, and wait until all have received it. Returns the latencies and the last sequence."""
        self.latencies = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            number += 1
            trade = MarketTradeEvent(
                SYMBOL, number, number - 1, str(time.time_ns()), "100", "1", "buy", 1_700_000_000_000
            )
            await bus.announce(subjects.of_symbol(subjects.MARKETDATA_TRADE, SYMBOL), trade)
            await asyncio.sleep(PACE_S)
        async with asyncio.timeout(ARRIVE_S_MAX):
            while min(self.received) < number:
                assert not self.failures, self.failures
                await asyncio.sleep(PACE_S)
        return sorted(self.latencies), number


# The attacker's process


def client_frame(first: int, payload: bytes) -> bytes:
    """A masked frame with a payload of less than 126 bytes; the mask is zero."""
    return bytes((first, 0x80 | len(payload))) + MASK + payload


SUBSCRIBE = client_frame(0x81, b'{"action":"subscribe","channel":"trades:%b"}' % SYMBOL.encode())
FLOODS = {
    "subscriptions": SUBSCRIBE * 5_000,
    "pings": client_frame(0x89, b"x" * 125) * 5_000,
    "fragments": client_frame(0x01, b"") + client_frame(0x00, b"") * 20_000,
    "huge frames": bytes((0x81, 0xFF)) + (1 << 62).to_bytes(8) + MASK + b"x" * 100_000,
    "garbage": random.Random(1).randbytes(20_000),
}
CROWD_ATTACK, SLOW_ATTACK, ALL = "10,000 connections", "slow readers", "all at once"
ATTACKS = (CROWD_ATTACK, *FLOODS, SLOW_ATTACK, ALL)


class Attacker(asyncio.Protocol):
    """One hostile connection: sends its flood after the handshake. `reads` is whether it takes what the edge sends."""

    def __init__(self, flood: bytes, *, reads: bool) -> None:
        self._flood = flood
        self._reads = reads
        self._is_sent = False
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Shake hands."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        """Send the flood after the reply; drop the rest."""
        if not self._is_sent:
            self._is_sent = True
            self.transport.write(self._flood)
            if not self._reads:
                self.transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """The edge has closed it."""
        if not self.ended.done():
            self.ended.set_result(None)


async def attack(name: str, port: int) -> None:
    """Attack until killed. Prints a line when the first connection is open."""
    await asyncio.get_running_loop().create_connection(lambda: Attacker(b"", reads=True), HOST, port)
    print("the attack begins", flush=True)
    attacks = [flood(port, payload) for of_flood, payload in FLOODS.items() if name in (of_flood, ALL)]
    if name in (CROWD_ATTACK, ALL):
        attacks.append(crowd(port))
    if name in (SLOW_ATTACK, ALL):
        attacks.append(slow_readers(port))
    await asyncio.gather(*attacks)


async def crowd(port: int) -> None:
    """Open 10,000 connections, hold those that are let in, begin again."""
    loop = asyncio.get_running_loop()
    while True:
        held: list[Attacker] = []
        for _ in range(0, CROWD, UNDER_WAY_MAX):
            made = [
                loop.create_connection(lambda: Attacker(b"", reads=True), HOST, port, local_addr=(ATTACKERS_HOST, 0))
                for _ in range(UNDER_WAY_MAX)
            ]
            opened = await asyncio.gather(*made, return_exceptions=True)
            held += [outcome[1] for outcome in opened if not isinstance(outcome, BaseException)]
        for attacker in held:
            attacker.transport.abort()


async def flood(port: int, payload: bytes) -> None:
    """Send the flood over one connection after the other."""
    loop = asyncio.get_running_loop()
    while True:
        with suppress(OSError):
            transport, attacker = await loop.create_connection(lambda: Attacker(payload, reads=True), HOST, port)
            await attacker.ended
            transport.abort()


async def slow_readers(port: int) -> None:
    """Fifty clients that subscribe and never read, each opened again after a while."""
    await asyncio.gather(*(slow_reader(port) for _ in range(50)))


async def slow_reader(port: int) -> None:
    """One client that never reads. Its small receive buffer is full soon, and then the edge has to wait for it."""
    loop = asyncio.get_running_loop()
    while True:
        with closing(socket.socket()) as small:
            small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            small.setblocking(False)
            with suppress(OSError):
                await loop.sock_connect(small, (HOST, port))
                _, attacker = await loop.create_connection(lambda: Attacker(SUBSCRIBE, reads=False), sock=small)
                await asyncio.wait([attacker.ended], timeout=SLOW_S)
                attacker.transport.abort()


# Measuring


@dataclass
class Measured:
    """Of one attack: latencies in ms in the intervals of each kind, and the processor time that both sides took."""

    without: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    during: list[float] = field(default_factory=list)
    seconds: float = 0
    edge_cpu_s: float = 0
    attacker_cpu_s: float = 0

    def report(self, name: str) -> None:
        """Print p50, p90 and p99 of each kind, the p99 as multiples of another one, and the shares of a processor."""
        kinds = [
            [ordered[int(share * len(ordered))] for share in SHARES]
            for ordered in map(sorted, (self.without, self.control, self.during))
        ]
        parts = "  ".join(f"{' / '.join(f'{value:.1f}' for value in kind):22}" for kind in kinds)
        without, control, during = (kind[-1] for kind in kinds)
        ratios = f"{control / without:.1f}, {during / without:.1f}, {during / control:.1f}"
        work = f"{self.edge_cpu_s / self.seconds:.0%}, {self.attacker_cpu_s / self.seconds:.0%}"
        print(f"{name:20}  {parts}  {ratios:14}  {work}", flush=True)


@contextmanager
def running_edge(folder: Path, nats_url: str) -> Iterator[tuple[WsEdgeSettings, psutil.Process]]:
    """An edge in a process of its own. Killed in the end."""
    folder.mkdir()
    settings = WsEdgeSettings(database_url="").model_copy(
        update={"data_dir": folder, "nats_url": nats_url, "ws_port": free_port(), "ws_idle_s": 3600}
    )
    command = [sys.executable, "-m", "openspot.cli", "run", "ws-edge"]
    with (folder / "edge.log").open("wb") as log:
        edge = subprocess.Popen(command, env=os.environ | environment_of(settings), stderr=log, stdout=log)
        try:
            yield settings, psutil.Process(edge.pid)
        finally:
            edge.send_signal(signal.SIGKILL)
            edge.wait()


async def measure(folder: Path, names: Sequence[str], seconds: float, rounds: int) -> None:
    """Intervals without an attack, with the control and with the attack, in turns; prints the latencies of each."""
    nats = EmbeddedNats(folder / "nats", free_port())
    nats.start()
    bus: Bus | None = None
    try:
        with (
            running_edge(folder / "edge", nats.url) as (settings, edge),
            running_edge(folder / "control", nats.url) as (control_settings, _),
        ):
            for port in (settings.ws_port, control_settings.ws_port):
                while not await is_ready(HOST, port, settings.readiness_timeout_s):
                    await asyncio.sleep(0.05)
            bus = await Bus.connect(settings, "benchmark")
            ordinary = Ordinary()
            clients = [asyncio.create_task(ordinary.run(number, f"{settings.ws_url}/")) for number in range(CLIENTS)]
            await asyncio.sleep(1)
            _, last = await ordinary.interval(bus, 1, 0)
            print(
                f"{CLIENTS} ordinary clients; load {os.getloadavg()[0]:.1f}; p50 / p90 / p99 in ms; p99 of the control "
                "and with the attack divided by that without, and of the latter by the control's; shares of a processor"
            )
            heads = (
                f"{'attack':20}  {'without it':22}  {'control':22}  {'with it':22}  {'p99 times':14}  edge, attacker"
            )
            print(heads, flush=True)
            for name in names:
                measured = Measured()
                for _ in range(rounds):
                    heard, last = await ordinary.interval(bus, seconds, last)
                    measured.without += heard
                    async with assailant(name, control_settings.ws_port):
                        heard, last = await ordinary.interval(bus, seconds, last)
                    measured.control += heard
                    async with assailant(name, settings.ws_port) as attacker:
                        processes = edge, attacker
                        began, before = time.monotonic(), [cpu_seconds(process) for process in processes]
                        heard, last = await ordinary.interval(bus, seconds, last)
                        measured.seconds += time.monotonic() - began
                        measured.edge_cpu_s += cpu_seconds(edge) - before[0]
                        measured.attacker_cpu_s += cpu_seconds(attacker) - before[1]
                    measured.during += heard
                measured.report(name)
            for client in clients:
                assert not client.done(), ordinary.failures
                client.cancel()
            print(
                f"each client received all {last:,} trades; load {os.getloadavg()[0]:.1f}; {await defended(settings)}"
            )
    finally:
        if bus is not None:
            await bus.close()
        nats.stop()


def cpu_seconds(process: psutil.Process) -> float:
    """The processor time that a process has taken."""
    times = process.cpu_times()
    return float(times.user + times.system)


@asynccontextmanager
async def assailant(name: str, port: int) -> AsyncIterator[psutil.Process]:
    """The attacker's process, from the beginning of its attack. Killed in the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.ws_hostile", "--attack", name, str(port), stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline(), "the attacker has failed"
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        await process.wait()
        # What the attacker has left in the sockets belongs to no interval.
        await asyncio.sleep(1)


async def defended(settings: WsEdgeSettings) -> str:
    """What the edge counted of the attack."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{HOST}:{settings.ws_port}/metrics") as response,
    ):
        lines = (await response.text()).splitlines()

    def total(metric: str) -> float:
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{metric}{{"))

    refused, closed = total("openspot_ws_refused_total"), total("openspot_ws_closed_total")
    return f"the edge refused {refused:,.0f} handshakes and closed {closed:,.0f} connections with a reason"


def main() -> None:
    """Measure, or attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=ATTACKS, default=ATTACKS)
    parser.add_argument("--attack", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    if options.attack is not None:
        name, port = options.attack
        yield_to_others()
        asyncio.run(attack(name, int(port)))
        return
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    try:
        asyncio.run(measure(folder, options.only, options.seconds, options.rounds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
