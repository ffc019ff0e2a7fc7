"""`openspot stop`, `start` and `restart`: one service of the running platform, from the command line."""

import json
import os
import subprocess
import sys

import pytest

from openspot.kit.supervision import FILE_NAME
from openspot.up.child_platform import ChildPlatform


def openspot(platform: ChildPlatform, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )


def status(platform: ChildPlatform) -> dict[str, object]:
    found: dict[str, object] = json.loads(openspot(platform, "status", "--json").stdout)
    return found


def test_a_service_is_restarted_and_ready_when_the_command_ends(breakable: ChildPlatform) -> None:
    before = breakable.pid("positions")
    done = openspot(breakable, "restart", "positions")
    assert (done.returncode, done.stdout) == (0, "positions is ready\n"), done.stderr
    assert status(breakable)["stopped"] == []
    assert breakable.pid("positions") != before


def test_a_stopped_service_stays_stopped_until_it_is_started(breakable: ChildPlatform) -> None:
    assert openspot(breakable, "stop", "subscriptions").returncode == 0
    try:
        assert openspot(breakable, "stop", "subscriptions").stderr == "openspot: subscriptions does not run\n"
        found = status(breakable)
        assert found["stopped"] == ["subscriptions"]
        assert "subscriptions          stopped; `openspot start subscriptions`" in openspot(breakable, "status").stdout
    finally:
        started = openspot(breakable, "start", "subscriptions")
    assert started.stdout == "subscriptions is ready\n", started.stderr
    assert openspot(breakable, "start", "subscriptions").stderr == "openspot: subscriptions runs already\n"
    assert status(breakable)["stopped"] == []


def test_services_that_share_a_process_are_stopped_and_started_together(platform: ChildPlatform) -> None:
    both = "rest-edge and router, which share a process, are"
    before = platform.pid("router")
    assert before == platform.pid("rest-edge")
    assert f"process {before} shared with rest-edge, ready" in openspot(platform, "status").stdout
    done = openspot(platform, "restart", "router")
    assert (done.returncode, done.stdout) == (0, f"{both} ready\n"), done.stderr
    assert platform.pid("router") == platform.pid("rest-edge") != before
    assert openspot(platform, "stop", "rest-edge").stdout == f"{both} stopped\n"
    try:
        assert sorted(status(platform)["stopped"]) == ["rest-edge", "router"]  # type: ignore[call-overload]
        assert openspot(platform, "stop", "router").stderr == "openspot: router does not run\n"
    finally:
        started = openspot(platform, "start", "router")
    assert started.stdout == f"{both} ready\n", started.stderr
    assert status(platform)["stopped"] == []


def test_services_with_a_process_each_are_restarted_alone(breakable: ChildPlatform) -> None:
    edge, router = breakable.pid("rest-edge"), breakable.pid("router")
    assert edge != router
    assert openspot(breakable, "restart", "router").stdout == "router is ready\n"
    assert breakable.pid("rest-edge") == edge
    assert breakable.pid("router") != router


def test_a_service_that_does_not_run_here_is_named_with_those_that_do(breakable: ChildPlatform) -> None:
    refused = openspot(breakable, "restart", "ledgre")
    assert refused.returncode == 1
    assert "no service ledgre runs here; there are: custody, engine," in " ".join(refused.stderr.split())


@pytest.mark.skipif(sys.platform == "win32", reason="a Unix socket")
def test_only_the_owner_can_reach_the_control_socket(breakable: ChildPlatform) -> None:
    assert breakable.data_dir.stat().st_mode & 0o077 == 0
    assert (breakable.data_dir / FILE_NAME).is_socket()
