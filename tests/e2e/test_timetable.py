"""The timetable of a whole platform compares its books, whatever is killed or stopped meanwhile."""

import json
import time
from pathlib import Path

import pytest

from openspot.kit.alone import under_way
from openspot.kit.comparison_outcome import FAILURE, LOCK, REPORT
from tests.support.platforms import child_platform
from tests.support.waiting import until

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1200)]


def test_the_books_are_compared_through_a_kill_of_the_timetable_and_a_stop_of_the_platform(own_folder: Path) -> None:
    platform = child_platform(own_folder, {"OPENSPOT_RECONCILE_EVERY_S": "1"})
    platform.start()
    data_dir = platform.state.data_dir

    def is_compared_since(began: float) -> bool:
        try:
            kept = json.loads((data_dir / REPORT).read_bytes())
        except FileNotFoundError:
            return False
        # With the bus, the databases and the engine as the platform knows them.
        is_whole = kept["report"]["caughtUp"] and not kept["report"]["differences"]
        return is_whole and kept["startedBy"] == "timetable" and kept["startedAt"] / 1000 > began

    def compare_from_now_on() -> None:
        began = time.time()
        until(lambda: is_compared_since(began), pause_s=0.2, wait_s=120)

    def until_one_is_under_way() -> None:
        until(lambda: under_way(data_dir / LOCK) is not None, pause_s=0.01, wait_s=120)

    try:
        compare_from_now_on()
        until_one_is_under_way()
        killed = platform.kill("timetable")
        compare_from_now_on()
        assert platform.state.pids["timetable"] != killed
        until_one_is_under_way()
        platform.stop()
        until(lambda: under_way(data_dir / LOCK) is None, pause_s=0.2, wait_s=120)
        assert not (data_dir / FAILURE).exists(), "a stop is no failure"
        platform.start()
        compare_from_now_on()
    finally:
        platform.stop()
