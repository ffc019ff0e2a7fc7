"""`openspot upgrade --check` as an operator uses it."""

from pathlib import Path

import pytest

from tests.e2e.test_backup import command
from tests.support.platforms import child_platform

pytestmark = pytest.mark.proof


def test_a_platform_is_checked_while_it_runs_and_after_it_was_stopped(own_folder: Path) -> None:
    platform = child_platform(own_folder / "one", {})
    platform.start()
    try:
        running = command(platform._environment, "upgrade", "--check")
        assert running.returncode == 0, running
        assert "the old platform runs" in running.stdout
    finally:
        platform.stop()
    stopped = command(platform._environment, "upgrade", "--check")
    assert stopped.returncode == 0, stopped
    assert "1 snapshots of the old release have the same hash" in stopped.stdout
    assert "this release takes the data over" in stopped.stdout
    assert not (own_folder / "one.upgrade-check").exists()
    asked = command(platform._environment, "upgrade")
    assert (asked.returncode, "say `openspot upgrade --check`" in asked.stderr) == (1, True)
    missing = command(platform._environment | {"OPENSPOT_DATA_DIR": str(own_folder / "none")}, "upgrade", "--check")
    assert (missing.returncode, "there is no" in missing.stderr) == (2, True)
