"""The engine's result codes: one decided list, the same in the documentation, in the core's twin, and in answers."""

import re
from pathlib import Path

import pytest

from openspot.domain.result_code import ResultCode

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+) \| `([A-Z_]+)` \| (.+) \|$", re.MULTILINE)
RUST_CODE = re.compile(r"^\s+([A-Z][A-Za-z]+) = (\d+),$", re.MULTILINE)
CODES = {code.name: code.value for code in ResultCode}


@pytest.mark.spec("A7-21")
def test_every_code_stands_in_the_documentation_with_its_number_and_a_meaning() -> None:
    rows = ROW.findall((ROOT / "docs/protocol/result-codes.md").read_text("utf-8"))
    assert {name: int(number) for number, name, _ in rows} == CODES
    assert len(rows) == len(CODES)
    assert all(len(meaning) > 2 for *_, meaning in rows)


@pytest.mark.spec("A7-21")
def test_the_numbers_of_the_rust_core_are_those_of_the_list() -> None:
    (body,) = re.findall(
        r"enum ResultCode \{(.*?)\n\}", (ROOT / "rust/matching/src/types.rs").read_text("utf-8"), re.DOTALL
    )
    found = {re.sub(r"(?<!^)([A-Z])", r"_\1", name).upper(): int(number) for name, number in RUST_CODE.findall(body)}
    assert {"SUCCESS", "RISK_NSF", "MATCHING_UNKNOWN_ORDER_ID"} <= set(found)
    assert found.items() <= CODES.items()


@pytest.mark.spec("A7-21")
def test_every_code_that_the_scenarios_expect_is_in_the_list() -> None:
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "tests/scenarios").rglob("*.txt"))]
    expected = {name for text in texts for name in re.findall(r"REJECTED ([A-Z][A-Z_]+)", text)}
    assert {"RISK_NSF", "INVALID_PRICE_STEP", "REFERENCE_CONFLICT"} <= expected
    assert expected <= set(CODES)
