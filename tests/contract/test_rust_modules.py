"""The modules of the Rust core import each other without a circle."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "rust/matching/src"
TESTS_ONLY = "#[cfg(test)]\nmod "
"""What follows in a file is compiled for tests only, and tests may use any module."""


def imports_of(path: Path) -> set[str]:
    """The modules of the crate that a file names outside its tests and comments."""
    code = path.read_text("utf-8").partition(TESTS_ONLY)[0]
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
    assert not any("crate::{" in line for line in lines), f"{path.name}: one `use crate::…` a module, for this test"
    return {name for line in lines for name in re.findall(r"\bcrate::(\w+)", line)} - {path.stem}


def test_no_two_modules_of_the_core_import_each_other_in_a_circle() -> None:
    found = {path.stem: imports_of(path) for path in SOURCES.glob("*.rs") if not path.stem.endswith("_tests")}
    assert "pending_movements" in found["engine"]
    # It raises CycleError, which names the modules of the circle.
    TopologicalSorter(found).prepare()
