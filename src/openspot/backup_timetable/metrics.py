"""Metrics of the timetable of backups.

They are made when the timetable begins: other services have this module, too, and would show zeros.
"""

import functools

from prometheus_client import Counter, Gauge


class TimetableMetrics:
    """What the timetable counts. A process makes them once."""

    def __init__(self) -> None:
        self.attempts = Counter(
            "openspot_backup_attempts_total", "Backups that the timetable began, by what became of them", ["outcome"]
        )
        self.interval = Gauge(
            "openspot_backup_interval_seconds", "A backup is due so many seconds after the one before it"
        )
        self.running = Gauge("openspot_backup_running", "1 while the timetable makes a backup, else 0")


@functools.cache
def timetable_metrics() -> TimetableMetrics:
    """The metrics of this process."""
    return TimetableMetrics()
