"""From the engine's event to a WebSocket client, with the whole platform at half of its own highest order rate.

    .venv/bin/python -m benchmarks.ws_latency [--seconds 20]

The highest rate is measured first, as in `rest_orders`. Then orders come at half of it. A listener in a process of its
own takes each trade twice: from the WebSocket edge, after engine, market data, bus and edge; and, as the other side of
the comparison, from the engine's event stream itself. Both times run from the engine's clock at the trade. That clock
gives whole milliseconds, so each figure is up to 1 ms too large. Book updates come at their own pace, which is 100 ms;
their times run from the newest event that they include.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import msgspec
from websockets.asyncio.client import connect

from benchmarks.http_load import load
from benchmarks.rest_orders import fund_users, streams
from openspot.contracts.engine_events import TradeEvent
from openspot.engine_client.stream import EngineStream
from openspot.reconcile.store import EngineReader
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import PlatformSettings

SYMBOL = "BTC-USD"
EVENTS_MAX = 4096
ARRIVE_S = 2.0
SHARES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
CHANNELS = {f"trades:{SYMBOL}": "trade, by the edge", f"orderbook:{SYMBOL}": "book update, by the edge"}


class Push(msgspec.Struct):
    """What the listener reads of a push."""

    ts: int = 0
    type: str = ""
    channel: str = ""


class Listener:
    """Latencies in milliseconds, by what was heard."""

    def __init__(self) -> None:
        self.heard: dict[str, list[float]] = {
            what: [] for what in ("trade, from the engine's stream", *CHANNELS.values())
        }

    async def hear_edge(self, url: str) -> None:
        """Hear the edge until cancelled."""
        decode = msgspec.json.Decoder(Push).decode
        async with connect(url, compression=None) as socket:
            for channel in CHANNELS:
                await socket.send(json.dumps({"action": "subscribe", "channel": channel}))
            while True:
                data = await socket.recv(decode=False)
                now_ms = time.time_ns() / 1e6
                push = decode(data)
                if push.type == "update":
                    self.heard[CHANNELS[push.channel]].append(now_ms - push.ts)

    async def hear_engine(self, engine_url: str, headers: dict[str, str], from_sequence: int) -> None:
        """Hear the engine's stream until cancelled."""
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            EngineStream(session, engine_url, from_sequence, hello_s_max=10.0) as stream,
        ):
            while True:
                await stream.arrived()
                now_ms = time.time_ns() / 1e6
                for event in stream.take(EVENTS_MAX):
                    if isinstance(event, TradeEvent) and event.symbol == SYMBOL:
                        self.heard["trade, from the engine's stream"].append(now_ms - event.timestamp)


async def listen(folder: Path) -> None:
    """The listener's process: hears until its standard input ends, then prints what it heard as JSON."""
    platform = ChildPlatform(folder)
    settings = platform.settings
    async with EngineReader(settings) as reader:
        position = (await reader.position()).last_seq
    listener = Listener()
    tasks = [
        asyncio.create_task(listener.hear_edge(f"{settings.ws_url}/")),
        asyncio.create_task(listener.hear_engine(settings.engine_url, settings.service_headers, position + 1)),
    ]
    reading = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    await asyncio.wait([reading, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    print(json.dumps(listener.heard))


async def measure(settings: PlatformSettings, folder: Path, seconds: float) -> None:
    """Find the highest rate, load with half of it, print the latencies."""
    tokens = await fund_users(settings)
    address = (settings.host, settings.rest_port)
    await load(*address, streams(tokens, 99), 2)
    highest = (await load(*address, streams(tokens, 0), seconds / 2)).requests_per_second
    await asyncio.sleep(ARRIVE_S)
    listener = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.ws_latency", "--listen", str(folder),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    await asyncio.sleep(ARRIVE_S)
    half = await load(*address, streams(tokens, 1), seconds, rate=highest / 2)
    await asyncio.sleep(ARRIVE_S)
    output, _ = await listener.communicate(b"")
    print(f"highest rate {highest:.0f} orders/s; loaded with {half.requests_per_second:.0f} orders/s")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for what, latencies in json.loads(output).items():
        ordered = sorted(latencies)
        figures = "   ".join(f"{name} {ordered[int(share * len(ordered))]:.1f} ms" for name, share in SHARES)
        print(f"{what:<33} {len(ordered):>7,}   {figures}")


def main() -> None:
    """Start a platform, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--listen", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.listen is not None:
        asyncio.run(listen(options.listen))
        return
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    try:
        platform.start()
        asyncio.run(measure(platform.settings, folder, options.seconds))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
