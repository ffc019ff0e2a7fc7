"""A disk without space: the platform says so, takes no orders, lets everybody read, and goes on by itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.kit.disk import MEBIBYTE, DiskState, space_of
from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import MoneyUser, assert_every_book_agrees, money_user, openspot
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, eventually, stretched

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may mount a small disk"),
]
DISK_MIB = 500
ORDER = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "100", "quantity": "0.01"}


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of its own, in memory."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}M", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def small_platform(small_disk: Path) -> Iterator[ChildPlatform]:
    platform = child_platform(small_disk / "data", {"OPENSPOT_THROTTLE_ENABLED": "false"})
    platform.start(stretched(START_S_MAX))
    yield platform
    assert platform.stop() == 0


def fill(disk: Path, left_mib: int) -> Path:
    """Take all of the disk but `left_mib` MiB."""
    taken = disk / "taken"
    with taken.open("wb") as file:
        while (free := space_of(disk, 0).free - left_mib * MEBIBYTE) > 0:
            try:
                file.write(b"\0" * min(free, MEBIBYTE))
                file.flush()
            except OSError:
                break
    return taken


async def takes_orders(user: MoneyUser) -> bool:
    reply = await user.client("POST", "/orders", ORDER)
    return reply.status == 201


async def refused(user: MoneyUser) -> None:
    """Orders are refused as not taken, and everything can be read."""

    async def is_refused() -> bool:
        reply = await user.client("POST", "/orders", ORDER)
        return reply.status == 503 and reply.code == "SERVICE_UNAVAILABLE"

    await eventually(is_refused)
    for path in ("/markets/BTC-USD/orderbook", "/accounts/balances"):
        await user("GET", path)


@pytest.mark.parametrize("left_mib", [40, 0], ids=["less than the reserve is free", "nothing is free"])
async def test_on_a_full_disk_orders_are_refused_reads_go_on_and_afterwards_everything_goes_on(
    small_disk: Path, small_platform: ChildPlatform, left_mib: int
) -> None:
    async with money_user(small_platform) as user:
        await user.credit("USD", "1000")
        await user.has("USD", "1000")
        await eventually(lambda: takes_orders(user))
        taken = fill(small_disk, left_mib)
        await refused(user)
        shown = json.loads(await shown_status(small_platform))
        assert shown["disk"]["state"] == DiskState.FULL
        await eventually(lambda: "is full" in small_platform.log_path.read_text("utf-8") or left_mib == 0)
        # A service that ends meanwhile comes back, and `openspot up` goes on.
        small_platform.kill("positions")
        taken.unlink()
        await eventually(lambda: takes_orders(user), 60)
        await assert_every_book_agrees(small_platform)


def test_a_read_only_disk_is_named_at_the_start(small_disk: Path) -> None:
    platform = child_platform(small_disk / "data")
    (small_disk / "data").mkdir(mode=0o700)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    started = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "up"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    assert started.returncode == 1
    assert "OpenSpot did not start: the data directory" in started.stdout
    assert "Read-only file system" in started.stdout
    assert "Traceback" not in started.stdout + started.stderr


async def shown_status(platform: ChildPlatform) -> str:
    """What `openspot status` prints; it fails while a service is not ready."""
    try:
        return await openspot(platform, "status", "--json")
    except AssertionError as error:
        return str(error).partition(": ")[2].partition("\nassert")[0]
