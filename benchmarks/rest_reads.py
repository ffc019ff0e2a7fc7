"""Reading against bare FastAPI routes that return the same bytes from the same source, in one run.

    .venv/bin/python -m benchmarks.rest_reads [--seconds 5] [--rounds 3]

One order, a list of 100 orders, and the balances. The bare routes have the same server, pool, query, conversion and
encoder, and nothing else: no token, request id, filters or memory of recent orders. The aim: a bare request costs at
least 0.8 times as much of the serving process's time as one of the platform.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import aiohttp
import asyncpg
import jwt
import psutil
from fastapi import FastAPI
from starlette.responses import Response

from benchmarks.http_load import LoadResult, http_request, load
from benchmarks.rest_orders import CONNECTIONS, START_S_MAX, await_listening, describe, fund_users
from openspot.engine_client.queries import EngineQueries
from openspot.http.responses import encode_json
from openspot.http.server import http_server
from openspot.kit.bus import Bus
from openspot.kit.database import Pool, create_pool
from openspot.kit.service import run_service
from openspot.kit.settings import environment_of
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.store import OrderStore
from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_nats import free_port
from openspot.up.services import PlatformSettings

ORDERS = 1_000
PATHS = {
    "one order": "/api/v1/orders/benchmark500",
    "list of 100 orders": "/api/v1/orders?limit=100",
    "balances": "/api/v1/accounts/balances",
}
RATIO_MIN = 0.8
USER_VARIABLE = "BENCHMARK_USER"


async def run_bare(settings: PlatformSettings, stop: asyncio.Event) -> None:
    """Serve the bare routes on `settings.rest_port`."""
    pool: Pool = await create_pool(settings, 16)
    store, engine = OrderStore(pool), EngineQueries(settings)
    # Without an engine it would ask the bus. Here the engine is there.
    accounts = AccountService(cast(Bus, None), engine, ())
    user_id = os.environ[USER_VARIABLE]
    app = FastAPI(openapi_url=None)

    @app.get("/api/v1/orders/{order_id}")
    async def get_order(order_id: str) -> Response:
        return Response(encode_json(await store.get(order_id)), media_type="application/json")

    @app.get("/api/v1/orders")
    async def list_orders(limit: int = 100) -> Response:
        page, _ = await store.list_of(user_id, OrderFilter(), limit, None)
        return Response(encode_json(page), media_type="application/json")

    @app.get("/api/v1/accounts/balances")
    async def list_balances() -> Response:
        return Response(encode_json(await accounts.balances(user_id)), media_type="application/json")

    server = http_server(app, settings, settings.rest_port)
    await server.start()
    await stop.wait()
    await server.stop()
    await engine.close()
    await pool.close()


async def add_orders(database_url: str, user_id: str) -> None:
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
        user_id,
        ORDERS,
    )
    await connection.execute("ANALYZE orders")
    await connection.close()


async def measure(platform: ChildPlatform, token: str, bare: psutil.Process, port: int, seconds: float,
                  rounds: int) -> None:  # fmt: skip
    """Load both sides in turn, path by path, and print them."""
    settings = platform.settings
    await await_listening(settings.host, port)
    sides = {"bare route": port, "OpenSpot": settings.rest_port}
    processes = {"bare route": bare, "OpenSpot": psutil.Process(platform.state.pids["rest-edge"])}
    for what, path in PATHS.items():
        bodies = []
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
            for number in sides.values():
                async with session.get(f"http://{settings.host}:{number}{path}") as response:
                    assert response.status == 200, await response.text()
                    bodies.append(await response.read())
        assert bodies[0] == bodies[1], f"both sides return the same bytes:\n{bodies[0]!r}\n{bodies[1]!r}"
        request = http_request("GET", path, b"", token)
        results: dict[str, list[LoadResult]] = {name: [] for name in sides}
        used: dict[str, list[float]] = {name: [] for name in sides}
        for number in range(-1, rounds):
            for name, side in sides.items():
                flows: list[Iterator[bytes]] = [iter(lambda: request, None) for _ in range(CONNECTIONS)]  # noqa: B023
                before = sum(processes[name].cpu_times()[:2])
                result = await load(settings.host, side, flows, seconds if number >= 0 else 1)
                if number >= 0:
                    results[name].append(result)
                    cost = sum(processes[name].cpu_times()[:2]) - before
                    used[name].append(1e6 * cost / sum(result.statuses.values()))
        print(f"{what}, {len(bodies[0])} bytes")
        for name, found in results.items():
            describe(f"  {name}", found)
        costs = {name: statistics.median(found) for name, found in used.items()}
        for name, cost in costs.items():
            print(f"  {name:12} {cost:8.0f} microseconds of processor time a request")
        print(f"  bare / OpenSpot {costs['bare route'] / costs['OpenSpot']:.2f} (at least {RATIO_MIN})", flush=True)


def main() -> None:
    """Start both sides, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_ONE_PROCESS": "false"})
    bare: subprocess.Popen[bytes] | None = None
    try:
        platform.start(START_S_MAX)
        settings = platform.settings
        token = asyncio.run(fund_users(settings))[0]
        user_id = jwt.decode(token, options={"verify_signature": False})["sub"]
        asyncio.run(add_orders(settings.database_url, user_id))
        port = free_port()
        environment = os.environ | environment_of(settings) | {
            "OPENSPOT_REST_PORT": str(port),
            "OPENSPOT_DATA_DIR": str(folder / "bare"),
            USER_VARIABLE: user_id,
        }  # fmt: skip
        bare = subprocess.Popen([sys.executable, "-m", "benchmarks.rest_reads", "bare"], env=environment)
        asyncio.run(measure(platform, token, psutil.Process(bare.pid), port, options.seconds, options.rounds))
    finally:
        if bare is not None:
            bare.terminate()
            bare.wait()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        sys.exit(run_service("bare-reads", run_bare, PlatformSettings()))
    main()
