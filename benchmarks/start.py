"""The start of a whole platform with children that are forks, against children that are programs, in one run.

    .venv/bin/python -m benchmarks.start

Prints for each side: seconds until everything is ready on an empty data directory, processor seconds and memory (the
kernel's proportional share) of the children and the fork server by then, seconds of the stop, and seconds from the
SIGKILL of the engine until it is ready again.
"""

import asyncio
import io
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import patch

import psutil
from rich.console import Console

from openspot.up.embedded_nats import free_port
from openspot.up.launch import ForkLauncher, Launcher, ProgramLauncher
from openspot.up.platform import Platform
from openspot.up.services import SERVICES, PlatformSettings
from openspot.up.supervisor import is_ready

MEBIBYTE = 1024 * 1024


def settings(data_dir: Path) -> PlatformSettings:
    """Settings with free ports."""
    names = [listener.setting for service in SERVICES.values() for listener in service.listeners]
    return PlatformSettings(data_dir=data_dir, nats_port=free_port(), **{name: free_port() for name in names})


def cost() -> tuple[float, float]:
    """Processor seconds and mebibytes of the children that are not servers."""
    family = psutil.Process().children(recursive=True)
    children = [child for child in family if child.name() not in ("postgres", "nats-server")]
    times = [child.cpu_times() for child in children]
    memory = sum(child.memory_full_info().pss for child in children)
    return sum(one.user + one.system for one in times), memory / MEBIBYTE


async def back_after_kill(platform: Platform, pid: int) -> float:
    """Seconds from the engine's end until it is ready again."""
    engine = SERVICES["engine"]
    host, port = engine.listening_host(platform.settings), engine.ready_port(platform.settings)
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    while await is_ready(host, port, platform.settings.readiness_timeout_s):
        await asyncio.sleep(0.005)
    while not await is_ready(host, port, platform.settings.readiness_timeout_s):
        await asyncio.sleep(0.005)
    return time.monotonic() - began


async def measure(name: str, launcher: Callable[[Path], Awaitable[Launcher]]) -> None:
    """Start, kill the engine, stop, and print."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-start-"))
    platform = Platform(settings(folder / "data"), Console(file=io.StringIO()))
    try:
        with patch("openspot.up.platform.best_launcher", launcher):
            platform.take_data_directory()
            began = time.monotonic()
            await platform.start()
        ready = time.monotonic() - began
        seconds, memory = cost()
        pids = platform.pids()
        back = await back_after_kill(platform, pids["engine"])
        began = time.monotonic()
    finally:
        await platform.stop()
        shutil.rmtree(folder, ignore_errors=True)
    stop = time.monotonic() - began
    print(f"{name:9} ready {ready:5.1f} s   children {seconds:5.1f} processor s, {memory:5.0f} MiB   "
          f"engine back {back:4.1f} s after its kill   stop {stop:4.1f} s", flush=True)  # fmt: skip


async def main() -> None:
    """Both sides, twice, in turn."""
    for _ in range(2):
        await measure("forks", ForkLauncher.start)
        await measure("programs", ProgramLauncher.start)


if __name__ == "__main__":
    asyncio.run(main())
