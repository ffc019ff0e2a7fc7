"""Orders over an order connection (WebSocket) against REST with keep-alive, one connection each, in one run.

    .venv/bin/python -m benchmarks.ws_orders [--seconds 8] [--rounds 3] [--under-way 16] [--lone 40]

Both sides place the same flow of orders at the same platform, in turn: one that sends the next order when the last one
is answered (REST cannot do otherwise on a connection), and on the order connection also one that has several orders
under way. A lone order finds an idle platform. The aims: 1.5 times the orders a second, half the median of a lone one.
Beside them the round trip of an empty request over the bus: what one more process between client and edge would add.
"""

import argparse
import asyncio
import itertools
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from websockets.asyncio.client import connect

from benchmarks.http_load import LoadResult, load
from benchmarks.rest_orders import (
    LONE_PAUSE_S,
    QUIET_S_MAX,
    START_S_MAX,
    await_quiet,
    describe,
    fund_users,
    order_bodies,
    streams,
)
from openspot.kit.bus import Bus
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import PlatformSettings

UNDER_WAY = 16
ROUND_TRIPS = 200


class _Reply(msgspec.Struct):
    id: int
    status: int


_read = msgspec.json.Decoder(_Reply).decode


async def load_connection(
    settings: PlatformSettings, token: str, bodies: Iterator[bytes], seconds: float, *, under_way: int, pause_s: float
) -> LoadResult:
    """Send orders on one connection, so many at a time, until the time is up or there are none."""
    result = LoadResult()
    began_at: dict[int, float] = {}
    address = settings.rest_url.replace("http", "ws", 1) + "/api/v1/orders/connection"
    places = asyncio.Semaphore(under_way)
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(address, additional_headers=headers, compression=None) as socket:

        async def read() -> None:
            async for text in socket:
                reply = _read(text)
                result.latencies_s.append(time.perf_counter() - began_at.pop(reply.id))
                result.statuses[reply.status] += 1
                places.release()

        reader = asyncio.create_task(read())
        began = time.perf_counter()
        for number, body in enumerate(bodies):
            await places.acquire()
            if time.perf_counter() - began > seconds:
                places.release()
                break
            await asyncio.sleep(pause_s)
            began_at[number] = time.perf_counter()
            await socket.send(b'{"id":%d,"action":"placeOrder","body":%b}' % (number, body), text=True)
        for _ in range(under_way):
            await places.acquire()
        result.seconds = time.perf_counter() - began
        reader.cancel()
    return result


async def bus_round_trip_ms(settings: PlatformSettings) -> float:
    """The median time of a round trip to the bus's server, in milliseconds. A request over it takes two."""
    bus = await Bus.connect(settings, "benchmark")
    took = []
    for _ in range(ROUND_TRIPS):
        began = time.perf_counter()
        await bus.check()
        took.append(time.perf_counter() - began)
    await bus.close()
    return 1000 * statistics.median(took)


async def measure(platform: ChildPlatform, options: argparse.Namespace) -> None:
    """Load the sides in turn and print them."""
    settings, pids = platform.settings, platform.state.processes
    token = (await fund_users(settings))[0]
    sides: dict[str, list[LoadResult]] = {"REST": [], "WebSocket 1": [], f"WebSocket {options.under_way}": []}
    lone: dict[str, list[LoadResult]] = {"REST": [], "WebSocket": []}

    async def run(number: int, count: int | None, under_way: int, seconds: float, pause_s: float) -> LoadResult:
        await await_quiet(pids)
        if not under_way:
            flow = itertools.islice(streams([token], number, 1)[0], count)
            return await load(settings.host, settings.rest_port, [flow], seconds, 1 / pause_s if pause_s else None)
        flow = itertools.islice(order_bodies(number * 1000), count)
        return await load_connection(settings, token, flow, seconds, under_way=under_way, pause_s=pause_s)

    for number in range(-1, options.rounds):
        for name, under_way in zip(sides, (0, 1, options.under_way), strict=True):
            result = await run(50 + number, None, under_way, options.seconds if number >= 0 else 2, 0)
            if number >= 0:
                sides[name].append(result)
        for name, under_way in zip(lone, (0, 1), strict=True):
            if number >= 0:
                lone[name].append(await run(90 + number, options.lone, under_way, QUIET_S_MAX, LONE_PAUSE_S))
    rest, *others = [describe(name, results) for name, results in sides.items()]
    for name, rate in zip(list(sides)[1:], others, strict=True):
        print(f"{name} / REST: {rate / rest:.2f} times the orders a second on one connection")
    medians = []
    for name, results in lone.items():
        medians.append(statistics.median(result.percentile_ms(0.5) for result in results))
        print(f"lone order at an idle platform, {name:10} p50 {medians[-1]:6.2f} ms")
    print(f"WebSocket / REST: {medians[1] / medians[0]:.2f} of the median of a lone order")
    print(f"round trip to the bus's server: p50 {await bus_round_trip_ms(settings):.2f} ms")


def main() -> None:
    """Start a platform, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--under-way", type=int, default=UNDER_WAY, help="orders under way on the order connection")
    parser.add_argument("--lone", type=int, default=40, help="orders that are sent one at a time, each round")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_RULES": "complete"})
    try:
        platform.start(START_S_MAX)
        asyncio.run(measure(platform, options))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
