"""When backups are due, what becomes of failures, and that a stop ends a backup under way."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from openspot.backup_timetable import service, timetable
from openspot.backup_timetable.settings import BackupTimetableSettings
from openspot.backup_timetable.timetable import BUSY, Ended, Timetable, back_up_once, due_at, problem_of
from openspot.kit.backup_outcome import BackupOutcome, backup_outcome, note_backup, note_failure
from openspot.kit.health import DegradedError
from openspot.kit.service import StatedFaultError
from tests.support.waiting import eventually


@pytest.mark.parametrize(
    ("outcome", "due"),
    [
        (BackupOutcome(), 10_000),
        (BackupOutcome(made_at=9_000), 12_600),
        (BackupOutcome(made_at=1_000), 4_600),
        (BackupOutcome(made_at=9_000, failed_at=9_900), 10_500),
        (BackupOutcome(failed_at=10_000), 10_600),
        # The clock was set back: the wait is the interval at most.
        (BackupOutcome(made_at=99_000), 13_600),
        (BackupOutcome(failed_at=99_000), 13_600),
    ],
)
def test_a_backup_is_due_an_interval_after_the_last_good_one_and_soon_after_a_failure(
    outcome: BackupOutcome, due: float
) -> None:
    assert due_at(outcome, 3600, now=10_000) == due


def test_a_short_interval_is_also_the_pause_after_a_failure() -> None:
    assert due_at(BackupOutcome(failed_at=100), 5, now=102) == 105


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (BackupOutcome(), ""),
        (BackupOutcome(made_at=100_000 - 2 * 3600 - 6 * 3600), ""),
        (BackupOutcome(made_at=100_000 - 2 * 3600 - 6 * 3600 - 1), "the last good backup is 8.0 hours old"),
        (BackupOutcome(made_at=99_000, failed_at=99_500, reason="no space"), "the newest backup failed: no space"),
    ],
)
def test_a_failure_and_an_old_backup_are_problems(outcome: BackupOutcome, problem: str) -> None:
    assert problem_of(outcome, 3600, now=100_000) == problem


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
    table = Timetable(tmp_path, 0.05, attempts)
    await table.run(asyncio.Event())
    found = backup_outcome(tmp_path)
    assert (found.made_at, found.reason) == (None, "openspot: the database does not answer")
    with pytest.raises(DegradedError, match="the newest backup failed: openspot: the database does not answer"):
        await table.check()
    await Timetable(tmp_path, 0.05, Attempts(tmp_path, made(tmp_path))).run(asyncio.Event())
    assert backup_outcome(tmp_path).reason == ""
    await table.check()


async def test_attempts_keep_their_pace_whatever_becomes_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(tmp_path, Ended(BUSY, ""), Ended(1, "no"), Ended(1, ""), made(tmp_path), Ended(1, "end"))
    monkeypatch.setattr(timetable, "note_failure", note_failure)
    await Timetable(tmp_path, 0.2, attempts).run(asyncio.Event())
    pauses = [later - earlier for earlier, later in zip(attempts.began, attempts.began[1:], strict=False)]
    assert len(pauses) == 4
    assert min(pauses) > 0.19


async def test_a_data_directory_that_cannot_be_written_does_not_hurry_the_timetable(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "none", Ended(1, "no"), Ended(1, "no"))
    await Timetable(tmp_path / "none", 0.2, attempts).run(asyncio.Event())
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
    running = asyncio.create_task(back_up_once(stop, {}))
    await eventually(pids.exists)
    stop.set()
    assert await running is None
    await eventually(lambda: not any(runs(int(pid)) for pid in pids.read_text("utf-8").split()))
    late = await back_up_once(asyncio.Event(), {}, run_s_max=0.3)
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
    ended = await back_up_once(asyncio.Event(), given)
    assert ended is not None
    assert ended.code == 1
    assert "OPENSPOT_BACKUP_DIR: Value error, ftp://x is neither a folder nor s3://bucket/prefix" in ended.said


async def test_without_an_interval_the_service_says_what_to_set(tmp_path: Path) -> None:
    settings: Any = BackupTimetableSettings(data_dir=tmp_path, backup_every_s=0)
    with pytest.raises(StatedFaultError, match="OPENSPOT_BACKUP_EVERY_S is not set"):
        await service.run(settings, asyncio.Event())


def test_the_timetable_listens_where_its_settings_say() -> None:
    settings = BackupTimetableSettings()
    assert (settings.backup_every_s, settings.backup_timetable_host, settings.backup_timetable_port) == (0, "", 3016)
