"""What the timetable runs: backups, and comparisons of the books."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from openspot.kit.alone import Begun
from openspot.kit.backup_outcome import backup_outcome, note_failure
from openspot.kit.comparison_outcome import comparison_outcome, keep_failure
from openspot.kit.intervals import Outcome

NAME = "timetable"
"""In this name the timetable compares."""
START_S = 600
"""A platform that starts gets so many seconds before its books are compared."""


class Work(NamedTuple):
    """A command that runs alone in its data directory.

    `good` are its exit codes if it did what it should. `start_s` is how long it waits after the timetable has started.
    `outcome` reads what became of it. `fail` notes why a run failed that began at a time, in seconds since 1970.
    """

    name: str
    command: tuple[str, ...]
    good: frozenset[int]
    start_s: float
    outcome: Callable[[Path], Outcome]
    fail: Callable[[Path, str, float], None]


def _comparison_failed(data_dir: Path, reason: str, began: float) -> None:
    keep_failure(data_dir, reason, Begun(NAME, round(began * 1000)))


BACKUP = Work(
    "backup", ("backup",), frozenset({0}), 0, backup_outcome, lambda data_dir, reason, _: note_failure(data_dir, reason)
)
COMPARISON = Work(
    "comparison", ("reconcile", f"--started-by={NAME}"), frozenset({0, 1}), START_S, comparison_outcome,
    _comparison_failed,
)  # fmt: skip
