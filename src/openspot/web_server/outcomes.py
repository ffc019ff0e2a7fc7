"""Metrics of what commands leave in the data directory: the newest comparison and the newest backup.

The files are read when the metrics are asked for. A figure is NaN as long as there is none.
"""

import functools
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from prometheus_client import Gauge

from openspot.kit.backup_outcome import backup_outcome
from openspot.kit.comparison_outcome import comparison_outcome
from openspot.kit.intervals import IntervalSettings, Outcome, Plan


@functools.cache
def _gauges() -> dict[str, Gauge]:
    """The gauges by their names.

    They are made when they are first needed: other services have this module, too, and would show zeros.
    """
    meanings = {
        "openspot_reconcile_differences": "Differences that the newest comparison of engine, ledger and rows found",
        "openspot_reconcile_time_seconds": "When the newest comparison ended, in seconds since 1970",
        "openspot_reconcile_failing": "1 if nothing could be compared since the newest comparison, else 0",
        "openspot_reconcile_late": "1 if no comparison has succeeded for OPENSPOT_ALERT_RECONCILE_INTERVALS, else 0",
        "openspot_backup_time_seconds": "When the newest good backup was made, in seconds since 1970",
        "openspot_backup_failing": "1 if the newest attempt to make a backup failed, else 0",
        "openspot_backup_late": "1 if no backup has succeeded for OPENSPOT_ALERT_BACKUP_INTERVALS, else 0",
    }
    return {name: Gauge(name, meaning) for name, meaning in meanings.items()}


def show_outcomes(settings: IntervalSettings) -> None:
    """Let the metrics show what the files of the data directory say."""
    data_dir, watched_since = settings.data_dir, time.time()
    works: dict[str, tuple[Callable[[Path], Outcome], Plan]] = {
        "reconcile": (comparison_outcome, settings.reconcile_plan),
        "backup": (backup_outcome, settings.backup_plan),
    }
    for name, (read, plan) in works.items():
        for suffix, figure in _figures(partial(read, data_dir), plan, watched_since).items():
            _gauges()[f"openspot_{name}_{suffix}"].set_function(figure)
    _gauges()["openspot_reconcile_differences"].set_function(lambda: _or_nan(comparison_outcome(data_dir).differences))


def _figures(read: Callable[[], Outcome], plan: Plan, watched_since: float) -> dict[str, Callable[[], float]]:
    return {
        "time_seconds": lambda: _or_nan(read().made_at),
        "failing": lambda: float(read().failed_at is not None),
        "late": lambda: float(plan.is_late(read(), watched_since, time.time())),
    }


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
