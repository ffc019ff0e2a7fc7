"""When the next backup is due, and the program that makes it."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from openspot.backup_timetable.metrics import timetable_metrics
from openspot.kit.backup_outcome import REASON_LENGTH_MAX, BackupOutcome, backup_outcome, note_failure
from openspot.kit.health import DegradedError
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within

log = get_logger("backup-timetable")

RETRY_S = 600
"""After a failure the next attempt comes so many seconds later, or after the interval if that is shorter."""
BUSY_RETRY_S = 60
RUN_S_MAX = 6 * 3600
"""A backup that takes longer than this many seconds is ended."""
END_S_MAX = 5.0
OUTPUT_BYTES_MAX = 64 * 1024
FAULT = "openspot: "
"""What the command writes before the reason of a failure."""
BUSY = 3
"""The exit code of `openspot backup` if another one is under way."""


class Ended(NamedTuple):
    """The exit code of a program, and the end of what it said."""

    code: int
    said: str


def due_at(outcome: BackupOutcome, every_s: float, now: float) -> float:
    """When the next backup is due, in seconds since 1970. It is never further away than the interval."""
    due = now if outcome.made_at is None else outcome.made_at + every_s
    if outcome.failed_at is not None:
        due = outcome.failed_at + min(RETRY_S, every_s)
    return min(due, now + every_s)


def problem_of(outcome: BackupOutcome, every_s: float, now: float) -> str:
    """What is wrong with the backups; empty if nothing is."""
    if outcome.failed_at is not None:
        return f"the newest backup failed: {outcome.reason}"
    if outcome.made_at is not None and now - outcome.made_at > 2 * every_s + RUN_S_MAX:
        return f"the last good backup is {(now - outcome.made_at) / 3600:.1f} hours old"
    return ""


class Timetable:
    """Makes backups of a data directory, one at a time. `attempt` makes one, unless `stop` is set meanwhile."""

    def __init__(
        self, data_dir: Path, every_s: float, attempt: Callable[[asyncio.Event], Awaitable[Ended | None]]
    ) -> None:
        self._data_dir = data_dir
        self._every_s = every_s
        self._attempt = attempt
        self._metrics = timetable_metrics()
        self._metrics.interval.set(every_s)

    async def run(self, stop: asyncio.Event) -> None:
        """Make backups when they are due, until `stop` is set."""
        not_before = 0.0
        while True:
            now = time.time()
            wait_s = max(due_at(backup_outcome(self._data_dir), self._every_s, now), not_before) - now
            if await is_set_within(stop, max(0.0, wait_s)):
                return
            with self._metrics.running.track_inprogress():
                ended = await self._attempt(stop)
            if ended is None:
                return
            # Also if the outcome could not be written, the next attempt is not at once.
            not_before = time.time() + self._note(ended)

    def _note(self, ended: Ended) -> float:
        """Log and keep the outcome. Returns the least seconds to the next attempt."""
        if ended.code == 0:
            self._metrics.attempts.labels("made").inc()
            log.info("made a backup", said=ended.said)
            return min(1.0, self._every_s)
        if ended.code == BUSY:
            self._metrics.attempts.labels("busy").inc()
            log.info("another backup is under way")
            return min(BUSY_RETRY_S, self._every_s)
        self._metrics.attempts.labels("failed").inc()
        log.error("no backup was made", exit_code=ended.code, reason=ended.said)
        with contextlib.suppress(OSError):
            note_failure(self._data_dir, ended.said or f"it ended with exit code {ended.code}")
        return min(RETRY_S, self._every_s)

    async def check(self) -> None:
        """Raise DegradedError if the newest attempt failed, or if the last good backup is old."""
        if problem := problem_of(backup_outcome(self._data_dir), self._every_s, time.time()):
            raise DegradedError(problem)


async def back_up_once(stop: asyncio.Event, variables: Mapping[str, str], run_s_max: float = RUN_S_MAX) -> Ended | None:
    """Run `openspot backup`, which gives its memory back by ending. Returns None if `stop` was set before its end."""
    # A session of its own, so that a stop ends its pg_dump, too.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.cli", "backup",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"TERM": "dumb", "COLUMNS": "1000"} | dict(variables), start_new_session=True,
    )  # fmt: skip
    reading = asyncio.create_task(_end_of_output(process))
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({reading, stopping}, timeout=run_s_max, return_when=asyncio.FIRST_COMPLETED)
        if reading in done:
            return Ended(await process.wait(), reading.result())
        await _end(process)
        return None if stopping in done else Ended(-signal.SIGKILL, f"it took longer than {run_s_max:g} s")
    finally:
        if process.returncode is None:
            await _end(process)
        for task in (reading, stopping):
            task.cancel()
        await asyncio.gather(reading, stopping, return_exceptions=True)


async def _end_of_output(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    kept = b""
    while read := await process.stdout.read(OUTPUT_BYTES_MAX):
        kept = (kept + read)[-OUTPUT_BYTES_MAX:]
    said = " ".join(kept.decode("utf-8", "replace").split())
    # The last fault that the command names, without its notes.
    return said.rpartition(FAULT)[2][-REASON_LENGTH_MAX:]


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            async with asyncio.timeout(END_S_MAX):
                await process.wait()
        except TimeoutError:
            continue
        return
