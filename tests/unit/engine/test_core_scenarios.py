"""The scenario tables of tests/scenarios, run on both cores."""

from pathlib import Path

import pytest

from openspot.domain.result_code import ResultCode
from openspot.engine.core.reference import ReferenceCore
from tests.support.core_scenarios import FOLDER, Case, read_cases, run_case
from tests.unit.engine.conftest import CoreFactory

CASES = {path.stem: read_cases(path) for path in sorted(FOLDER.glob("*.txt"))}

CODES_OF_THE_PROCESS = {
    ResultCode.MARKET_HALTED,
    ResultCode.ENGINE_BUSY,
    ResultCode.RATE_LIMITED,
    ResultCode.MAX_ORDER_SIZE,
    ResultCode.MAX_NOTIONAL,
    ResultCode.MAX_NUM_ORDERS,
    ResultCode.DUPLICATE_CLIENT_ORDER_ID,
}
"""Result codes of the services around the core. A core never returns them."""


@pytest.mark.spec("A1-01", "A1-02", "A1-03")
@pytest.mark.spec("A1.4-08", "A1.4-10", "A1.4-11", "A1.4-12", "A1.4-13", "A1.4-14", "A1.4-15", "A1.4-16")
@pytest.mark.spec("A1.4-17", "A2.2-01", "A2.2-03", "A2.2-04", "A2.2-05", "A2.2-06", "A2.2-07", "A2.2-09")
@pytest.mark.spec("A2.6-12", "A2.6-13", "A2.6-14", "A2.6-15", "A2.6-16", "A2.6-17", "A2.7-10", "A2.7-11")
@pytest.mark.spec("A2.8-01", "A2.8-02", "A2.8-03", "A2.8-04", "A2.8-05", "A7-06", "A7-20")
@pytest.mark.spec("B4.4-15", "B4.4-47")
@pytest.mark.parametrize("restore_each_time", [False, True], ids=["", "restored"])
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{stem}: {case.name}") for stem, cases in CASES.items() for case in cases],
)
def test_a_core_does_what_the_scenario_says(case: Case, core_factory: CoreFactory, restore_each_time: bool) -> None:
    run_case(case, core_factory, restore_each_time=restore_each_time)


def test_the_marks_above_are_the_facts_that_the_scenarios_name() -> None:
    marks = getattr(test_a_core_does_what_the_scenario_says, "pytestmark", [])
    marked = [fact for mark in marks if mark.name == "spec" for fact in mark.args]
    named = {fact for cases in CASES.values() for case in cases for fact in case.facts}
    assert sorted(marked) == sorted(named)


def test_every_code_of_the_core_stands_in_a_scenario() -> None:
    words = {word for path in FOLDER.glob("*.txt") for word in path.read_text("utf-8").split()}
    missing = {code.name for code in ResultCode} - {code.name for code in CODES_OF_THE_PROCESS} - words
    # The tables never write SUCCESS.
    assert missing == {"SUCCESS"}


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("place 1 alice buy GTC 1 @ 5 -> REJECTED RISK_NSF", id="wrong status"),
        pytest.param("place 1 alice buy GTC 1 @ 5 -> ACCEPTED", id="figure left out"),
        pytest.param("place 1 alice buy GTC 1 @ 5 -> ACCEPTED remaining 2", id="wrong figure"),
        pytest.param("place 1 alice buy IOC 1 @ 5 -> CANCELLED IOC_REMAINDER", id="reduce left out"),
        pytest.param(
            "place 1 alice buy IOC 1 @ 5 -> CANCELLED IOC_REMAINDER\n . reduce 1 1 left 0 IOC_REMAINDER",
            id="flag left out",
        ),
        pytest.param("place 1 alice buy GTC 1 @ 11", id="must be taken"),
        pytest.param("? balance alice USD -> total 10 free 9", id="wrong balance"),
        pytest.param("? book -> 1 @ 5 (1) | -", id="wrong book"),
    ],
)
def test_a_scenario_that_is_wrong_fails(lines: str, tmp_path: Path) -> None:
    world = "world\n currency BTC\n currency USD\n symbol BTC-USD\n deposit alice USD 10\ncase wrong\n "
    file = tmp_path / "wrong.txt"
    file.write_text(world + lines, "utf-8")
    (case,) = read_cases(file)
    with pytest.raises(AssertionError, match=r"wrong\.txt:7"):
        run_case(case, ReferenceCore, restore_each_time=False)
