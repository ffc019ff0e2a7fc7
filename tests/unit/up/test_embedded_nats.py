"""The environment in which the embedded NATS server runs."""

import pytest

from openspot.up.embedded_nats import server_environment


@pytest.mark.parametrize(("cores", "processors"), [(1, "1"), (2, "1"), (3, "1"), (4, "2")])
def test_the_server_runs_on_half_of_few_cores(cores: int, processors: str) -> None:
    assert server_environment({"HOME": "/home"}, cores) == {"HOME": "/home", "GOMAXPROCS": processors}


def test_the_server_runs_on_all_of_many_cores() -> None:
    assert server_environment({"HOME": "/home"}, 5) == {"HOME": "/home"}


@pytest.mark.parametrize("cores", [2, 8])
def test_an_operator_who_says_on_how_many_processors_it_runs_decides(cores: int) -> None:
    assert server_environment({"GOMAXPROCS": "3"}, cores) == {"GOMAXPROCS": "3"}
