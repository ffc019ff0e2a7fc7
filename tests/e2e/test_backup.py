"""`openspot backup` and `openspot restore` as an operator uses them, killed at any moment."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from openspot.kit.backup_outcome import backup_outcome
from openspot.up.child_platform import ChildPlatform
from tests.support.platforms import child_platform
from tests.support.s3_server import BUCKET, s3_server
from tests.support.waiting import stretched, until

KILLS = 3
pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]


def command(
    environment: dict[str, str], *arguments: str, killed_after_s: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `openspot`, and kill it after some seconds if they are given."""
    process = subprocess.Popen(
        [sys.executable, "-m", "openspot.cli", *arguments],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        out, fault = process.communicate(timeout=killed_after_s or stretched(300))
    except subprocess.TimeoutExpired:
        process.kill()
        out, fault = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, fault)


@pytest.fixture
def platform(own_folder: Path) -> Iterator[ChildPlatform]:
    """A platform that runs, with a file in an archive outside its data directory."""
    archive = own_folder / "disk-one"
    (archive / "trades/2026-01").mkdir(parents=True)
    (archive / "trades/2026-01/rows.csv.gz").write_bytes(b"rows")
    given = {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_ARCHIVE_DIR": str(archive)}
    made = child_platform(own_folder / "one", given)
    made.start()
    yield made
    made.stop()


def test_a_platform_is_backed_up_and_restored_by_commands_that_are_killed_and_repeated(
    platform: ChildPlatform, own_folder: Path
) -> None:
    chance = random.Random(1)
    key = own_folder / "key"
    made = command(dict(os.environ), "backup", "key", str(key))
    assert made.returncode == 0, made
    assert key.stat().st_mode & 0o077 == 0
    given = {"OPENSPOT_BACKUP_KEY_FILE": str(key), "OPENSPOT_BACKUP_DIR": str(own_folder / "backups")}
    environment = platform._environment | given
    assert command(environment, "replay", "--sample").returncode == 0
    for _ in range(KILLS):
        killed = command(environment, "backup", killed_after_s=chance.uniform(0.5, 4))
        assert killed.returncode in (0, -9), killed
    backed_up = command(environment, "backup")
    assert backed_up.returncode == 0, backed_up
    verified = command(environment, "backup", "verify")
    assert "is sound" in verified.stdout, verified
    listed = command(environment, "backup", "list").stdout.splitlines()
    assert all("encrypted" in line for line in listed)
    assert "Last backup" in command(environment, "status").stdout
    refused = command(environment, "restore")
    assert refused.returncode == 1
    assert "a platform is running" in refused.stderr

    target = own_folder / "two"
    other = child_platform(target, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    environment = other._environment | given
    for _ in range(KILLS):
        killed = command(environment, "restore", killed_after_s=chance.uniform(0.5, 6))
        assert killed.returncode in (0, -9), killed
        if target.exists():
            # All of it appears at once, so what is there is whole, also if the command was killed a moment later.
            break
    else:
        restored = command(environment, "restore")
        assert restored.returncode == 0, restored
    again = command(environment, "restore")
    assert again.returncode == 1
    assert "is not empty" in again.stderr
    assert (target / "archive/trades/2026-01/rows.csv.gz").read_bytes() == b"rows"
    # Nothing of a killed restore goes on.
    assert not [
        each for each in psutil.process_iter() if own_folder.name in folder_of(each) and "two" in folder_of(each)
    ]
    other.start()
    try:
        assert command(environment, "ledger", "rebuild").returncode == 0
        reconciled = command(environment, "reconcile")
        assert reconciled.returncode == 0, reconciled
        assert "withdrawals are held" in command(environment, "custody", "list").stdout
    finally:
        other.stop()
    place = own_folder / "disk-three"
    third = environment | {"OPENSPOT_DATA_DIR": str(own_folder / "three"), "OPENSPOT_ARCHIVE_DIR": str(place)}
    restored = command(third, "restore")
    assert restored.returncode == 0, restored
    assert (place / "trades/2026-01/rows.csv.gz").read_bytes() == b"rows"
    third["OPENSPOT_DATA_DIR"] = str(own_folder / "four")
    refused = command(third, "restore")
    assert refused.returncode == 1
    assert "disk-three is not empty: set OPENSPOT_ARCHIVE_DIR to a new one" in refused.stderr


def folder_of(process: psutil.Process) -> str:
    """The working folder of a process; empty if it cannot be seen."""
    try:
        return process.cwd() if process.status() != psutil.STATUS_ZOMBIE else ""
    except psutil.Error:
        return ""


def test_the_timetable_makes_backups_in_s3_storage_and_says_why_it_cannot(own_folder: Path) -> None:
    """A platform whose storage goes away and whose timetable is killed in the middle."""
    with s3_server() as server:
        given = {
            "OPENSPOT_BACKUP_EVERY_S": "2",
            "OPENSPOT_BACKUP_DIR": f"s3://{BUCKET}/timetable",
            "OPENSPOT_BACKUP_S3_ENDPOINT": server.url,
            "OPENSPOT_BACKUP_S3_ACCESS_KEY": server.access_key,
            "OPENSPOT_BACKUP_S3_SECRET_KEY": server.secret_key,
            "OPENSPOT_BACKUP_S3_TIMEOUT_S": "1",
            "OPENSPOT_BACKUP_KEEP": "2",
        }
        platform = child_platform(own_folder, given)
        platform.start()
        try:
            environment = platform._environment
            storage = server.storage("timetable")
            data_dir = platform.state.data_dir
            until(lambda: len(storage.sizes("backups")) == 2, pause_s=0.2, wait_s=120)
            killed = platform.kill("timetable")
            newest = max(storage.sizes("backups"))
            until(lambda: max(storage.sizes("backups")) > newest, pause_s=0.2, wait_s=120)
            assert platform.state.pids["timetable"] != killed
            verified = command(environment, "backup", "verify")
            assert "is sound" in verified.stdout, verified
            server.fail(10_000, "GET", "500")
            until(lambda: "500" in backup_outcome(data_dir).reason, pause_s=0.2, wait_s=120)
            status = command(environment, "status")
            assert "the newest backup failed: " in status.stdout
            assert "s3://backups/timetable" in status.stdout
            server.fail(0, "", "")
            until(lambda: backup_outcome(data_dir).reason == "", pause_s=0.2, wait_s=120)
            log = (data_dir / "openspot.log").read_text("utf-8")
            assert server.secret_key not in log + status.stdout
        finally:
            platform.stop()
