"""REST order placement against a bare edge of the same stack, in one run.

    .venv/bin/python -m benchmarks.rest_orders [--seconds 8] [--rounds 3]

The platform: `openspot up` with throttling off; limit orders of four users, resting and crossing mixed, over 16
connections. The bare edge: the same web stack with token check, body validation and one bus request to an
echo. Both are loaded in turn by the same client, on the same machine; the medians and their ratio are printed.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import aiohttp
import psutil

from benchmarks.http_load import LoadResult, http_request, load
from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.services import enabled

CONNECTIONS = 16
USERS = 4
PASSWORD = "a long benchmark password"


async def fund_users(settings: Settings) -> list[str]:
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
    deadline = time.monotonic() + 30
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


def streams(tokens: list[str], seed: int) -> list[Iterator[bytes]]:
    """One flow of requests for each connection."""

    def requests(number: int) -> Iterator[bytes]:
        for body in order_bodies(seed * 1000 + number):
            yield http_request("POST", "/api/v1/orders", body, tokens[number % len(tokens)])

    return [requests(number) for number in range(CONNECTIONS)]


def cpu_seconds(pids: dict[str, int]) -> dict[str, float]:
    """User and system time that each process has used so far (PostgreSQL with its children)."""
    used = {}
    for name, pid in pids.items():
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        used[name] = sum(sum(member.cpu_times()[:2]) for member in family)
    return used


def describe(name: str, results: list[LoadResult]) -> float:
    """Print one side; answers its median rate."""
    rate = statistics.median(result.requests_per_second for result in results)
    statuses = dict(sum((result.statuses for result in results[1:]), results[0].statuses.copy()))
    fifty, ninety_nine = (statistics.median(result.percentile_ms(share) for result in results) for share in (0.5, 0.99))
    print(f"{name:12} {rate:8.0f} requests/s   p50 {fifty:6.2f} ms   p99 {ninety_nine:6.2f} ms   {statuses}")
    return rate


async def await_listening(host: str, port: int, timeout_s: float = 30) -> None:
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


async def measure(platform: ChildPlatform, bare_port: int, seconds: float, rounds: int) -> None:
    """Load both sides in turn and print them."""
    settings = platform.settings
    tokens = await fund_users(settings)
    ours: list[LoadResult] = []
    bare: list[LoadResult] = []
    pids = platform.state.processes
    await await_listening(settings.host, bare_port)
    await load(settings.host, settings.rest_port, streams(tokens, 99), 2)
    await load(settings.host, bare_port, streams(tokens, 99), 2)
    used = dict.fromkeys(pids, 0.0)
    for number in range(rounds):
        bare.append(await load(settings.host, bare_port, streams(tokens, number), seconds))
        before = cpu_seconds(pids)
        ours.append(await load(settings.host, settings.rest_port, streams(tokens, number), seconds))
        for name, value in cpu_seconds(pids).items():
            used[name] += value - before[name]
    bare_rate = describe("bare edge", bare)
    rate = describe("OpenSpot", ours)
    print(f"ratio        {rate / bare_rate:.2f}")
    orders = sum(sum(result.statuses.values()) for result in ours)
    print("CPU per order in microseconds (user + system):")
    for name, value in sorted(used.items(), key=lambda item: -item[1]):
        print(f"  {name:14} {1e6 * value / orders:7.0f}")


def main() -> None:
    """Start both sides, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    bare: list[subprocess.Popen[bytes]] = []
    # The platform's own server lets nobody serve a subject that is not a service's.
    bare_bus = EmbeddedNats(folder / "bare-bus", free_port())
    try:
        bare_bus.start()
        started_s = platform.start()
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
            bare.append(subprocess.Popen(command, env=environment))
        asyncio.run(measure(platform, port, options.seconds, options.rounds))
    finally:
        for process in bare:
            process.terminate()
            process.wait()
        bare_bus.stop()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
