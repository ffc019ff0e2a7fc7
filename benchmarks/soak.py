"""The demo market for a long time: does memory grow, do loops stall, do all mirrors agree at the end?

    .venv/bin/python -m benchmarks.soak [--minutes 10] [--every 15] [--bound 60]

Caches of orders and events have small bounds, so that what still grows is no cache. Prints, at intervals, the memory of
every process, the slowest reply to `/health/live` (a process whose event loop is busy replies late) and the sizes of
journal, JetStream and database. At the end: each process's slope of memory after the warm-up, by least squares, and
the outcome of `openspot reconcile` and `openspot market-data verify`. The verdict is bad, and the exit code 1, if a
slope is above the bound or a comparison found differences.
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
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import asyncpg
import psutil

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import enabled

START_S_MAX = 300.0
WARM_UP_SHARE = 0.4
"""This part of the time is not looked at: caches and pools fill."""
MEGABYTE = 1_000_000
SMALL_CACHES = {
    "OPENSPOT_ENGINE_STREAM_BUFFER": "2048",
    "OPENSPOT_ENGINE_ORDERS_REMEMBERED": "2000",
    "OPENSPOT_KNOWN_ORDERS_MAX": "2000",
}
"""Bounds that are reached within minutes. The usual ones are reached after days of the demo market."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds since the start; megabytes by process; seconds to the slowest reply by process; megabytes by store."""

    at_s: float
    memory: dict[str, float]
    reply_s: dict[str, float]
    stores: dict[str, float]


def memory_of(pid: int) -> float:
    """Megabytes that a process and its children have for themselves.

    What they share has a fixed size: the program, and PostgreSQL's buffers.
    """
    process = psutil.Process(pid)
    total = 0
    for member in (process, *process.children(recursive=True)):
        try:
            total += member.memory_full_info().uss
        except psutil.NoSuchProcess:
            continue
    return total / MEGABYTE


def size_of(folder: Path) -> float:
    """Megabytes of the files in a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(place, name).stat().st_size
            except FileNotFoundError:
                continue
    return total / MEGABYTE


async def reply_times(platform: ChildPlatform) -> dict[str, float]:
    """How long each service takes for a request that needs nothing but its event loop."""
    settings = platform.settings
    found = {}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        for name, service in enabled(settings).items():
            began = time.monotonic()
            async with session.get(f"http://127.0.0.1:{service.ready_port(settings)}/health/live") as reply:
                await reply.read()
            found[name] = time.monotonic() - began
    return found


async def database_size(platform: ChildPlatform) -> float:
    """Megabytes of the database."""
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())")) / MEGABYTE
    finally:
        await connection.close()


async def sample(platform: ChildPlatform, at_s: float) -> Sample:
    """What there is to see now."""
    replies = await reply_times(platform)
    stores = {
        "journal": size_of(platform.data_dir / "engine"),
        "JetStream": size_of(platform.data_dir / "nats"),
        "database": await database_size(platform),
    }
    return Sample(at_s, {name: memory_of(pid) for name, pid in platform.state.processes.items()}, replies, stores)


def show(taken: Sample) -> None:
    """Print one line of a sample."""
    slowest = max(taken.reply_s, key=lambda name: taken.reply_s[name])
    memory = ", ".join(f"{name} {megabytes:.0f}" for name, megabytes in taken.memory.items())
    stores = ", ".join(f"{name} {megabytes:.1f}" for name, megabytes in taken.stores.items())
    print(
        f"{taken.at_s / 60:5.1f} min, load {os.getloadavg()[0]:.1f} | MB: {memory} | "
        f"slowest reply {taken.reply_s[slowest] * 1000:.0f} ms ({slowest}) | files MB: {stores}",
        flush=True,
    )


def slopes(samples: list[Sample]) -> dict[str, float]:
    """Megabytes an hour by process, after the warm-up."""
    late = [taken for taken in samples if taken.at_s >= samples[-1].at_s * WARM_UP_SHARE]
    hours = [taken.at_s / 3600 for taken in late]
    return {
        name: statistics.linear_regression(hours, [taken.memory[name] for taken in late]).slope
        for name in samples[-1].memory
    }


def openspot(platform: ChildPlatform, *arguments: str) -> bool:
    """Run a command for the platform and print what it says; returns whether it found nothing."""
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    print(f"openspot {' '.join(arguments)}: exit code {outcome.returncode}\n{outcome.stdout}{outcome.stderr}".rstrip())
    return outcome.returncode == 0


def run(platform: ChildPlatform, minutes: float, every_s: float, bound: float) -> bool:
    """The whole soak; returns whether the verdict is good."""
    platform.start(START_S_MAX)
    pids = dict(platform.state.processes)
    began = time.monotonic()
    samples: list[Sample] = []
    while not samples or samples[-1].at_s < minutes * 60:
        time.sleep(max(0.0, began + every_s * (len(samples) + 1) - time.monotonic()))
        samples.append(asyncio.run(sample(platform, time.monotonic() - began)))
        show(samples[-1])
    found = slopes(samples)
    for name, slope in found.items():
        print(f"{name:14} {slope:+8.1f} MB an hour after the warm-up{'  ABOVE THE BOUND' if slope > bound else ''}")
    slow = [max(taken.reply_s.values()) * 1000 for taken in samples]
    print(f"slowest reply of all processes: median {statistics.median(slow):.0f} ms, longest {max(slow):.0f} ms")
    restarted = [name for name, pid in platform.state.processes.items() if pid != pids[name]]
    print(f"restarted: {', '.join(restarted) or 'none'}")
    agree = [openspot(platform, "reconcile", "--wait", "60"), openspot(platform, "market-data", "verify")]
    return all(agree) and not restarted and all(slope <= bound for slope in found.values())


def main() -> int:
    """Soak, print the verdict, clean up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--every", type=float, default=15.0, help="seconds between two samples")
    parser.add_argument("--bound", type=float, default=60.0, help="megabytes an hour that a process may grow by")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-soak-"))
    platform = ChildPlatform(folder, SMALL_CACHES, arguments=["--demo"])
    try:
        good = run(platform, options.minutes, options.every, options.bound)
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"verdict: {'good' if good else 'bad'} (bound {options.bound:g} MB an hour for each process)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
