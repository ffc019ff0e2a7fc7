"""What the venue adapter carries and costs, against a bare loop on the same frames, in one run.

    .venv/bin/python -m benchmarks.venue_ticks [--seconds 15] [--rounds 2]

The simulated venue repeats a file of invented quotes and trades of all twelve markets as fast as its client reads. The
adapter is `openspot run venue`, with ccxt. The bare loop reads the same streams with aiohttp, decodes each frame with
msgspec, and publishes its fields on the same bus: no check, no symbol map, no memory of trades. The sides run in turns;
the simulated venue and the bus share the machine with both.
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
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import files
from itertools import islice
from pathlib import Path

import aiohttp
import msgspec
import psutil

from openspot.contracts import subjects
from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.domain.market import load_markets
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, system_clock
from openspot.kit.service import run_service
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.venue.settings import VenueSettings
from openspot.venue_simulator.events import market_id
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.server import Simulator

MESSAGES = 40_000
WARM_UP_TICKS = 2000
WARM_UP_S_MAX = 60.0
BARE_FRAMES_IN_A_ROW = 64
BARE_FRAMES_COUNTED = 512
MEBIBYTE = 1 << 20
VENUE_PACKAGES = ("ccxt", "aiodns", "pycares", "setuptools")
"""What requirements/venue.lock has beyond run.lock."""
IMPORT = """
import time, psutil
process = psutil.Process()
before, began = process.memory_info().rss, time.perf_counter()
import ccxt.pro
print(time.perf_counter() - began, process.memory_info().rss - before)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One round of one side."""

    ticks_per_s: float
    cpu_ms_per_1000: float
    memory_mib: float

    def __str__(self) -> str:
        return (
            f"{self.ticks_per_s:8,.0f} ticks/s, {self.cpu_ms_per_1000:6.0f} ms of processor time per 1,000 ticks, "
            f"{self.memory_mib:4.0f} MiB"
        )


class BareFrame(msgspec.Struct):
    """The fields of a `bookTicker` (b, B, a, A) or a `trade` (p, q, t, T, m)."""

    s: str = ""
    b: str = ""
    B: str = ""
    a: str = ""
    A: str = ""
    p: str = ""
    q: str = ""
    t: int = 0
    T: int = 0
    m: bool = False


async def bare_loop(settings: VenueSettings, stop: asyncio.Event) -> None:
    """Follow all streams and publish every tick; counts them in a file of the data directory."""
    names = {market_id(seed): seed.symbol for seed in load_markets().seeds}
    streams = [f"{name.lower()}@{kind}" for name in names for kind in ("bookTicker", "trade")]
    decode = msgspec.json.Decoder(BareFrame).decode
    bus = await Bus.connect(settings, "bare")
    counter, draft, count = settings.data_dir / "bare.count", settings.data_dir / "bare.draft", 0
    async with aiohttp.ClientSession() as session, session.ws_connect(settings.venue_config) as socket:
        await socket.send_json({"method": "SUBSCRIBE", "params": streams, "id": 1})
        async for frame in socket:
            if stop.is_set():
                break
            tick = decode(frame.data)
            symbol = names.get(tick.s)
            if symbol is None:
                continue
            if tick.p:
                trade = VenueTrade("binance", symbol, tick.p, tick.q, str(tick.t), tick.T, tick.m)
                await bus.announce(subjects.of_venue("binance", subjects.VENUE_TRADE, symbol), trade)
            else:
                now_ms = system_clock() // NANOSECONDS_PER_MS
                quote = VenueBookTicker("binance", symbol, tick.b, tick.B, tick.a, tick.A, now_ms)
                await bus.announce(subjects.of_venue("binance", subjects.VENUE_BOOK_TICKER, symbol), quote)
            count += 1
            if count % BARE_FRAMES_IN_A_ROW == 0:
                await asyncio.sleep(0)
            if count % BARE_FRAMES_COUNTED == 0:
                draft.write_text(str(count), "utf-8")
                draft.replace(counter)
    await bus.close()


def bare_ticks(settings: VenueSettings) -> float:
    """Ticks that the bare loop has published."""
    path = settings.data_dir / "bare.count"
    return float(path.read_text("utf-8")) if path.exists() else 0.0


def adapter_ticks(settings: VenueSettings) -> float:
    """Ticks that the adapter has published, or 0 while it does not listen."""
    try:
        with urllib.request.urlopen(f"{settings.venue_url}/metrics", timeout=5) as response:
            lines = response.read().decode().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[-1]) for line in lines if line.startswith("openspot_venue_ticks_total{"))


@contextmanager
def child(*arguments: str, **environment: str) -> Iterator[psutil.Process]:
    """A Python process that is ended at the end."""
    process = subprocess.Popen([sys.executable, *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def write_messages(path: Path) -> None:
    """Write invented quotes and trades in the form of a recording: inventing them takes longer than republishing."""
    events = (event for event in Generator(seed=1).events() if "U" not in event.data)
    with path.open("w", encoding="utf-8") as file:
        for event in islice(events, MESSAGES):
            file.write(f"{event.at_ns} {json.dumps({'stream': event.stream, 'data': event.data})}\n")


def measure(side: str, settings: VenueSettings, messages: Path, seconds: float) -> Measured:
    """Run one side against a fresh simulated venue."""
    port = free_port()
    venue = Simulator(Generator(seed=1), port=port)
    ticks = adapter_ticks if side == "adapter" else bare_ticks
    config = venue.adapter_config if side == "adapter" else venue.ws_url
    program = ("openspot.cli", "run", "venue") if side == "adapter" else ("benchmarks.venue_ticks", "--bare")
    environment = {
        "NATS_URL": settings.nats_url,
        "OPENSPOT_DATA_DIR": str(settings.data_dir),
        "OPENSPOT_VENUE": "binance",
        "OPENSPOT_VENUE_CONFIG": config,
        "OPENSPOT_VENUE_PORT": str(settings.venue_port),
        "OPENSPOT_VENUE_RECONNECT_S_MAX": "1",
        "OPENSPOT_LOG_LEVEL": "WARNING",
    }
    (settings.data_dir / "bare.count").unlink(missing_ok=True)
    plays = ("--recording", str(messages), "--only-recording", "--loop", "--speed", "0", "--port", str(port))
    with child("-m", "openspot.venue_simulator", *plays):
        wait_for_port(port)
        with child("-m", *program, **environment) as process:
            deadline = time.monotonic() + WARM_UP_S_MAX
            while ticks(settings) < WARM_UP_TICKS:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{side}: no {WARM_UP_TICKS} ticks within {WARM_UP_S_MAX:.0f} s")
                time.sleep(0.05)
            first, first_cpu, began = ticks(settings), sum(process.cpu_times()[:2]), time.monotonic()
            time.sleep(seconds)
            count, cpu_s = ticks(settings) - first, sum(process.cpu_times()[:2]) - first_cpu
            took_s, memory = time.monotonic() - began, process.memory_info().rss
    return Measured(count / took_s, cpu_s / count * 1e6, memory / MEBIBYTE)


def wait_for_port(port: int) -> None:
    """Return when the simulated venue listens."""
    deadline = time.monotonic() + WARM_UP_S_MAX
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v3/ping", timeout=5):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit("the simulated venue does not listen") from error
            time.sleep(0.05)


def print_cost_of_the_library() -> None:
    """The library on disk, its import time and its memory."""
    size = sum(path.stat().st_size for name in VENUE_PACKAGES for path in map(Path, located(name)) if path.exists())
    print(f"{', '.join(VENUE_PACKAGES)}: {size / MEBIBYTE:.0f} MiB on disk, without compiled files")
    for _ in range(3):
        outcome = subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True)
        seconds, memory = map(float, outcome.stdout.split())
        print(f"import ccxt.pro: {seconds:.2f} s, {memory / MEBIBYTE:.0f} MiB")


def located(package: str) -> list[str]:
    """The files of an installed package that its wheel brought."""
    return [str(path.locate()) for path in files(package) or () if path.suffix != ".pyc"]


def main() -> int:
    """Measure both sides in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        return run_service("bare", bare_loop, VenueSettings())
    print_cost_of_the_library()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    nats = EmbeddedNats(folder / "nats", free_port())
    try:
        nats.start()
        messages = folder / "messages.ndjson"
        write_messages(messages)
        settings = VenueSettings(nats_url=nats.url, data_dir=folder, venue_port=free_port())
        for number in range(1, options.rounds + 1):
            measured = {side: measure(side, settings, messages, options.seconds) for side in ("adapter", "bare loop")}
            for side, found in measured.items():
                print(f"round {number}, {side:10}{found}", flush=True)
            ratio = measured["adapter"].cpu_ms_per_1000 / measured["bare loop"].cpu_ms_per_1000
            print(f"round {number}: the adapter takes {ratio:.1f} times the processor time of the bare loop")
    finally:
        nats.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
