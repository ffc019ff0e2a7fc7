"""Runs one work of the timetable whenever it is due."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from openspot.kit.alone import BUSY
from openspot.kit.health import DegradedError
from openspot.kit.intervals import RETRY_S, Outcome, Plan
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within
from openspot.timetable.metrics import timetable_metrics
from openspot.timetable.program import Ended
from openspot.timetable.works import Work

log = get_logger("timetable")

BUSY_RETRY_S = 60


def problem_of(work: str, outcome: Outcome, plan: Plan, watched_since: float, now: float) -> str:
    """What is wrong with a work; empty if nothing is."""
    if outcome.failed_at is not None:
        return f"the newest {work} failed: {outcome.reason}"
    if plan.is_late(outcome, watched_since, now):
        if outcome.made_at is None:
            return f"no {work} has succeeded yet"
        return f"the last good {work} is {(now - outcome.made_at) / 3600:.1f} hours old"
    return ""


class Timetable:
    """Runs `work` for a data directory. `attempt` runs it once, unless `stop` is set meanwhile.

    Whoever has `turn` runs: several timetables of a process that share it load the machine with one work at a time.
    """

    def __init__(
        self,
        data_dir: Path,
        work: Work,
        plan: Plan,
        attempt: Callable[[asyncio.Event], Awaitable[Ended | None]],
        turn: asyncio.Lock,
    ) -> None:
        self._data_dir = data_dir
        self._work = work
        self._plan = plan
        self._attempt = attempt
        self._turn = turn
        self._watched_since = time.time()
        self._metrics = timetable_metrics()
        self._metrics.interval.labels(work.name).set(plan.every_s)
        for outcome in ("made", "busy", "failed"):
            # A counter that is there before its first event shows that one as an increase.
            self._metrics.attempts.labels(work.name, outcome)

    async def run(self, stop: asyncio.Event) -> None:
        """Run the work when it is due, until `stop` is set."""
        every_s = self._plan.every_s
        not_before = time.time() + min(self._work.start_s, every_s)
        while True:
            now, seen = time.time(), self._outcome()
            wait_s = max(self._plan.due_at(seen, now), not_before) - now
            # A clock that was set back makes nobody wait for longer than the interval.
            if await is_set_within(stop, min(max(0.0, wait_s), every_s)):
                return
            async with self._turn:
                if stop.is_set():
                    return
                if self._outcome() != seen:
                    # Somebody else was faster.
                    continue
                began = time.time()
                with self._metrics.running.labels(self._work.name).track_inprogress():
                    ended = await self._attempt(stop)
            if ended is None:
                return
            # Also if the outcome could not be written, the next attempt is not at once.
            not_before = time.time() + self._note(ended, seen, began)

    def _outcome(self) -> Outcome:
        return self._work.outcome(self._data_dir)

    def _note(self, ended: Ended, before: Outcome, began: float) -> float:
        """Log and keep the outcome. Returns the least seconds to the next attempt."""
        work, every_s = self._work.name, self._plan.every_s
        outcome = self._outcome()
        if ended.code in self._work.good and outcome.made_at != before.made_at:
            self._metrics.attempts.labels(work, "made").inc()
            log.info("a work of the timetable is done", work=work)
            return min(1.0, every_s)
        if ended.code == BUSY:
            self._metrics.attempts.labels(work, "busy").inc()
            log.info("the same work is under way already", work=work)
            return min(BUSY_RETRY_S, every_s)
        self._metrics.attempts.labels(work, "failed").inc()
        log.error("a work of the timetable failed", work=work, exit_code=ended.code, reason=ended.said)
        if outcome.failed_at == before.failed_at:
            with contextlib.suppress(OSError):
                reason = ended.said or f"it ended with exit code {ended.code}"
                self._work.fail(self._data_dir, reason, began)
        return min(RETRY_S, every_s)

    async def check(self) -> None:
        """Raise DegradedError if the newest attempt failed, or if the last good one is old."""
        problem = problem_of(self._work.name, self._outcome(), self._plan, self._watched_since, time.time())
        if problem:
            raise DegradedError(problem)
