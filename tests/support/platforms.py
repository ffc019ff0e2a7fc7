"""`openspot up` for a test: a child process on ports that no other test uses."""

from collections.abc import Sequence
from pathlib import Path

import psutil

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.ports import free_port


def child_platform(
    data_dir: Path, environment: dict[str, str] | None = None, *, arguments: Sequence[str] = ()
) -> ChildPlatform:
    """A platform that is not started yet; `environment` replaces the ports that are chosen here."""
    fields = [field for service in SERVICES.values() for field in service.ports]
    ports = {f"OPENSPOT_{field.upper()}": str(free_port()) for field in (*fields, "nats_port")}
    return ChildPlatform(data_dir, ports | (environment or {}), arguments=arguments)


def alive(pid: int) -> bool:
    """Whether a process still runs: one that only waits for its parent to notice does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
