"""What an idle platform costs: processor time, wake-ups and memory of every process.

    .venv/bin/python -m benchmarks.idle [--seconds 60] [--settle 30]

Starts a platform as `openspot up` does, on an empty data directory, waits until it has settled, and measures. A wake-up
is a voluntary switch of a thread: the thread slept and was called. Memory is what a process has for itself (USS), and
the kernel's proportional share (PSS), whose sum is what the whole platform takes. PostgreSQL counts with its children.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.rest_orders import START_S_MAX
from openspot.up.child_platform import ChildPlatform
from openspot.up.state import PlatformState

MEBIBYTE = 1024 * 1024
CPU_SHARE_MAX = 0.03
MEMORY_MIB_MAX = 900
SUPERVISOR, FORK_SERVER = "openspot up", "fork server"


@dataclass(frozen=True, slots=True)
class Activity:
    """Nanoseconds of processor time and voluntary switches of a process with its children, since they started."""

    nanoseconds: int
    switches: int


def parts_of(state: PlatformState) -> dict[str, list[psutil.Process]]:
    """The processes of each part: the services, the servers with their children, the supervisor, the fork server."""
    parts = {}
    for name, pid in state.processes.items():
        process = psutil.Process(pid)
        parts[name] = [process, *process.children(recursive=True)]
    known = {process.pid for family in parts.values() for process in family}
    supervisor = psutil.Process(state.supervisor_pid)
    parts[SUPERVISOR] = [supervisor]
    others = [process for process in supervisor.children(recursive=True) if process.pid not in known]
    if others:
        parts[FORK_SERVER] = others
    return parts


def _threads(processes: list[psutil.Process]) -> Iterator[Path]:
    for process in processes:
        yield from Path(f"/proc/{process.pid}/task").glob("*")


def activity_of(processes: list[psutil.Process]) -> Activity:
    """What the threads of these processes have used. A thread that ends meanwhile is left out."""
    nanoseconds = switches = 0
    for thread in _threads(processes):
        try:
            used = int((thread / "schedstat").read_text("ascii").split()[0])
            status = (thread / "status").read_text("utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue
        nanoseconds += used
        switches += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return Activity(nanoseconds, switches)


def memory_of(processes: list[psutil.Process]) -> tuple[float, float]:
    """USS and PSS in MiB."""
    own = shared = 0
    for process in processes:
        try:
            memory = process.memory_full_info()
        except psutil.NoSuchProcess:
            continue
        own += memory.uss
        shared += memory.pss
    return own / MEBIBYTE, shared / MEBIBYTE


def measure(platform: ChildPlatform, seconds: float) -> None:
    """Measure for so many seconds, and print a row for each part."""
    parts = parts_of(platform.state)
    before, began = {name: activity_of(family) for name, family in parts.items()}, time.monotonic()
    time.sleep(seconds)
    after, lasted = {name: activity_of(family) for name, family in parts.items()}, time.monotonic() - began
    rows = []
    for name, family in parts.items():
        own, shared = memory_of(family)
        milliseconds = (after[name].nanoseconds - before[name].nanoseconds) / 1e6 / lasted
        wake_ups = (after[name].switches - before[name].switches) / lasted
        rows.append((name, milliseconds, wake_ups, own, shared))
    print(f"{'':22} {'ms a second':>12} {'wake-ups/s':>11} {'USS, MiB':>9} {'PSS, MiB':>9}")
    for name, *figures in sorted(rows, key=lambda row: -row[1]):
        print("{:22} {:12.2f} {:11.1f} {:9.1f} {:9.1f}".format(name, *figures))
    total = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    print("{:22} {:12.2f} {:11.1f} {:9.1f} {:9.1f}".format("all", *total))
    print(f"a core: {total[0] / 10:.1f} % (at most {CPU_SHARE_MAX:.0%}); memory: {total[3]:.0f} MiB "
          f"(at most {MEMORY_MIB_MAX})")  # fmt: skip


def main() -> None:
    """Start the platform, let it settle, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it is measured")
    parser.add_argument("--settle", type=float, default=30.0, help="how long it is left alone before that")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-idle-"))
    platform = ChildPlatform(folder)
    try:
        started_s = platform.start(START_S_MAX)
        time.sleep(options.settle)
        measure(platform, options.seconds)
        print(f"ready after {started_s:.1f} s; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
