"""The state file of a running platform. `openspot status` shows it, and other commands find the platform by it."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from openspot.kit.settings import AnySettings, Settings, generated_secrets
from openspot.up.data_directory import EPHEMERAL

FILE_NAME = "state.json"


@dataclass(frozen=True, slots=True)
class PlatformState:
    """The supervisor's process id, the process ids and addresses of the parts, and their settings."""

    supervisor_pid: int
    pids: dict[str, int]
    addresses: dict[str, str]
    settings: dict[str, Any]
    ephemeral: bool = False
    bus_urls: dict[str, str] = field(default_factory=dict)
    """The address of the embedded bus with the credentials of each of its users; empty if the bus was given."""

    @property
    def processes(self) -> dict[str, int]:
        """The process ids, each once: services that share a process are named together."""
        names: dict[int, list[str]] = {}
        for name, pid in self.pids.items():
            names.setdefault(pid, []).append(name)
        return {"+".join(found): pid for pid, found in names.items()}

    @property
    def data_dir(self) -> Path:
        """Where the platform keeps its data."""
        return Path(self.settings["data_dir"])


def write_state(
    settings: Settings,
    pids: dict[str, int],
    addresses: dict[str, str],
    bus_urls: dict[str, str] | None = None,
    *,
    ephemeral: bool,
) -> None:
    """Replace the state file. It contains credentials, so only its owner may read it."""
    public = settings.model_dump(mode="json", exclude=set(generated_secrets(type(settings))))
    state = PlatformState(os.getpid(), pids, addresses, public, ephemeral, bus_urls or {})
    path = settings.data_dir / FILE_NAME
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(state), file, indent=1)
    draft.replace(path)


def read_state(data_dir: Path) -> PlatformState | None:
    """The state file in `data_dir`, or None if there is none or it is damaged. The platform may have ended."""
    try:
        return PlatformState(**json.loads((data_dir / FILE_NAME).read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def running_state(data_dir: Path) -> PlatformState | None:
    """The state of the platform that runs for `data_dir`, ephemeral or not; None if none runs.

    There is at most one, because both kinds hold the lock of `data_dir`.
    """
    states = (read_state(folder) for folder in (data_dir, data_dir / EPHEMERAL))
    return next((state for state in states if state is not None and is_running(state)), None)


def settings_of_running(settings: AnySettings) -> AnySettings:
    """`settings`, completed by those of the platform that runs for the data directory.

    Values from the environment stay, except the data directory itself: an ephemeral platform has another one.
    """
    state = running_state(settings.data_dir)
    if state is None:
        return settings
    known = type(settings).model_validate(state.settings).model_dump()
    given = settings.model_fields_set - {"data_dir"}
    return settings.model_copy(update={name: value for name, value in known.items() if name not in given})


def is_running(state: PlatformState) -> bool:
    """Whether the supervisor of `state` is alive."""
    return _runs(state.supervisor_pid, "openspot")


def end_leftovers(data_dir: Path) -> list[str]:
    """End the processes that a killed supervisor left behind; returns their names.

    PostgreSQL is not among them: `EmbeddedPostgres` shuts its own leftover down cleanly.
    """
    state = read_state(data_dir)
    if state is None or is_running(state):
        return []
    ended = []
    for name, pid in state.pids.items():
        if name != "PostgreSQL" and _runs(pid, "nats-server" if name == "NATS" else "openspot"):
            process = psutil.Process(pid)
            process.terminate()
            try:
                process.wait(10)
            except psutil.TimeoutExpired:
                process.kill()
            ended.append(name)
    return ended


def _runs(pid: int, word: str) -> bool:
    # The number may belong to another process by now, so look at its command line.
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and any(word in part for part in process.cmdline())
    except psutil.Error:
        return False
