"""Runs `openspot reconcile` when an operator asks for it: one at a time, as a process of its own."""

from pathlib import Path

from openspot.web_server.operator_command import PROGRAM, OperatorCommand

WAIT_S = 30
"""The mirrors get this long to catch up with the engine."""
TIMEOUT_S = 900.0
OUTCOMES = (0, 1, 2)
"""Exit codes of a comparison that left its outcome in the data directory: equal, different, not comparable."""
COMMAND = (*PROGRAM, "reconcile", "--json", "--wait", str(WAIT_S))


class Reconciliation(OperatorCommand):
    """Starts and ends comparisons. At most one runs."""

    def __init__(self, data_dir: Path, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("openspot reconcile", data_dir, command, timeout_s, OUTCOMES)
