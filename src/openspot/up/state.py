"""The state file of a running platform: what `openspot status` shows and other commands connect to."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from openspot.kit.secrets_file import GENERATED
from openspot.kit.settings import Settings

FILE_NAME = "state.json"


@dataclass(frozen=True, slots=True)
class PlatformState:
    """Who supervises, which processes run, and at which addresses the parts are."""

    supervisor_pid: int
    pids: dict[str, int]
    addresses: dict[str, str]
    settings: dict[str, Any]


def write_state(settings: Settings, pids: dict[str, int], addresses: dict[str, str]) -> None:
    """Replace the state file. It holds addresses with credentials, so its owner alone may read it."""
    public = settings.model_dump(mode="json", exclude=set(GENERATED))
    state = PlatformState(os.getpid(), pids, addresses, public)
    path = settings.data_dir / FILE_NAME
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(state), file, indent=1)
    draft.replace(path)


def read_state(data_dir: Path) -> PlatformState | None:
    """The state of the platform in `data_dir`, or None where none was ever started or it is unreadable."""
    try:
        return PlatformState(**json.loads((data_dir / FILE_NAME).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def settings_of_running(settings: Settings) -> Settings:
    """`settings`, with the addresses of the platform that runs in the data directory where none were given."""
    state = read_state(settings.data_dir)
    if state is None or not is_running(state):
        return settings
    known = Settings.model_validate(state.settings).model_dump()
    return settings.model_copy(
        update={name: value for name, value in known.items() if name not in settings.model_fields_set}
    )


def is_running(state: PlatformState) -> bool:
    """Whether the supervisor of `state` is alive."""
    return _is_ours(state.supervisor_pid, "openspot")


def end_leftovers(data_dir: Path) -> list[str]:
    """End the processes that a killed supervisor left behind; answers their names."""
    state = read_state(data_dir)
    if state is None or is_running(state):
        return []
    ended = []
    for name, pid in state.pids.items():
        if name == "PostgreSQL":
            continue  # its own start-up stops a leftover in the order that keeps its data clean
        if _is_ours(pid, "nats-server" if name == "NATS" else "openspot"):
            process = psutil.Process(pid)
            process.terminate()
            try:
                process.wait(10)
            except psutil.TimeoutExpired:
                process.kill()
            ended.append(name)
    return ended


def _is_ours(pid: int, word: str) -> bool:
    # Process ids are used again: the command line tells whether it is still the one that was noted.
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and any(word in part for part in process.cmdline())
    except psutil.Error:
        return False
