"""When a disk counts as full or nearly full, and what the health says of it."""

from pathlib import Path

import pytest

from openspot.kit.disk import MEBIBYTE, POLL_INTERVAL_S, Disk, DiskSpace, DiskState, space_of
from openspot.kit.health import DegradedError

FOLDER = Path("/data")
GIBIBYTE = 1024 * MEBIBYTE


def space(free: int, total: int, *, is_read_only: bool = False) -> DiskSpace:
    return DiskSpace(FOLDER, free, total, 64 * MEBIBYTE, is_read_only)


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (space(64 * MEBIBYTE - 1, 20 * GIBIBYTE), DiskState.FULL),
        (space(64 * MEBIBYTE, 20 * GIBIBYTE), DiskState.LOW),
        (space(GIBIBYTE - 1, 20 * GIBIBYTE), DiskState.LOW),
        (space(GIBIBYTE, 20 * GIBIBYTE), DiskState.OK),
        # A small disk with much of it free is not nearly full.
        (space(100 * MEBIBYTE, GIBIBYTE - 24 * MEBIBYTE), DiskState.OK),
        (space(99 * MEBIBYTE, GIBIBYTE - 24 * MEBIBYTE), DiskState.LOW),
        (space(10 * GIBIBYTE, 20 * GIBIBYTE, is_read_only=True), DiskState.READ_ONLY),
    ],
)
def test_a_disk_is_full_below_the_reserve_and_nearly_full_below_ten_percent_and_a_gibibyte(
    found: DiskSpace, state: DiskState
) -> None:
    assert found.state is state
    assert found.is_writable is (state in (DiskState.OK, DiskState.LOW))
    assert (found.message == "") is (state is DiskState.OK)


def test_the_message_names_the_folder_the_space_and_what_is_waited_for() -> None:
    assert space(63 * MEBIBYTE, 20 * GIBIBYTE).message == (
        "the disk of /data is full (63 MiB of 20480 MiB are free): no commands are taken until 64 MiB are free"
    )


async def test_the_disk_is_asked_again_after_a_while_and_the_health_follows_it() -> None:
    now, free = 0.0, 10 * MEBIBYTE
    disk = Disk(FOLDER, 64 * MEBIBYTE, look=lambda *_: space(free, 20 * GIBIBYTE), monotonic=lambda: now)
    with pytest.raises(DegradedError, match="is full"):
        await disk.check()
    free = 2 * GIBIBYTE
    assert disk.refusal, "it is asked at most every POLL_INTERVAL_S"
    now = POLL_INTERVAL_S
    assert disk.refusal == ""
    await disk.check()


async def test_a_process_without_the_folder_has_nothing_to_say(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "missing", MEBIBYTE)
    await disk.check()
    assert (disk.space, disk.refusal) == (None, "")


def test_the_system_is_asked_for_what_this_account_may_write(tmp_path: Path) -> None:
    found = space_of(tmp_path, 0)
    assert 0 < found.free <= found.total
    assert found.state in (DiskState.OK, DiskState.LOW)
