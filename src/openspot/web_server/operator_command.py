"""Commands of `openspot` that the web server runs as processes of their own.

A command knows the secrets of its machine's data directory. The web server knows none, and passes none on.
"""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from openspot.kit.log import get_logger
from openspot.kit.service import SUPERVISED
from openspot.kit.tasks import end_tasks

log = get_logger("web")

STOP_S_MAX = 5.0
_Refused = TypeVar("_Refused")
PROGRAM = (sys.executable, "-m", "openspot.cli")


def environment_for(data_dir: Path) -> dict[str, str]:
    """The environment of a command on the platform of that data directory."""
    environment = dict(os.environ)
    if SUPERVISED in environment:
        # The state file of `openspot up` knows every setting; those of this process are the web server's alone.
        environment = {name: value for name, value in environment.items() if not name.startswith("OPENSPOT_")}
    return environment | {"OPENSPOT_DATA_DIR": str(data_dir)}


async def last_line(stream: asyncio.StreamReader | None) -> str:
    """The last line of an output that is not an empty line, cut to 500 characters."""
    assert stream is not None
    lines: deque[str] = deque(maxlen=1)
    while chunk := await stream.read(65_536):
        lines.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())
    return lines[0][-500:] if lines else ""


async def end(process: asyncio.subprocess.Process) -> None:
    """End the process if it still runs."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_S_MAX):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


class RunsError(Exception):
    """The command runs already."""


class OperatorCommand:
    """A command that operators start from the console. At most one runs at a time."""

    def __init__(
        self, title: str, data_dir: Path, command: tuple[str, ...], timeout_s: float, outcomes: tuple[int, ...]
    ) -> None:
        """`title` names it to people; an exit code that is not among `outcomes` is a failure."""
        self._title = title
        self._data_dir = data_dir
        self._command = command
        self._timeout_s = timeout_s
        self._outcomes = outcomes
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self.failure = ""
        """Why the newest run failed; empty if it did not."""

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self._task is not None and not self._task.done()

    def begin(self, operator: str) -> bool:
        """Start it for `operator`. False if it runs already."""
        if self.is_running:
            return False
        log.info("a command started", command=self._title, by=operator)
        self.failure = ""
        self._task = asyncio.create_task(self._run())
        return True

    async def begin_noted(self, operator: str, note: Callable[[], Awaitable[_Refused | None]]) -> _Refused | None:
        """Start it for `operator` once `note` has written that it starts. Returns what `note` refuses it with.

        Nothing is written while it runs already: then this raises RunsError. Raises what `note` raises.
        """
        async with self._turn:
            if self.is_running:
                raise RunsError
            refused = await note()
            if refused is None:
                self.begin(operator)
            return refused

    async def stop(self) -> None:
        """End the run."""
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
            self._fail(f"`{self._title}` could not be started: {error}")
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                said = await last_line(process.stderr)
                code = await process.wait()
        except TimeoutError:
            self._fail(f"`{self._title}` took longer than {self._timeout_s:.0f} s and was ended")
            return
        finally:
            await end(process)
        if code not in self._outcomes:
            self._fail(f"`{self._title}` ended with exit code {code}: {said or 'it gave no reason'}")

    def _fail(self, reason: str) -> None:
        log.warning("a command failed", command=self._title, reason=reason)
        self.failure = reason
