"""REST order placement against a bare edge of the same stack, in one run.

    .venv/bin/python -m benchmarks.rest_orders [--seconds 8] [--rounds 3] [--connections 16] [--lone 40]

The platform: `openspot up` with throttling off; limit orders of four users, resting and crossing mixed. The bare edge:
the same web stack with token check, body validation and one bus request to an echo. Both are loaded in turn by the same
client, on the same machine; the medians and their ratios are printed. Processor time is user and system: an order's
until everything behind it is done too (rows, settlement, events), a bare request's of the edge, the echo and their bus.

A lone order finds an idle platform: orders are sent one at a time, with a pause after each.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import aiohttp
import psutil

from benchmarks.http_load import LoadResult, http_request, load
from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus
from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.services import PlatformSettings, enabled

CONNECTIONS = 16
LONE_PAUSE_S = 0.5
QUIET_SHARE, QUIET_LOOK_S, QUIET_S_MAX = 0.25, 0.5, 60.0
"""A platform is quiet when its processes together use no more than this share of a core for so many seconds."""
START_S_MAX = 900.0
USERS = 4
PASSWORD = "a long benchmark password"


async def fund_users(settings: PlatformSettings) -> list[str]:
    """Register, log in and fund the users; answers their access tokens."""
    bus = await Bus.connect(settings, "benchmark")
    tokens = []
    async with aiohttp.ClientSession(f"{settings.rest_url}/api/v1/") as session:
        for number in range(USERS):
            credentials = {"email": f"user{number}@example.com", "password": PASSWORD}
            async with session.post("auth/register", json=credentials) as response:
                user = await response.json()
                assert response.status == 201, user
            async with session.post("auth/login", json=credentials) as response:
                tokens.append((await response.json())["accessToken"])
            for asset, amount in (("BTC", "1000000"), ("USD", "100000000000")):
                event = DepositConfirmed(f"0x{user['userId']}{asset}", user["userId"], asset, amount)
                await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, event.tx_hash)
        for token in tokens:
            await _await_funds(session, token)
    await bus.close()
    return tokens


async def _await_funds(session: aiohttp.ClientSession, token: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        async with session.get("accounts/balances", headers={"Authorization": f"Bearer {token}"}) as response:
            balances = await response.json()
        if len(balances) == 2 and all(Decimal(balance["available"]) > 0 for balance in balances):
            return
        assert time.monotonic() < deadline, balances
        await asyncio.sleep(0.1)


def order_bodies(seed: int) -> Iterator[bytes]:
    """An endless flow of limit orders around one mid: about half of them meet a resting one."""
    draw = random.Random(seed)
    while True:
        side = draw.choice(("buy", "sell"))
        price = 50_000 + draw.randint(-20, 20)
        body = {
            "symbol": "BTC-USD",
            "side": side,
            "type": "limit",
            "price": str(price),
            "quantity": f"0.{draw.randint(1, 99):04d}",
        }
        yield json.dumps(body).encode()


def streams(tokens: list[str], seed: int, connections: int = CONNECTIONS) -> list[Iterator[bytes]]:
    """One flow of requests for each connection."""

    def requests(number: int) -> Iterator[bytes]:
        for body in order_bodies(seed * 1000 + number):
            yield http_request("POST", "/api/v1/orders", body, tokens[number % len(tokens)])

    return [requests(number) for number in range(connections)]


def cpu_seconds(pids: dict[str, int]) -> dict[str, float]:
    """User and system time that each process has used so far (PostgreSQL with its children)."""
    used = {}
    for name, pid in pids.items():
        process = psutil.Process(pid)
        used[name] = 0.0
        for member in (process, *process.children(recursive=True)):
            # A child of PostgreSQL may end between two looks, for example an autovacuum.
            with suppress(psutil.NoSuchProcess):
                used[name] += sum(member.cpu_times()[:2])
    return used


async def await_quiet(pids: dict[str, int], s_max: float = QUIET_S_MAX) -> dict[str, float]:
    """Wait until the processes have finished what they were given, at most `s_max` seconds.

    Returns `cpu_seconds` of then.
    """
    deadline = time.monotonic() + s_max
    before = cpu_seconds(pids)
    while True:
        await asyncio.sleep(QUIET_LOOK_S)
        after = cpu_seconds(pids)
        if sum(after.values()) - sum(before.values()) <= QUIET_SHARE * QUIET_LOOK_S or time.monotonic() > deadline:
            return after
        before = after


def describe(name: str, results: list[LoadResult]) -> float:
    """Print one side; answers its median rate."""
    rate = statistics.median(result.requests_per_second for result in results)
    statuses = dict(sum((result.statuses for result in results[1:]), results[0].statuses.copy()))
    fifty, ninety_nine = (statistics.median(result.percentile_ms(share) for result in results) for share in (0.5, 0.99))
    print(f"{name:12} {rate:8.0f} requests/s   p50 {fifty:6.2f} ms   p99 {ninety_nine:6.2f} ms   {statuses}")
    return rate


async def await_listening(host: str, port: int, timeout_s: float = 120) -> None:
    """Return when somebody listens on the port."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            assert time.monotonic() < deadline, f"nobody listens on port {port}"
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


@dataclass(slots=True)
class Side:
    """One side of a comparison: its address and processes, what loads of it saw, and their processor time."""

    name: str
    port: int
    pids: dict[str, int]
    results: list[LoadResult] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    quiet_s_max: float = QUIET_S_MAX
    """It is waited for so long, before a load and after it."""

    async def load(self, host: str, flows: list[Iterator[bytes]], seconds: float) -> None:
        """Load it, and wait until it is quiet again."""
        before = await await_quiet(self.pids, self.quiet_s_max)
        self.results.append(await load(host, self.port, flows, seconds))
        after = await await_quiet(self.pids, self.quiet_s_max)
        self.used.update({name: used - before[name] for name, used in after.items()})

    def forget(self) -> None:
        """Forget what loads have shown so far."""
        self.results.clear()
        self.used.clear()

    def microseconds(self) -> dict[str, float]:
        """Processor time of one request, by process, the most first."""
        requests = sum(sum(result.statuses.values()) for result in self.results)
        return {name: 1e6 * used / requests for name, used in self.used.most_common()}


async def await_echo(host: str, port: int, token: str, timeout_s: float = 120) -> None:
    """Return when the bare edge takes orders: its echo may come later than itself."""
    deadline = time.monotonic() + timeout_s
    request = http_request("POST", "/api/v1/orders", next(order_bodies(0)), token)
    while (await load(host, port, [iter([request])], 10)).statuses[201] != 1:
        assert time.monotonic() < deadline, "the bare edge takes no orders"
        await asyncio.sleep(0.2)


async def measure(sides: tuple[Side, Side], settings: PlatformSettings, options: argparse.Namespace) -> None:
    """Load both sides in turn and print them."""
    tokens = await fund_users(settings)
    await await_listening(settings.host, sides[0].port)
    await await_echo(settings.host, sides[0].port, tokens[0])
    for side in sides:
        await load(settings.host, side.port, streams(tokens, 99, options.connections), 2)
    for number in range(options.rounds):
        for side in sides:
            await side.load(settings.host, streams(tokens, number, options.connections), options.seconds)
    lone = {}
    for side in sides:
        await await_quiet(side.pids)
        flow = [itertools.islice(streams(tokens, 98, 1)[0], options.lone)]
        lone[side.name] = await load(settings.host, side.port, flow, QUIET_S_MAX, rate=1 / LONE_PAUSE_S)
    rates = [describe(side.name, side.results) for side in sides]
    print(f"ratio        {rates[1] / rates[0]:.2f}")
    costs = [side.microseconds() for side in sides]
    for side, cost in zip(sides, costs, strict=True):
        print(f"processor time of a request, {side.name}, in microseconds: all processes {sum(cost.values()):.0f}")
        for name, value in cost.items():
            print(f"  {name:14} {value:7.0f}")
    order, request = sum(costs[1].values()), sum(costs[0].values())
    print(f"an order, all processes / a bare edge's request, all processes    {order / request:.2f}")
    print(f"an order, all processes / a bare edge's request, the edge alone   {order / costs[0]['edge']:.2f}")
    for name, result in lone.items():
        print(f"lone order at an idle platform, {name:10} p50 {result.percentile_ms(0.5):6.2f} ms   "
              f"p99 {result.percentile_ms(0.99):6.2f} ms   {dict(result.statuses)}")  # fmt: skip


def main() -> None:
    """Start both sides, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="requests under way at a time")
    parser.add_argument("--lone", type=int, default=40, help="orders that are sent one at a time")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    bare: dict[str, subprocess.Popen[bytes]] = {}
    # The platform's own server lets nobody serve a subject that is not a service's.
    bare_bus = EmbeddedNats(folder / "bare-bus", free_port())
    try:
        bare_bus.start()
        started_s = platform.start(START_S_MAX)
        port, settings = free_port(), platform.settings
        print(f"platform ready in {started_s:.1f} s; {os.cpu_count()} cores, {len(enabled(settings))} services")
        environment = os.environ | {
            "NATS_URL": bare_bus.url,
            "JWT_SECRET": settings.jwt_secret,
            "DATABASE_URL": settings.database_url,
            "OPENSPOT_REST_PORT": str(port),
        }
        for part in ("echo", "edge"):
            command = [sys.executable, "-m", "benchmarks.bare_edge", part]
            bare[part] = subprocess.Popen(command, env=environment)
        assert bare_bus.process is not None
        bare_pids = {part: process.pid for part, process in bare.items()} | {"bus": bare_bus.process.pid}
        sides = Side("bare edge", port, bare_pids), Side("OpenSpot", settings.rest_port, platform.state.processes)
        asyncio.run(measure(sides, settings, options))
    finally:
        for process in bare.values():
            process.terminate()
            process.wait()
        bare_bus.stop()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
