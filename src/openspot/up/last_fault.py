"""The newest error that a process wrote into the platform's log."""

import json
from collections.abc import Collection
from pathlib import Path

TAIL_BYTES = 262_144
"""So much of the log's end is read: a log may be large."""


def last_fault(log_path: Path, names: Collection[str]) -> str:
    """The newest error of a process with one of these names, near the end of the log; empty if there is none.

    Raises OSError if the log cannot be read.
    """
    marks = [f'"service": "{name}"' for name in names]
    for line in reversed(_tail(log_path).splitlines()):
        if '"level": "error"' in line and any(mark in line for mark in marks):
            try:
                fault = json.loads(line)
                return str(fault.get("error") or fault["event"])
            except (ValueError, KeyError, AttributeError):
                continue
    return ""


def _tail(log_path: Path) -> str:
    with log_path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - TAIL_BYTES))
        return file.read().decode("utf-8", "replace")
