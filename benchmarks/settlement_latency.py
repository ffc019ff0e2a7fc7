"""From the engine's fill to the balance event, with the whole platform at half of its own highest order rate.

    .venv/bin/python -m benchmarks.settlement_latency [--seconds 20]

The highest rate is measured first, as in `rest_orders`. Then orders come at half of it, and each trade's time runs
from the engine's clock at the fill to the arrival of the `trades.settled` that names it. That is published after the
trade's `balances.updated` events, so the figures are upper bounds of theirs.
"""

import argparse
import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.http_load import load
from benchmarks.rest_orders import fund_users, streams
from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated, ExecutedTrade, TradesSettled
from openspot.kit.bus import Bus
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import PlatformSettings

SETTLED_S_MAX = 30.0


class Settlements:
    """Hears trades, balance events and settlements, each with the moment of its arrival in milliseconds."""

    def __init__(self) -> None:
        self.filled_at: dict[str, int] = {}
        self.settled_at: dict[str, float] = {}
        self.balance_events = 0

    async def listen(self, bus: Bus) -> None:
        """Begin to hear."""
        await bus.subscribe(subjects.TRADES_EXECUTED, ExecutedTrade, self._filled)
        await bus.subscribe(subjects.of_user(subjects.BALANCES_UPDATED, "*"), BalanceUpdated, self._moved)
        await bus.subscribe(subjects.TRADES_SETTLED, TradesSettled, self._settled)

    async def _filled(self, _: str, trade: ExecutedTrade) -> None:
        self.filled_at[trade.id] = trade.timestamp

    async def _moved(self, _: str, __: BalanceUpdated) -> None:
        self.balance_events += 1

    async def _settled(self, _: str, batch: TradesSettled) -> None:
        now_ms = time.time() * 1000
        for trade_id in batch.trade_ids:
            self.settled_at.setdefault(trade_id, now_ms)

    def latencies_ms(self) -> list[float]:
        """Of each trade that was heard of, ascending."""
        return sorted(self.settled_at[trade_id] - moment for trade_id, moment in self.filled_at.items())


async def measure(settings: PlatformSettings, seconds: float) -> None:
    """Find the highest rate, load with half of it, print the latencies."""
    tokens = await fund_users(settings)
    address = (settings.host, settings.rest_port)
    await load(*address, streams(tokens, 99), 2)
    highest = (await load(*address, streams(tokens, 0), seconds / 2)).requests_per_second
    # What the highest rate has left behind is settled before anything is timed.
    await asyncio.sleep(2)
    bus = await Bus.connect(settings, "benchmark")
    heard = Settlements()
    await heard.listen(bus)
    half = await load(*address, streams(tokens, 1), seconds, rate=highest / 2)
    deadline = time.monotonic() + SETTLED_S_MAX
    while heard.filled_at.keys() - heard.settled_at.keys() and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    await bus.close()
    unsettled = heard.filled_at.keys() - heard.settled_at.keys()
    assert not unsettled, f"{len(unsettled)} trades are not settled"
    latencies = heard.latencies_ms()
    print(f"highest rate {highest:.0f} orders/s; loaded with {half.requests_per_second:.0f} orders/s")
    print(f"{len(latencies)} trades, {heard.balance_events} balance events")
    shares = {name: latencies[min(len(latencies) - 1, int(share * len(latencies)))] for name, share in PERCENTILES}
    print("fill to balance event, at most: " + "   ".join(f"{name} {value:.0f} ms" for name, value in shares.items()))
    print(f"placement meanwhile: p50 {half.percentile_ms(0.5):.1f} ms   p99 {half.percentile_ms(0.99):.1f} ms")


PERCENTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))


def main() -> None:
    """Start a platform, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    try:
        platform.start()
        asyncio.run(measure(platform.settings, options.seconds))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
