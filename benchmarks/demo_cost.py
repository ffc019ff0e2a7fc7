"""Processor time of every process without the demo market and with it, in one run.

    .venv/bin/python -m benchmarks.demo_cost [--seconds 60]

Starts a platform, waits until it has settled, and measures; then the same data directory again with `--demo`.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.platform_metrics import counted
from benchmarks.rest_orders import cpu_seconds
from openspot.client import OpenSpotClient
from openspot.up.child_platform import ChildPlatform

START_S_MAX = 300.0
SETTLE_S = 10.0
LIVE_S_MAX = 300.0


async def await_trades(platform: ChildPlatform) -> None:
    """Wait until every market has traded."""
    async with OpenSpotClient(platform.settings.rest_url) as client, asyncio.timeout(LIVE_S_MAX):
        while any(ticker.last_price is None for ticker in await client.tickers()):
            await asyncio.sleep(1)


def measure(platform: ChildPlatform, seconds: float) -> tuple[dict[str, float], float]:
    """Milliseconds of processor time in a second, by process; and the seconds that it was measured for."""
    time.sleep(SETTLE_S)
    before, began = cpu_seconds(platform.state.processes), time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - began
    after = cpu_seconds(platform.state.processes)
    return {name: (after[name] - before[name]) / lasted * 1000 for name in after}, lasted


def main() -> None:
    """Measure both, and print them side by side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each side is measured")
    seconds = parser.parse_args().seconds
    folder = Path(tempfile.mkdtemp(prefix="openspot-demo-cost-"))
    quiet, lively = ChildPlatform(folder), ChildPlatform(folder, arguments=["--demo"])
    try:
        quiet.start(START_S_MAX)
        without, _ = measure(quiet, seconds)
        quiet.stop()
        lively.start(START_S_MAX)
        asyncio.run(await_trades(lively))
        orders, cancels = (
            counted(str(lively.settings.demo_url), "openspot_demo_orders_total"),
            counted(str(lively.settings.demo_url), "openspot_demo_cancels_total"),
        )
        began = time.monotonic()
        with_bots, _ = measure(lively, seconds)
        lasted = time.monotonic() - began
        orders = (counted(str(lively.settings.demo_url), "openspot_demo_orders_total") - orders) / lasted
        cancels = (counted(str(lively.settings.demo_url), "openspot_demo_cancels_total") - cancels) / lasted
    finally:
        quiet.stop()
        lively.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"with the bots: {orders:.1f} orders and {cancels:.1f} cancels a second on 12 markets")
    print("processor time in ms of each second   without    with")
    for name in sorted(with_bots, key=lambda name: -with_bots[name]):
        print(f"  {name:34} {without.get(name, 0.0):8.1f} {with_bots[name]:8.1f}")
    print(f"  {'all':34} {sum(without.values()):8.1f} {sum(with_bots.values()):8.1f}")


if __name__ == "__main__":
    main()
