"""Metrics of what commands leave in the data directory: the newest comparison and the newest backup.

The files are read when the metrics are asked for. A figure is NaN as long as there is no such file.
"""

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prometheus_client import Gauge

from openspot.kit.backup_outcome import backup_outcome
from openspot.web_server.health_report import RECONCILE_FILE


@functools.cache
def _gauges() -> tuple[Gauge, Gauge, Gauge, Gauge]:
    """The differences, the time of the comparison that of the backup, and whether it fails.

    They are made when they are first needed: other services have this module, too, and would show zeros.
    """
    return (
        Gauge(
            "openspot_reconcile_differences", "Differences that the newest comparison of engine, ledger and rows found"
        ),
        Gauge("openspot_reconcile_time_seconds", "When the newest comparison ended, in seconds since 1970"),
        Gauge("openspot_backup_time_seconds", "When the newest good backup was made, in seconds since 1970"),
        Gauge("openspot_backup_failing", "1 if the newest attempt to make a backup failed, else 0"),
    )


def show_outcomes(data_dir: Path) -> None:
    """Let the metrics show what the files of this data directory say."""
    differences, reconcile_time, backup_time, backup_failing = _gauges()
    differences.set_function(lambda: _figure(data_dir / RECONCILE_FILE, _differences))
    reconcile_time.set_function(lambda: _figure(data_dir / RECONCILE_FILE, _compared_at))
    backup_time.set_function(lambda: math.nan if (at := backup_outcome(data_dir).made_at) is None else at)
    backup_failing.set_function(lambda: float(backup_outcome(data_dir).failed_at is not None))


def _differences(outcome: Any) -> float:
    """The differences, those that are counted only included."""
    report = outcome["report"]
    return float(len(report["differences"]) + report["unnamed"])


def _compared_at(outcome: Any) -> float:
    # Earlier releases kept a comparison that failed in this file, with its time.
    return math.nan if outcome["report"] is None else float(outcome["at"] / 1000)


def _figure(path: Path, read: Callable[[Any], float]) -> float:
    try:
        return float(read(json.loads(path.read_bytes())))
    except (OSError, ValueError, LookupError, TypeError):
        return math.nan
