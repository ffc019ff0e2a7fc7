"""What becomes of runs that fail, that works run alone, and that a stop ends a program under way."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from openspot.kit.alone import BUSY, Begun
from openspot.kit.backup_outcome import BackupOutcome, backup_outcome, note_backup
from openspot.kit.comparison_outcome import comparison_outcome, keep_failure, keep_report
from openspot.kit.health import DegradedError
from openspot.kit.intervals import Plan
from openspot.kit.service import StatedFaultError
from openspot.timetable import service
from openspot.timetable.program import Ended, run_once
from openspot.timetable.settings import TimetableSettings
from openspot.timetable.timetable import Timetable, problem_of
from openspot.timetable.works import BACKUP, COMPARISON, START_S, Work
from tests.support.waiting import eventually


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (BackupOutcome(), ""),
        (BackupOutcome(made_at=100_000 - 2 * 3600), ""),
        (BackupOutcome(made_at=100_000 - 2 * 3600 - 1), "the last good backup is 2.0 hours old"),
        (BackupOutcome(made_at=99_000, failed_at=99_500, reason="no space"), "the newest backup failed: no space"),
    ],
)
def test_a_failure_and_an_old_backup_are_problems(outcome: BackupOutcome, problem: str) -> None:
    assert problem_of("backup", outcome, Plan(3600, 2), watched_since=99_000, now=100_000) == problem


def test_that_nothing_was_ever_made_is_a_problem_after_a_while() -> None:
    for since, problem in ((92_800, ""), (92_799, "no backup has succeeded yet")):
        assert problem_of("backup", BackupOutcome(), Plan(3600, 2), since, 100_000) == problem


def table(
    data_dir: Path, every_s: float, attempts: Any, work: Work = BACKUP, turn: asyncio.Lock | None = None
) -> Timetable:
    return Timetable(data_dir, work, Plan(every_s, 2), attempts, turn or asyncio.Lock())


class Attempts:
    """Stands for the program that makes backups: its outcomes come from a list; then the stop is set."""

    def __init__(self, data_dir: Path, *outcomes: Ended | Callable[[], Ended]) -> None:
        self.data_dir = data_dir
        self.began: list[float] = []
        self._outcomes = list(outcomes)

    async def __call__(self, stop: asyncio.Event) -> Ended:
        self.began.append(time.monotonic())
        ended = self._outcomes.pop(0)
        if not self._outcomes:
            stop.set()
        if isinstance(ended, Ended):
            return ended
        return ended()


def made(data_dir: Path) -> Callable[[], Ended]:
    """A backup that is made."""

    def make() -> Ended:
        note_backup(data_dir, "b", "then")
        return Ended(0, "b: command 1")

    return make


async def test_a_failure_is_kept_and_shown_until_a_backup_is_made(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, Ended(1, "openspot: the database does not answer"))
    runs_often = table(tmp_path, 0.05, attempts)
    await runs_often.run(asyncio.Event())
    found = backup_outcome(tmp_path)
    assert (found.made_at, found.reason) == (None, "openspot: the database does not answer")
    with pytest.raises(DegradedError, match="the newest backup failed: openspot: the database does not answer"):
        await runs_often.check()
    await table(tmp_path, 0.05, Attempts(tmp_path, made(tmp_path))).run(asyncio.Event())
    assert backup_outcome(tmp_path).reason == ""
    await runs_often.check()


async def test_attempts_keep_their_pace_whatever_becomes_of_them(tmp_path: Path) -> None:
    # The last but one says that all is well and has left nothing.
    outcomes = (Ended(BUSY, ""), Ended(1, "no"), Ended(1, ""), made(tmp_path), Ended(0, ""), Ended(1, "end"))
    attempts = Attempts(tmp_path, *outcomes)
    await table(tmp_path, 0.2, attempts).run(asyncio.Event())
    pauses = [later - earlier for earlier, later in zip(attempts.began, attempts.began[1:], strict=False)]
    assert len(pauses) == 5
    assert min(pauses) > 0.19


async def test_a_data_directory_that_cannot_be_written_does_not_hurry_the_timetable(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "none", Ended(1, "no"), Ended(1, "no"))
    await table(tmp_path / "none", 0.2, attempts).run(asyncio.Event())
    assert attempts.began[1] - attempts.began[0] > 0.19


async def test_a_stop_ends_a_backup_under_way_and_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nsleep 60 &\necho $$ $! > {pids}.draft; mv {pids}.draft {pids}\nwait\n", "utf-8")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    stop = asyncio.Event()
    running = asyncio.create_task(run_once(["backup"], stop, {}))
    await eventually(pids.exists)
    stop.set()
    assert await running is None
    await eventually(lambda: not any(runs(int(pid)) for pid in pids.read_text("utf-8").split()))
    late = await run_once(["backup"], asyncio.Event(), {}, run_s_max=0.3)
    assert late is not None
    assert late.said == "it took longer than 0.3 s"


def runs(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def test_the_program_says_why_there_is_no_backup(tmp_path: Path) -> None:
    given = {"OPENSPOT_DATA_DIR": str(tmp_path), "OPENSPOT_BACKUP_DIR": "ftp://x", "PATH": os.environ["PATH"]}
    ended = await run_once(["backup"], asyncio.Event(), given)
    assert ended is not None
    assert ended.code == 1
    assert "OPENSPOT_BACKUP_DIR: Value error, ftp://x is neither a folder nor s3://bucket/prefix" in ended.said


async def test_without_an_interval_the_service_says_what_to_set(tmp_path: Path) -> None:
    settings = TimetableSettings(data_dir=tmp_path, backup_every_s=0, reconcile_every_s=0)
    with pytest.raises(StatedFaultError, match="neither OPENSPOT_BACKUP_EVERY_S nor OPENSPOT_RECONCILE_EVERY_S"):
        await service.run(settings, asyncio.Event())


def test_the_timetable_listens_where_its_settings_say() -> None:
    settings = TimetableSettings()
    assert (settings.timetable_host, settings.timetable_port) == ("", 3016)


def compared(data_dir: Path, differences: int = 0) -> Callable[[], Ended]:
    """A comparison that is made."""

    def compare() -> Ended:
        report = {"differences": [{}] * differences, "unnamed": 0}
        keep_report(data_dir, report, Begun("timetable", 1))
        return Ended(1 if differences else 0, "")

    return compare


async def test_a_comparison_that_finds_differences_has_succeeded_and_one_that_dies_has_not(tmp_path: Path) -> None:
    await table(tmp_path, 0.05, Attempts(tmp_path, compared(tmp_path, 2)), COMPARISON).run(asyncio.Event())
    found = comparison_outcome(tmp_path)
    assert (found.differences, found.failed_at) == (2, None)
    # A program that breaks ends with 1, too, and leaves no report.
    died = table(tmp_path, 0.05, Attempts(tmp_path, Ended(1, "Traceback")), COMPARISON)
    await died.run(asyncio.Event())
    assert comparison_outcome(tmp_path)._replace(failed_at=None) == found._replace(reason="Traceback")
    with pytest.raises(DegradedError, match="the newest comparison failed: Traceback"):
        await died.check()


async def test_what_the_command_said_of_its_failure_stays(tmp_path: Path) -> None:
    def fails() -> Ended:
        keep_failure(tmp_path, "the engine does not answer", Begun("timetable", 1))
        return Ended(2, "could not be compared: the engine does not answer")

    await table(tmp_path, 0.05, Attempts(tmp_path, fails), COMPARISON).run(asyncio.Event())
    assert comparison_outcome(tmp_path).reason == "the engine does not answer"


async def test_a_platform_that_starts_is_given_time_before_its_books_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def no_wait(stop: asyncio.Event, seconds: float) -> bool:
        waits.append(seconds)
        return stop.is_set()

    monkeypatch.setattr("openspot.timetable.timetable.is_set_within", no_wait)
    for work in (BACKUP, COMPARISON):
        await table(tmp_path, 86_400, Attempts(tmp_path, Ended(1, "end")), work).run(asyncio.Event())
    assert waits[0] == 0, "backups begin at once"
    assert START_S - 60 < waits[2] <= START_S == 600


async def test_who_was_faster_puts_off_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def somebody_else_compares(stop: asyncio.Event, seconds: float) -> bool:
        waits.append(seconds)
        compared(tmp_path)()
        return len(waits) == 2

    monkeypatch.setattr("openspot.timetable.timetable.is_set_within", somebody_else_compares)
    attempts = Attempts(tmp_path)
    await table(tmp_path, 86_400, attempts, COMPARISON).run(asyncio.Event())
    assert attempts.began == []
    assert waits[1] > 86_000


async def test_two_works_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_wait(stop: asyncio.Event, _: float) -> bool:
        await asyncio.sleep(0)
        return stop.is_set()

    monkeypatch.setattr("openspot.timetable.timetable.is_set_within", no_wait)
    turn, stop, running, most = asyncio.Lock(), asyncio.Event(), 0, 0

    def attempt(outcome: Callable[[], Ended]) -> Callable[[asyncio.Event], Any]:
        async def run(_stop: asyncio.Event) -> Ended:
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(20):
                await asyncio.sleep(0)
            running -= 1
            return outcome()

        return run

    tables = [
        table(tmp_path, 0.05, attempt(made(tmp_path)), BACKUP, turn),
        table(tmp_path, 0.05, attempt(compared(tmp_path)), COMPARISON, turn),
    ]
    tasks = [asyncio.create_task(each.run(stop)) for each in tables]
    await eventually(lambda: backup_outcome(tmp_path).made_at and comparison_outcome(tmp_path).made_at)
    stop.set()
    await asyncio.gather(*tasks)
    assert most == 1
