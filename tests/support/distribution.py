"""How `pytest -n` shares the tests out among its processes.

A process takes a whole file at a time, so that what a file sets up is set up once, and all files of `tests/e2e` as
one: whole platforms, which load the machine and are killed, do not run beside each other. What takes longest begins
first, so that the processes end together.
"""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/e2e/",)
"""Folders that one process runs from the first file to the last."""
ORDER = (
    "tests/e2e/",
    "tests/integration/engine/",
    "tests/integration/ledger/",
    "tests/integration/reconcile/",
    "tests/contract/",
    "tests/simulation/",
    "tests/integration/",
)
"""What begins first. Most of it waits more than it computes, so it comes before the long computations; what is not
named, thousands of tests of a moment, comes last and evens out."""


def unit_of(node_id: str) -> str:
    """What a test is handed out with: its file, or its folder if that stays together."""
    file = node_id.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def rank(node_id: str) -> int:
    """Place of a test in the order of beginning."""
    return next((place for place, folder in enumerate(ORDER) if node_id.startswith(folder)), len(ORDER))


class Distribution(LoadScopeScheduling):
    """Hands units out in the order that `rank` gave them, which is the order of collection."""

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
