"""Documents that list what the code has: they name all of it, and nothing twice."""

import re
from collections import Counter
from pathlib import Path

import pytest

from openspot.rest_edge.notifications.preferences import NotificationEvent

ROOT = Path(__file__).resolve().parents[2]
DEVIATIONS = "docs/deviations.md"
EVENTS = "docs/guides/fees-and-settings.md"
SOURCES = "src/openspot"
PACKAGES_WITHOUT_ROW = {f"{SOURCES}/cli", f"{SOURCES}/migrations"}
"""Their names say all: the command line, and the tables of all services."""


def first_cells(document: str, after: str = "") -> list[str]:
    """The first cell of each row of a document's tables, below the heading `after`."""
    text = (ROOT / document).read_text("utf-8").partition(after)[2] if after else (ROOT / document).read_text("utf-8")
    rows = [line.strip("| ").split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith("-")]


def folders(parent: str) -> set[str]:
    """The folders of the repository in a folder, by their path."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / parent).iterdir()
        if path.is_dir() and not path.name.startswith((".", "_")) and any(path.glob("[!_.]*"))
    }


def rows_of_architecture() -> set[str]:
    """The folders that the table of ARCHITECTURE.md has rows for."""
    rows: set[str] = set()
    for cell in first_cells("ARCHITECTURE.md", "## Where things are"):
        first, *others = re.findall(r"`([^`]+)`", cell) or [""]
        rows |= {first, *(f"{first.rpartition('/')[0]}/{other}" for other in others)}
    return rows - {""}


def test_the_architecture_has_a_row_for_each_package_and_none_for_one_that_is_gone() -> None:
    rows = rows_of_architecture()
    assert [row for row in rows if not (ROOT / row).is_dir()] == []
    assert folders(SOURCES) - rows - PACKAGES_WITHOUT_ROW == set()


def test_no_deviation_has_two_rows() -> None:
    heads = ("In the specification", "Where", "What")
    counted = Counter(cell for cell in first_cells(DEVIATIONS) if cell not in heads)
    assert counted
    assert {cell: count for cell, count in counted.items() if count > 1} == {}


@pytest.mark.parametrize("event", list(NotificationEvent))
def test_the_guide_says_when_each_notification_is_sent(event: NotificationEvent) -> None:
    assert any(f"`{event}`" in cell for cell in first_cells(EVENTS))
