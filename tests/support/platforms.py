"""`openspot up` for a test: a child process on ports that no other test uses."""

from collections.abc import Sequence
from pathlib import Path

import psutil

from openspot.kit.settings import variable
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import PlatformSettings
from tests.support.ports import free_port, free_ports
from tests.support.waiting import stretched


def child_platform(
    data_dir: Path, environment: dict[str, str] | None = None, *, arguments: Sequence[str] = ()
) -> ChildPlatform:
    """A platform that is not started yet; `environment` replaces the settings that are chosen here.

    Its database does not sync, as no test cuts the power: a sync takes milliseconds, and a start makes thousands. Its
    requests have time: other platforms run beside it, and a login that the database delays is no failure. Its timetable
    compares nothing: a comparison that a test asks for would be refused beside another one.
    """
    given = free_ports(lasting=True) | {"nats_port": free_port(lasting=True)}
    ports = {variable(name, PlatformSettings): str(port) for name, port in given.items()}
    chosen = ports | {
        "OPENSPOT_EMBEDDED_POSTGRES_SYNCED": "false",
        "OPENSPOT_REQUEST_TIMEOUT_S": str(stretched(10)),
        "OPENSPOT_RECONCILE_EVERY_S": "0",
    }
    return ChildPlatform(data_dir, chosen | (environment or {}), arguments=arguments)


def alive(pid: int) -> bool:
    """Whether a process still runs: one that only waits for its parent to notice does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
