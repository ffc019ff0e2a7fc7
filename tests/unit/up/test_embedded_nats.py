"""The environment in which the embedded NATS server runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from openspot.up.embedded_nats import children_with_timer_slack, server_environment


@pytest.mark.parametrize(("cores", "processors"), [(1, "1"), (2, "1"), (3, "1"), (4, "2")])
def test_the_server_runs_on_half_of_few_cores(cores: int, processors: str) -> None:
    assert server_environment({"HOME": "/home"}, cores) == {"HOME": "/home", "GOMAXPROCS": processors}


def test_the_server_runs_on_all_of_many_cores() -> None:
    assert server_environment({"HOME": "/home"}, 5) == {"HOME": "/home"}


@pytest.mark.parametrize("cores", [2, 8])
def test_an_operator_who_says_on_how_many_processors_it_runs_decides(cores: int) -> None:
    assert server_environment({"GOMAXPROCS": "3"}, cores) == {"GOMAXPROCS": "3"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no timer slack")
def test_a_program_started_with_timer_slack_keeps_it_and_its_starter_does_not() -> None:
    own = Path("/proc/self/timerslack_ns")
    before = own.read_text("ascii")
    with children_with_timer_slack(300_000):
        given = subprocess.run(["cat", str(own)], capture_output=True, check=True, text=True)
    assert given.stdout == "300000\n"
    assert own.read_text("ascii") == before
