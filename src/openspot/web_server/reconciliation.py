"""Runs `openspot reconcile` when an operator asks for it: one at a time, as a process of its own."""

from pathlib import Path

from openspot.kit.alone import BUSY, Begun, under_way
from openspot.kit.comparison_outcome import LOCK
from openspot.web_server.operator_command import PROGRAM, OperatorCommand

WAIT_S = 30
"""The mirrors get this long to catch up with the engine."""
TIMEOUT_S = 900.0
OUTCOMES = (0, 1, 2, BUSY)
"""Exit codes of a comparison that left its outcome in the data directory: equal, different, not comparable. If somebody
else was faster, it is theirs."""
COMMAND = (*PROGRAM, "reconcile", "--json", "--wait", str(WAIT_S))


class Reconciliation(OperatorCommand):
    """Starts and ends comparisons. At most one runs, whoever began it."""

    def __init__(self, data_dir: Path, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("openspot reconcile", data_dir, command, timeout_s, OUTCOMES)
        self._program = command

    @property
    def is_running(self) -> bool:
        """Whether one runs, also if the timetable or a command began it."""
        return super().is_running or self.begun is not None

    @property
    def begun(self) -> Begun | None:
        """Who began the one that runs, and when; None if none runs, or does not yet."""
        return under_way(self._data_dir / LOCK)

    def begin(self, operator: str) -> bool:
        """Start one for `operator`. False if one runs already."""
        if self.is_running:
            return False
        self._command = (*self._program, f"--started-by={operator}")
        return super().begin(operator)
