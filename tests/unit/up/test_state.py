"""Which platform the commands of a data directory connect to."""

import json
import os
from pathlib import Path

import pytest

from openspot.up.data_directory import EPHEMERAL
from openspot.up.services import PlatformSettings
from openspot.up.state import FILE_NAME, read_state, running_state, settings_of_running, write_state

ENDED = 2**22 + 1
"""A process id that Linux does not give by default."""


@pytest.fixture(autouse=True)
def command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process passes for a supervisor."""
    monkeypatch.setattr("psutil.Process.cmdline", lambda self: ["python", "-m", "openspot.cli", "up"])


def leave_state(folder: Path, port: int, *, ephemeral: bool = False, supervisor: int | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_state(PlatformSettings(data_dir=folder, rest_port=port), {}, {}, ephemeral=ephemeral)
    if supervisor is not None:
        state = json.loads((folder / FILE_NAME).read_text("utf-8"))
        (folder / FILE_NAME).write_text(json.dumps(state | {"supervisor_pid": supervisor}), "utf-8")


def test_nothing_runs_where_nothing_was_started(tmp_path: Path) -> None:
    assert running_state(tmp_path / "none") is None
    assert settings_of_running(PlatformSettings(data_dir=tmp_path)).data_dir == tmp_path


@pytest.mark.parametrize("ephemeral", [False, True])
def test_the_platform_that_runs_is_found_and_not_the_one_that_ended(tmp_path: Path, ephemeral: bool) -> None:
    folders = {False: tmp_path, True: tmp_path / EPHEMERAL}
    leave_state(folders[ephemeral], 4001, ephemeral=ephemeral)
    leave_state(folders[not ephemeral], 4002, ephemeral=not ephemeral, supervisor=ENDED)
    state = running_state(tmp_path)
    assert state is not None
    assert (state.ephemeral, state.data_dir, state.supervisor_pid) == (ephemeral, folders[ephemeral], os.getpid())
    settings = settings_of_running(PlatformSettings(data_dir=tmp_path))
    assert (settings.rest_port, settings.data_dir) == (4001, folders[ephemeral])


def test_what_the_environment_gives_goes_before_the_running_platform(tmp_path: Path) -> None:
    leave_state(tmp_path, 4001)
    assert settings_of_running(PlatformSettings(data_dir=tmp_path, rest_port=5000)).rest_port == 5000


@pytest.mark.parametrize("content", ["", "{", "[]", '{"supervisor_pid": 1}'])
def test_a_damaged_state_file_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content, "utf-8")
    assert read_state(tmp_path) is None


def test_a_state_file_of_an_earlier_release_is_read(tmp_path: Path) -> None:
    leave_state(tmp_path, 4001)
    state = json.loads((tmp_path / FILE_NAME).read_text("utf-8"))
    del state["ephemeral"]
    (tmp_path / FILE_NAME).write_text(json.dumps(state), "utf-8")
    found = running_state(tmp_path)
    assert found is not None
    assert not found.ephemeral


def test_only_its_owner_reads_the_state_file(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        leave_state(tmp_path, 4001)
    finally:
        os.umask(umask)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_services_that_share_a_process_are_counted_once(tmp_path: Path) -> None:
    write_state(PlatformSettings(data_dir=tmp_path), {"router": 7, "NATS": 8, "rest-edge": 7}, {}, ephemeral=False)
    state = read_state(tmp_path)
    assert state is not None
    assert state.processes == {"router+rest-edge": 7, "NATS": 8}
