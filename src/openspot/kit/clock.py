"""Time, passed in wherever a rule needs it, so that tests can hold it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]
"""Answers nanoseconds since 1970."""


def system_clock() -> int:
    """The machine's time in nanoseconds since 1970."""
    return time.time_ns()


def iso_from_ms(milliseconds: int) -> str:
    """ISO 8601 in UTC with milliseconds: 2026-01-02T03:04:05.678Z."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"
