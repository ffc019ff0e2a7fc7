"""The machine: Python, core, processors, memory, limits of the kernel, clock."""

import contextlib
import ctypes
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from openspot.doctor.findings import Finding, fine, problem, warning
from openspot.engine.core.selection import CoreUnavailableError, make_core
from openspot.up.interpreter import Build, slow_build
from openspot.up.services import cores

GIBIBYTE = 1 << 30
MEMORY_BYTES_MIN = 2 * GIBIBYTE
MEMORY_FREE_BYTES_MIN = GIBIBYTE // 2
FILES_MIN = 4096
FILES_WANTED = 65_536
PROCESSES_MIN = 1024
CONNECTIONS_WAITING_MIN = 1024
SHARED_MEMORY_BYTES_MIN = 256 << 20
"""The embedded PostgreSQL has 128 MB of shared buffers, and shares more while it works on a query in parallel."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108
_UNSYNCHRONISED = 0x40
_TIMEX_BYTES = 512
"""More than the kernel's record of the clock takes anywhere."""
_STATUS_OFFSET = 40
"""Where its status is on 64-bit Linux: behind modes, offset, freq, maxerror and esterror."""
_CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts of a machine, sizes in bytes. A limit is None where there is none, or where it cannot be told."""

    slow_build: str | None
    core: str
    core_fault: str
    cores: int
    memory: int
    memory_free: int
    files_max: int | None
    processes_max: int | None
    connections_waiting_max: int | None
    shared_memory: int | None
    is_clock_synchronised: bool | None


def this_machine() -> Machine:
    """The machine that this runs on."""
    memory = psutil.virtual_memory()
    limit = _cgroup_limit()
    core, fault = "", ""
    try:
        core = make_core("auto").name
    except (ImportError, CoreUnavailableError) as error:
        fault = str(error)
    return Machine(
        slow_build=slow_build(Build.of_this_python()),
        core=core,
        core_fault=fault,
        cores=cores(),
        memory=min(memory.total, limit or memory.total),
        memory_free=min(memory.available, limit or memory.available),
        files_max=_hard_limit(resource.RLIMIT_NOFILE),
        processes_max=_hard_limit(getattr(resource, "RLIMIT_NPROC", None)),
        connections_waiting_max=_number(Path("/proc/sys/net/core/somaxconn")),
        shared_memory=psutil.disk_usage(SHARED_MEMORY).total if Path(SHARED_MEMORY).is_dir() else None,
        is_clock_synchronised=is_clock_synchronised(),
    )


def findings_of(machine: Machine) -> Iterator[Finding]:
    """What the facts of a machine mean."""
    if machine.slow_build:
        text, _, remedy = machine.slow_build.partition(": ")
        yield warning("python", text, remedy)
    else:
        yield fine("python", "this Python is a fast build")
    yield _core(machine)
    yield _processors(machine)
    yield from _memory(machine)
    yield from _limits(machine)
    if machine.is_clock_synchronised is False:
        yield warning(
            "clock", "the system says that its clock is not synchronised", "run chrony or systemd-timesyncd: signed "
            "requests, second factors and candles depend on the time",
        )  # fmt: skip
    elif machine.is_clock_synchronised:
        yield fine("clock", "the clock is synchronised")


def _core(machine: Machine) -> Finding:
    if machine.core_fault:
        return problem("core", f"the Rust core does not load: {machine.core_fault}", "build it again with `make core`")
    if machine.core != "rust":
        return warning("core", "the engine runs the Python core, which is many times slower", "install a Rust "
                       "toolchain and run `make core`")  # fmt: skip
    return fine("core", "the Rust core is installed")


def _processors(machine: Machine) -> Finding:
    if machine.cores < 2:
        return warning("processors", "one processor core", "give it two or more: engine, router and database each "
                       "want one")  # fmt: skip
    return fine("processors", f"{machine.cores} processor cores")


def _memory(machine: Machine) -> Iterator[Finding]:
    total, free = f"{machine.memory / GIBIBYTE:.1f} GiB", f"{machine.memory_free / GIBIBYTE:.1f} GiB"
    if machine.memory_free < MEMORY_FREE_BYTES_MIN:
        yield problem("memory", f"{free} of {total} memory are free", "end other programs or add memory: the kernel "
                      "ends processes that it has no memory for")  # fmt: skip
    elif machine.memory < MEMORY_BYTES_MIN:
        yield warning("memory", f"{total} of memory", "give it 2 GiB or more")
    else:
        yield fine("memory", f"{free} of {total} memory are free")


def _limits(machine: Machine) -> Iterator[Finding]:
    files = machine.files_max
    if files is not None and files < FILES_WANTED:
        make = problem if files < FILES_MIN else warning
        yield make("open-files", f"a process may open {files:,} files, and each client needs one", "raise the "
                   f"hard limit to {FILES_WANTED:,} (`LimitNOFILE=` of the service, or "
                   "/etc/security/limits.conf)")  # fmt: skip
    else:
        yield fine("open-files", "the limit of open files is high enough")
    if machine.processes_max is not None and machine.processes_max < PROCESSES_MIN:
        yield warning("processes", f"this account may have {machine.processes_max:,} processes and threads",
                      f"raise the limit to {PROCESSES_MIN:,} (`TasksMax=`, `ulimit -u`)")  # fmt: skip
    waiting = machine.connections_waiting_max
    if waiting is not None and waiting < CONNECTIONS_WAITING_MIN:
        yield warning("connections", f"the kernel lets {waiting:,} new connections wait", "set net.core.somaxconn to "
                      f"{CONNECTIONS_WAITING_MIN:,} or more")  # fmt: skip
    if machine.shared_memory is not None and machine.shared_memory < SHARED_MEMORY_BYTES_MIN:
        yield problem("shared-memory", f"{SHARED_MEMORY} has {machine.shared_memory >> 20} MiB", "give the container "
                      "`--shm-size=1g`: PostgreSQL fails without")  # fmt: skip


def is_clock_synchronised() -> bool | None:
    """What the kernel says of its clock; None where it cannot be asked."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    record = ctypes.create_string_buffer(_TIMEX_BYTES)
    try:
        # With no modes set, the call only reads.
        if ctypes.CDLL(None, use_errno=True).adjtimex(record) < 0:
            return None
    except (OSError, AttributeError):
        return None
    return not int.from_bytes(record.raw[_STATUS_OFFSET : _STATUS_OFFSET + 4], sys.byteorder) & _UNSYNCHRONISED


def _hard_limit(kind: int | None) -> int | None:
    if kind is None:
        return None
    hard = resource.getrlimit(kind)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text("ascii"))
    return None


def _cgroup_limit() -> int | None:
    """The memory that a container may have; the file says `max` if there is no bound."""
    return _number(_CGROUP_MEMORY)
