"""A batch of 20 orders in one request against 20 requests of one order, in processor time of all processes, in one run.

    .venv/bin/python -m benchmarks.rest_order_batch [--seconds 8] [--rounds 3] [--connections 4] [--at-most 150]

Both sides place the same flow of orders at the same platform, in turn. What an order costs is counted until everything
behind it is done too. On a busy machine that takes long, so no round begins after `--at-most` seconds of measuring, and
the output says how many rounds were measured; the first one always is. The aim: 20 orders of a batch cost at most a
quarter of 20 requests.
"""

import argparse
import asyncio
import itertools
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.http_load import http_request
from benchmarks.rest_orders import START_S_MAX, Side, describe, fund_users, order_bodies, streams
from openspot.up.child_platform import ChildPlatform

BATCH = 20
RATIO_MAX = 0.25
CONNECTIONS = 4
QUIET_S_MAX = 10.0
"""A platform that is not quiet by then is measured as it is."""


def batch_streams(tokens: list[str], seed: int, connections: int) -> list[Iterator[bytes]]:
    """One flow of requests for each connection; each request has the next BATCH orders."""

    def requests(number: int) -> Iterator[bytes]:
        bodies = order_bodies(seed * 1000 + number)
        while True:
            body = b'{"orders":[%b]}' % b",".join(itertools.islice(bodies, BATCH))
            yield http_request("POST", "/api/v1/orders/batch", body, tokens[number % len(tokens)])

    return [requests(number) for number in range(connections)]


async def measure(platform: ChildPlatform, options: argparse.Namespace) -> None:
    """Load both sides in turn and print them."""
    settings, pids = platform.settings, platform.state.processes
    tokens = await fund_users(settings)
    sides = [Side(name, settings.rest_port, pids, quiet_s_max=QUIET_S_MAX) for name in ("one order", f"{BATCH} orders")]
    end = time.monotonic() + options.at_most
    for number in range(-1, options.rounds):
        if number > 0 and time.monotonic() > end:
            print(f"{number} of {options.rounds} rounds were measured within {options.at_most:.0f} s")
            break
        for side, make in zip(sides, (streams, batch_streams), strict=True):
            await side.load(settings.host, make(tokens, 50 + number, options.connections), options.seconds)
            if number < 0:
                side.forget()
    for side in sides:
        describe(side.name, side.results)
    single, batch = (side.microseconds() for side in sides)
    print(f"processor time in microseconds: {BATCH} requests of one order, one request of {BATCH}")
    for name, value in single.items():
        print(f"  {name:14} {BATCH * value:9.0f} {batch[name]:9.0f}")
    ones, together = BATCH * sum(single.values()), sum(batch.values())
    print(f"  {'all':14} {ones:9.0f} {together:9.0f}   ratio {together / ones:.2f} (at most {RATIO_MAX})")


def main() -> None:
    """Start a platform, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--at-most", type=float, default=150, help="seconds after which no further round begins")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    try:
        platform.start(START_S_MAX)
        asyncio.run(measure(platform, options))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
