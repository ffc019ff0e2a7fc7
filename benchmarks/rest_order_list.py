"""A list of 100 orders against a bare FastAPI route that returns the same bytes from the same query, in one run.

    .venv/bin/python -m benchmarks.rest_order_list [--seconds 8] [--rounds 3]

The bare route has the same server, pool, query and encoder, and nothing else: no token, request id, audit or filters.
The list is to take at most twice as long: in requests a second, and in processor time of the serving process.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import asyncpg
import psutil
from fastapi import FastAPI
from starlette.responses import Response

from benchmarks.http_load import LoadResult, http_request, load
from benchmarks.rest_orders import CONNECTIONS, await_listening, describe
from openspot.http.responses import encode_json
from openspot.http.server import http_server
from openspot.kit.database import Pool, create_pool
from openspot.kit.service import run_service
from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.store import OrderStore
from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_nats import free_port
from openspot.up.services import PlatformSettings

USER = "benchmark"
ORDERS = 1_000
PATH = "/api/v1/orders?limit=100"


async def run_bare(settings: Settings, stop: asyncio.Event) -> None:
    """Serve the bare route on `settings.rest_port`."""
    pool: Pool = await create_pool(settings, 16)
    store = OrderStore(pool)
    app = FastAPI(openapi_url=None)

    @app.get("/api/v1/orders")
    async def list_orders(limit: int = 100) -> Response:
        page, _ = await store.list_of(USER, OrderFilter(), limit, None)
        return Response(encode_json(page), media_type="application/json")

    server = http_server(app, settings, settings.rest_port)
    await server.start()
    await stop.wait()
    await server.stop()
    await pool.close()


async def add_orders(database_url: str) -> None:
    """Orders of one user, half of them filled."""
    connection = await asyncpg.connect(database_url)
    await connection.execute(
        """
        INSERT INTO orders (order_id, client_order_id, user_id, symbol, side, type, time_in_force, price, quantity,
                            filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status,
                            created_at, updated_at)
        SELECT 'benchmark' || n, 'mine-' || n, $1, 'BTC-USD', CASE n % 2 WHEN 0 THEN 'buy' ELSE 'sell' END, 'limit',
               'gtc', 50000 + n, 0.015, 0.015 * (n % 2), 0.015 * (n % 2) * (50000 + n), 0.015 * (1 - n % 2),
               0.01 * (n % 2), 'USD', CASE n % 2 WHEN 0 THEN 'open' ELSE 'filled' END,
               timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second'
        FROM generate_series(1, $2::integer) AS n
        """,
        USER,
        ORDERS,
    )
    await connection.execute("ANALYZE orders")
    await connection.close()


async def measure(platform: ChildPlatform, bare: psutil.Process, port: int, seconds: float, rounds: int) -> None:
    """Load both sides in turn and print them."""
    settings = platform.settings
    await add_orders(settings.database_url)
    await await_listening(settings.host, port)
    now = int(time.time())
    token = sign(Claims(USER, "user", now + 3600), settings.jwt_secret, now)
    sides = {"bare route": port, "OpenSpot": settings.rest_port}
    processes = {"bare route": bare, "OpenSpot": psutil.Process(platform.state.pids["rest-edge"])}
    bodies = []
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        for number in sides.values():
            async with session.get(f"http://{settings.host}:{number}{PATH}") as response:
                assert response.status == 200
                bodies.append(await response.read())
    assert bodies[0] == bodies[1], "both sides return the same bytes"
    print(f"{len(bodies[0])} bytes")

    def streams() -> list[Iterator[bytes]]:
        request = http_request("GET", PATH, b"", token)
        return [iter(lambda: request, None) for _ in range(CONNECTIONS)]

    results: dict[str, list[LoadResult]] = {name: [] for name in sides}
    used: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(-1, rounds):
        for name, side in sides.items():
            before = sum(processes[name].cpu_times()[:2])
            result = await load(settings.host, side, streams(), seconds if number >= 0 else 2)
            if number >= 0:
                results[name].append(result)
                cost = sum(processes[name].cpu_times()[:2]) - before
                used[name].append(1e6 * cost / sum(result.statuses.values()))
    rates = {name: describe(name, found) for name, found in results.items()}
    costs = {name: statistics.median(found) for name, found in used.items()}
    for name, cost in costs.items():
        print(f"{name:12} {cost:8.0f} microseconds of processor time per list")
    print(f"requests/s   bare / OpenSpot {rates['bare route'] / rates['OpenSpot']:.2f} (at most 2.00)")
    print(f"processor    OpenSpot / bare {costs['OpenSpot'] / costs['bare route']:.2f} (at most 2.00)")


def main() -> None:
    """Start both sides, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    bare: subprocess.Popen[bytes] | None = None
    try:
        platform.start()
        port = free_port()
        environment = os.environ | {
            "DATABASE_URL": platform.settings.database_url,
            "OPENSPOT_REST_PORT": str(port),
            "OPENSPOT_DATA_DIR": str(folder / "bare"),
        }
        bare = subprocess.Popen([sys.executable, "-m", "benchmarks.rest_order_list", "bare"], env=environment)
        asyncio.run(measure(platform, psutil.Process(bare.pid), port, options.seconds, options.rounds))
    finally:
        if bare is not None:
            bare.terminate()
            bare.wait()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        sys.exit(run_service("bare-list", run_bare, PlatformSettings()))
    main()
