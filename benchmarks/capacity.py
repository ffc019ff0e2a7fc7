"""What each service carries on one core, and how many processes of each kind a machine needs.

    .venv/bin/python -m benchmarks.capacity [--orders 20000] [--rounds 3]

Each service gets prepared input while nothing else of the platform runs, and is charged with its own processor time:
the rate that it carries is what it would do if it had a core for itself all the time. The shares of NATS and of
PostgreSQL are measured beside it and counted as kinds of their own. The flow is the shallow workload: 60 % limit
orders, 35 % cancels, 5 % IOC; an order is an order with its share of cancels. Order intake, REST edge and engine get
limit orders only.

The table divides the cores of a machine among the kinds in proportion to what an order costs in each. What cannot be
divided over processes bounds the rate: the engine and the leader of market data.
"""

import argparse
import asyncio
import gc
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import uvloop

from benchmarks import capacity_parts as parts
from benchmarks import engine_grpc
from benchmarks.bare_edge import run_echo
from benchmarks.core_runs import table
from benchmarks.http_load import http_request, load
from benchmarks.rest_orders import await_listening, cpu_seconds, order_bodies
from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.kit.bus import Bus
from openspot.kit.database import create_pool
from openspot.kit.log import configure_log
from openspot.kit.service import GARBAGE_THRESHOLD, run_service
from openspot.kit.settings import environment_of
from openspot.kit.tokens import Claims, sign
from openspot.migrations import upgrade
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import PlatformSettings

CORES = (2, 8, 32, 64)
ENGINE_BATCH = 10
"""Orders of one call to the engine: what the router gathers under load."""
CONNECTIONS = 16
PAUSE_S = 2.0
ECHO_S_MAX = 120.0
SINGLE = frozenset({"engine", "market data"})
"""Kinds of which only one process works at a time."""
SHARED = {"ledger": 0.5, "ledger worker": 0.5}
"""Kinds that share the same work, each with its part."""


class Cost(NamedTuple):
    """Microseconds of processor time an order: of the service itself, of NATS and of PostgreSQL."""

    own: float
    nats: float
    postgres: float


class Servers:
    """NATS and PostgreSQL of their own, with an empty bus and an empty database for each round.

    On the bus of the round before, the same events would be repeats, which it drops.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._nats = EmbeddedNats(folder / "nats", free_port())
        self._postgres = EmbeddedPostgres(folder / "postgres", durable=True)
        self._rounds = 0

    def start(self) -> None:
        """Start PostgreSQL. Each round starts a bus."""
        self._postgres.start()

    def stop(self) -> None:
        """Stop both."""
        self._postgres.stop()
        self._nats.stop()

    def fresh(self) -> PlatformSettings:
        """Settings with a new bus, a new database, which has the tables, and free ports."""
        self._rounds += 1
        name = f"capacity{self._rounds}"
        self._nats.stop()
        self._nats = EmbeddedNats(self._folder / f"nats{self._rounds}", free_port())
        self._nats.start()
        self._postgres.ensure_database(name)
        upgrade(self._postgres.url(name))
        return PlatformSettings(
            database_url=self._postgres.url(name),
            nats_url=self._nats.url,
            jwt_secret="benchmark-secret-of-thirty-two-bytes",
            data_dir=self._folder / name,
            throttle_enabled=False,
            rest_port=free_port(),
            ledger_worker_port=free_port(),
        )

    def used(self) -> tuple[float, float]:
        """Seconds of processor time that NATS and PostgreSQL have used so far."""
        assert self._nats.process is not None
        assert self._postgres.process is not None
        seconds = cpu_seconds({"nats": self._nats.process.pid, "postgres": self._postgres.process.pid})
        return seconds["nats"], seconds["postgres"]


class Loads:
    """All loads, and what they found."""

    def __init__(self, servers: Servers, orders: int) -> None:
        self._servers = servers
        self._orders = orders
        self._flow = parts.flow(orders)
        self._made: list[parts.Rows] = []
        self.found: dict[str, list[Cost]] = {}
        print(f"{self._flow.orders:,} orders, {self._flow.trades:,} trades", flush=True)

    async def _load(self, name: str, work: Callable[[], Awaitable[parts.Cost]]) -> None:
        gc.collect()
        # What the load before this one has left to the servers is not this one's.
        await asyncio.sleep(PAUSE_S)
        before = self._servers.used()
        seconds, orders = await work()
        nats, postgres = (after - began for after, began in zip(self._servers.used(), before, strict=True))
        cost = Cost(*(1e6 * used / orders for used in (seconds, nats, postgres)))
        self.found.setdefault(name, []).append(cost)
        print(f"  {name:20} {cost.own:7.1f} µs an order, NATS {cost.nats:6.1f}, PostgreSQL {cost.postgres:6.1f}",
              flush=True)  # fmt: skip

    async def run(self) -> None:
        """Every load once."""
        settings = self._servers.fresh()
        bus = await Bus.connect(settings, "capacity")
        await bus.ensure_streams()
        try:
            async with await create_pool(settings, 8) as pool:

                async def translate() -> parts.Cost:
                    cost, self._made = await parts.translate(bus, self._flow)
                    return cost

                await self._load("translator", translate)
                await self._load("row writing", lambda: parts.write_rows(pool, bus, self._made, self._flow.orders))
                await self._load("ledger", lambda: parts.settle(pool, bus, self._flow))
                await self._load("ledger worker", lambda: parts.settle_in_workflows(pool, bus, settings, self._flow))
                await self._load("market data", lambda: parts.publish_market_data(pool, bus, self._flow))
                await self._load("WebSocket edge", lambda: parts.fan_out(self._flow, self._made))
                environment = os.environ | environment_of(settings)
                command = [sys.executable, "-m", "benchmarks.capacity", "--part", "submit", str(self._orders)]
                clients = lambda: subprocess.Popen(command, env=environment)  # noqa: E731
                await self._load("order intake", lambda: parts.take_orders(pool, bus, clients, self._orders))
                await self._load("REST edge", lambda: self._rest_edge(settings))
        finally:
            await bus.close()
        await self._load("engine", self._engine)

    async def _rest_edge(self, settings: PlatformSettings) -> parts.Cost:
        """The real edge, before an echo."""
        environment = os.environ | environment_of(settings)
        module = [sys.executable, "-m"]
        children = [
            subprocess.Popen([*module, *arguments], env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
            for arguments in (["openspot.cli", "run", "rest-edge"], ["benchmarks.capacity", "--part", "echo"])
        ]
        try:
            await await_listening(settings.host, settings.rest_port)
            now = int(time.time())
            token = sign(Claims("benchmark", "user", now + 3600), settings.jwt_secret, now)
            edge = psutil.Process(children[0].pid)

            def requests(number: int, count: int) -> Iterator[bytes]:
                for _, body in zip(range(count), order_bodies(number), strict=False):
                    yield http_request("POST", "/api/v1/orders", body, token)

            async def takes_orders() -> bool:
                # The echo may come later than the edge.
                return set((await load(settings.host, settings.rest_port, [requests(0, 1)], 1e6)).statuses) == {201}

            async def place(count: int) -> float:
                before = sum(edge.cpu_times()[:2])
                each = count // CONNECTIONS
                result = await load(
                    settings.host, settings.rest_port, [requests(number, each) for number in range(CONNECTIONS)], 1e6
                )
                assert set(result.statuses) == {201}, result.statuses
                return sum(edge.cpu_times()[:2]) - before

            deadline = time.monotonic() + ECHO_S_MAX
            while not await takes_orders():
                assert time.monotonic() < deadline, "the edge takes no orders"
                await asyncio.sleep(0.2)
            await place(CONNECTIONS * 20)
            return await place(self._orders), self._orders // CONNECTIONS * CONNECTIONS
        finally:
            for child in children:
                child.terminate()
                child.wait()

    async def _engine(self) -> parts.Cost:
        """The engine's own process, called over frames."""
        with tempfile.TemporaryDirectory() as folder:
            server = engine_grpc.Server("engine", "auto", Path(folder) / "engine")
            try:
                await asyncio.wait_for(server.channel.channel_ready(), 300)
                await engine_grpc.fund(server)
                orders = engine_grpc.Orders()

                def calls(count: int) -> list[pb.PlaceOrdersRequest]:
                    return [pb.PlaceOrdersRequest(orders=orders.take(ENGINE_BATCH)) for _ in range(count)]

                await engine_grpc.measure(server, server.place_many_in_frame, calls(50), 1, 50 * ENGINE_BATCH)
                requests = calls(self._orders // ENGINE_BATCH)
                count = len(requests) * ENGINE_BATCH
                taken = await engine_grpc.measure(server, server.place_many_in_frame, requests, 1, count)
                return taken.cost_us * count / 1e6, count
            finally:
                await server.close()


def costs_of_kinds(found: dict[str, list[Cost]]) -> dict[str, float]:
    """Microseconds an order by kind of process, as a whole platform spends them: medians of the rounds."""
    medians = {
        name: Cost(*(statistics.median(column) for column in zip(*costs, strict=True))) for name, costs in found.items()
    }
    kinds = {name: cost.own * SHARED.get(name, 1.0) for name, cost in medians.items()}
    kinds["translator and rows"] = kinds.pop("translator") + kinds.pop("row writing")
    kinds["cores of NATS"] = sum(cost.nats * SHARED.get(name, 1.0) for name, cost in medians.items())
    kinds["cores of PostgreSQL"] = sum(cost.postgres * SHARED.get(name, 1.0) for name, cost in medians.items())
    return kinds


def plan(kinds: dict[str, float], cores: int) -> tuple[float, str, dict[str, int]]:
    """Orders a second of a machine, what bounds them, and how many processes of each kind carry them.

    A process needs less than a core as a rule: on few cores, processes of several kinds share one. NATS is one process,
    and PostgreSQL many; both use as many cores as the figure says.
    """
    bounds = {"the cores": cores * 1e6 / sum(kinds.values())} | {name: 1e6 / kinds[name] for name in SINGLE}
    bound = min(bounds, key=lambda name: bounds[name])
    rate = bounds[bound]
    return rate, bound, {name: max(1, math.ceil(rate * cost / 1e6)) for name, cost in kinds.items()}


def report(found: dict[str, list[Cost]]) -> None:
    """Print what each service carries, and the table of machines."""
    rows = []
    for name, costs in sorted(found.items(), key=lambda item: -statistics.median(cost.own for cost in item[1])):
        own = [cost.own for cost in costs]
        median, spread = statistics.median(own), f"{min(own):.1f} – {max(own):.1f}"
        rows.append([name, f"{1e6 / median:,.0f}", f"{median:.1f}", spread])
    table(("one process on one core", "orders/s", "µs an order", "least – most"), rows)
    kinds = costs_of_kinds(found)
    plans = {cores: plan(kinds, cores) for cores in CORES}
    names = sorted(kinds, key=lambda name: -kinds[name])
    lines = [[name, f"{kinds[name]:.1f}", *(str(plans[cores][2][name]) for cores in CORES)] for name in names]
    lines.append(["orders/s", "", *(f"{plans[cores][0]:,.0f}" for cores in CORES)])
    lines.append(["bounded by", "", *(plans[cores][1] for cores in CORES)])
    table(("processes of", "µs an order", *(f"{cores} cores" for cores in CORES)), lines)


async def measure(options: argparse.Namespace) -> None:
    """All rounds on servers of their own."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    servers = Servers(folder)
    configure_log(PlatformSettings(log_level="ERROR"), "capacity")
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        servers.start()
        loads = Loads(servers, options.orders)
        for number in range(1, options.rounds + 1):
            print(f"round {number}", flush=True)
            await loads.run()
        report(loads.found)
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def submit(count: int) -> None:
    """Be the client of `order intake`."""
    bus = await Bus.connect(PlatformSettings(), "client")
    await parts.submit(bus, count)
    await bus.close()


def main() -> int:
    """Measure, or be one of the other processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.part:
        case None:
            uvloop.run(measure(options))
        case ["watch", port, secret]:
            uvloop.run(parts.watch(int(port), secret))
        case ["submit", count]:
            uvloop.run(submit(int(count)))
        case _:
            echo = lambda settings, stop: run_echo(settings, stop, subjects.ORDERS_SUBMIT)  # noqa: E731
            return run_service("echo", echo, PlatformSettings())
    return 0


if __name__ == "__main__":
    sys.exit(main())
