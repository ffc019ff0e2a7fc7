"""`openspot up` for a test: a child process on ports that no test beside it has."""

from pathlib import Path

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.ports import free_port


def child_platform(data_dir: Path, environment: dict[str, str] | None = None) -> ChildPlatform:
    """A platform that is not started yet; `environment` goes before the ports that are chosen here."""
    fields = [field for service in SERVICES.values() for field in service.ports]
    ports = {f"OPENSPOT_{field.upper()}": str(free_port()) for field in (*fields, "nats_port")}
    return ChildPlatform(data_dir, ports | (environment or {}))
