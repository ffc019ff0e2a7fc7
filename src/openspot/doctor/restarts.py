"""Processes that ended by themselves lately, whether the platform runs now or not."""

import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from openspot.doctor.findings import Finding, fine, problem, warning
from openspot.kit.process_ends import read_ends

WINDOW_S = 86_400
OFTEN = 3
"""So many ends of one process within the window are a problem: it does not recover."""


def restart_findings(data_dir: Path) -> Iterator[Finding]:
    """What is wrong with the processes of a data directory that is there."""
    since_ms = (time.time() - WINDOW_S) * 1000
    ends = [end for end in read_ends(data_dir) if end.at_ms > since_ms and not end.is_asked]
    if not ends:
        yield fine("restarts", "no process has ended by itself within a day")
    for process, its in groupby(sorted(ends, key=lambda end: (end.process, end.at_ms)), lambda end: end.process):
        found = list(its)
        times = "once" if len(found) == 1 else f"{len(found)} times"
        say = warning if len(found) < OFTEN else problem
        yield say(
            "restarts",
            f"{found[-1].title} ended by itself {times} within a day, at last with {found[-1].cause}",
            f"`openspot logs {process.partition('+')[0]}` shows why",
        )
