"""When a work of the timetable is due, and from when on its success is missing."""

import pytest
from pydantic import ValidationError

from openspot.kit.backup_outcome import BackupOutcome
from openspot.kit.intervals import IntervalSettings, Plan


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
def test_a_run_is_due_an_interval_after_the_last_good_one_and_soon_after_a_failure(
    outcome: BackupOutcome, due: float
) -> None:
    assert Plan(3600, 2).due_at(outcome, now=10_000) == due


def test_a_short_interval_is_also_the_pause_after_a_failure() -> None:
    assert Plan(5, 2).due_at(BackupOutcome(failed_at=100), now=102) == 105


@pytest.mark.parametrize(
    ("plan", "made_at", "late"),
    [
        (Plan(7200, 3), 100_000 - 21_600, False),
        (Plan(7200, 3), 100_000 - 21_601, True),
        # An hour at least, however short the interval is.
        (Plan(60, 2), 100_000 - 3600, False),
        (Plan(60, 2), 100_000 - 3601, True),
        (Plan(0, 2), 1, False),
        (Plan(7200, 3), None, True),
        (Plan(86_400, 2), None, False),
    ],
)
def test_a_success_is_missing_after_so_many_intervals(plan: Plan, made_at: float | None, late: bool) -> None:
    assert plan.is_late(BackupOutcome(made_at=made_at), watched_since=50_000, now=100_000) is late


def test_the_books_are_compared_once_a_day_and_backups_are_asked_for() -> None:
    settings = IntervalSettings()
    assert (settings.reconcile_plan, settings.backup_plan) == (Plan(86_400, 2), Plan(0, 2))
    set_to = IntervalSettings(
        reconcile_every_s=10, alert_reconcile_intervals=3, backup_every_s=20, alert_backup_intervals=4
    )
    assert (set_to.reconcile_plan, set_to.backup_plan) == (Plan(10, 3), Plan(20, 4))
    with pytest.raises(ValidationError):
        IntervalSettings(alert_backup_intervals=1)
