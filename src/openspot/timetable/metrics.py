"""Metrics of the timetable.

They are made when the timetable begins: other services have this module, too, and would show zeros.
"""

import functools

from prometheus_client import Counter, Gauge


class TimetableMetrics:
    """What the timetable counts, by its works: `backup` and `comparison`. A process makes them once."""

    def __init__(self) -> None:
        self.attempts = Counter(
            "openspot_timetable_attempts_total",
            "Runs that the timetable began, by what became of them",
            ["work", "outcome"],
        )
        self.interval = Gauge(
            "openspot_timetable_interval_seconds", "A run is due so many seconds after the one before it", ["work"]
        )
        self.running = Gauge("openspot_timetable_running", "1 while the timetable runs this work, else 0", ["work"])


@functools.cache
def timetable_metrics() -> TimetableMetrics:
    """The metrics of this process."""
    return TimetableMetrics()
