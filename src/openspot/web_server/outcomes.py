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

from openspot.web_server.health_report import RECONCILE_FILE

BACKUP_FILE = "last-backup.json"


@functools.cache
def _gauges() -> tuple[Gauge, Gauge, Gauge]:
    """The differences, the time of the comparison and that of the backup.

    They are made when they are first needed: other services have this module, too, and would show zeros.
    """
    return (
        Gauge(
            "openspot_reconcile_differences", "Differences that the newest comparison of engine, ledger and rows found"
        ),
        Gauge("openspot_reconcile_time_seconds", "When the newest comparison ended, in seconds since 1970"),
        Gauge("openspot_backup_time_seconds", "When the newest good backup was made, in seconds since 1970"),
    )


def show_outcomes(data_dir: Path) -> None:
    """Let the metrics show what the files of this data directory say."""
    differences, reconcile_time, backup_time = _gauges()
    differences.set_function(lambda: _figure(data_dir / RECONCILE_FILE, _differences))
    reconcile_time.set_function(lambda: _figure(data_dir / RECONCILE_FILE, lambda outcome: outcome["at"] / 1000))
    backup_time.set_function(lambda: _figure(data_dir / BACKUP_FILE, lambda outcome: outcome["time"]))


def _differences(outcome: Any) -> float:
    """The differences, those that are counted only included. A comparison that failed shows none, and its age tells."""
    report = outcome["report"]
    return float(len(report["differences"]) + report["unnamed"])


def _figure(path: Path, read: Callable[[Any], float]) -> float:
    try:
        return float(read(json.loads(path.read_bytes())))
    except (OSError, ValueError, LookupError, TypeError):
        return math.nan
