"""An ephemeral platform: the commands of its folder reach it, nothing else runs for that folder, no data is left."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.platforms import alive, child_platform

pytestmark = pytest.mark.proof


@pytest.fixture
def ephemeral(own_folder: Path) -> Iterator[ChildPlatform]:
    """An ephemeral platform for the folder, not started yet."""
    platform = child_platform(own_folder, {"OPENSPOT_THROTTLE_ENABLED": "false"}, arguments=["--ephemeral"])
    yield platform
    platform.stop()


def openspot(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as a user gives it in the same folder: no port is named."""
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(folder)},
    )


def test_the_commands_of_the_folder_reach_the_ephemeral_platform(ephemeral: ChildPlatform) -> None:
    folder = ephemeral.data_dir
    ephemeral.start()
    status = openspot(folder, "status", "--json")
    assert status.returncode == 0, status.stderr
    report = json.loads(status.stdout)
    assert report["ephemeral"] is True
    assert Path(report["dataDir"]) == folder / "ephemeral"
    assert "Ephemeral data" in openspot(folder, "status").stdout

    deposit = openspot(folder, "deposit", "somebody", "USD", "12.5")
    assert deposit.returncode == 0, deposit.stderr
    assert "credited 12.5 USD to somebody, balance 12.5" in deposit.stdout
    replay = openspot(folder, "replay", "--sample", "--events", "100", "--users", "4")
    assert replay.returncode == 0, replay.stdout + replay.stderr
    reconcile = openspot(folder, "reconcile")
    assert reconcile.returncode == 0, reconcile.stdout + reconcile.stderr
    verify = openspot(folder, "engine", "verify")
    assert verify.returncode == 0, verify.stderr
    assert str(folder / "ephemeral") in verify.stdout

    second = openspot(folder, "up")
    assert second.returncode == 1
    assert "already running" in second.stdout

    assert ephemeral.stop() == 0
    assert {path.name for path in folder.iterdir()} == {"lock", "up.out"}
    assert openspot(folder, "status").returncode == 1


def test_an_ordinary_platform_does_not_meet_the_data_of_a_killed_ephemeral_one(ephemeral: ChildPlatform) -> None:
    folder = ephemeral.data_dir
    ephemeral.start()
    assert "balance 2 " in openspot(folder, "deposit", "somebody", "USD", "2").stdout
    pids = ephemeral.state.pids
    ephemeral.kill_supervisor()
    assert "nothing runs" in openspot(folder, "status").stdout

    ordinary = child_platform(folder)
    ordinary.start()
    try:
        assert not (folder / "ephemeral").exists()
        assert not [name for name, pid in pids.items() if alive(pid)]
        assert json.loads(openspot(folder, "status", "--json").stdout)["ephemeral"] is False
        assert "balance 3 " in openspot(folder, "deposit", "somebody", "USD", "3").stdout
        second = openspot(folder, "up", "--ephemeral")
        assert second.returncode == 1
        assert "already running" in second.stdout
    finally:
        assert ordinary.stop() == 0
