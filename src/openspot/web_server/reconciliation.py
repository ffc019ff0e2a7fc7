"""Runs `openspot reconcile` when an operator asks for it: one at a time, as a process of its own."""

import asyncio
from pathlib import Path

from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.web_server.operator_command import PROGRAM, end, environment_for, last_line

log = get_logger("web")

WAIT_S = 30
"""The mirrors get this long to catch up with the engine."""
TIMEOUT_S = 900.0
OUTCOMES = (0, 1, 2)
"""Exit codes of a comparison that left its outcome in the data directory: equal, different, not comparable."""
COMMAND = (*PROGRAM, "reconcile", "--json", "--wait", str(WAIT_S))


class Reconciliation:
    """Starts and ends comparisons. At most one runs."""

    def __init__(self, data_dir: Path, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S) -> None:
        self._data_dir = data_dir
        self._command = command
        self._timeout_s = timeout_s
        self._task: asyncio.Task[None] | None = None
        self.failure = ""
        """Why the newest comparison left no outcome; empty if it did."""

    @property
    def is_running(self) -> bool:
        """Whether a comparison runs."""
        return self._task is not None and not self._task.done()

    def begin(self, operator: str) -> bool:
        """Start a comparison for `operator`. False if one runs already."""
        if self.is_running:
            return False
        log.info("reconcile started", by=operator)
        self.failure = ""
        self._task = asyncio.create_task(self._run())
        return True

    async def stop(self) -> None:
        """End the comparison that runs."""
        if self._task is not None:
            await end_tasks(self._task)

    async def _run(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                env=environment_for(self._data_dir),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            self._fail(f"`openspot reconcile` could not be started: {error}")
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                said = await last_line(process.stderr)
                code = await process.wait()
        except TimeoutError:
            self._fail(f"`openspot reconcile` took longer than {self._timeout_s:.0f} s and was ended")
            return
        finally:
            await end(process)
        if code not in OUTCOMES:
            self._fail(f"`openspot reconcile` ended with exit code {code}: {said or 'it gave no reason'}")

    def _fail(self, reason: str) -> None:
        log.warning("reconcile failed", reason=reason)
        self.failure = reason
