"""Pace: keeps batches apart, and further apart while the machine is busy (docs/adr/0008 and 0046).

A batch of one item costs about as much as a batch of many. On an idle machine short intervals cost nothing that anybody
misses. On a busy one they take processor time from orders, so the intervals of paces with a name widen.
"""

import asyncio
import time
from collections.abc import Callable

import psutil

from openspot.kit.metrics import PACE_WAIT_SECONDS

CALM_SHARE, BUSY_SHARE = 0.5, 0.9
"""Up to the first share of the machine's processor time, intervals are the least; from the second one on, the widest.

Between the two they grow evenly.
"""
SAMPLE_S = 1.0
"""Seconds between two looks at the machine, at least: a shorter time would show single batches."""

ProcessorTimes = Callable[[], tuple[float, float]]
"""Returns seconds of processor time since the machine started: (in use, in all)."""


def processor_times() -> tuple[float, float]:
    """The seconds of all processors: (in use, in all)."""
    times = psutil.cpu_times()
    # Time of guests is part of `user` and `nice` already. Time in which a processor waited for a disk was free.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total - times.idle - getattr(times, "iowait", 0.0), total


class MachineLoad:
    """The share of the machine's processor time that was in use lately, from 0 to 1.

    It looks at the machine only when somebody asks, so that an idle process does not wake. The first answer after a
    pause is about the whole pause. `monotonic` returns seconds.
    """

    def __init__(self, read: ProcessorTimes = processor_times, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._monotonic = monotonic
        self._seen_at = monotonic()
        self._used, self._total = read()
        self._share = 0.0

    def __call__(self) -> float:
        """The share in the last SAMPLE_S seconds or more."""
        now = self._monotonic()
        if now - self._seen_at >= SAMPLE_S:
            used, total = self._read()
            if total > self._total:
                self._share = min(1.0, max(0.0, (used - self._used) / (total - self._total)))
            self._seen_at, self._used, self._total = now, used, total
        return self._share


class Widening:
    """By what the intervals of a process are multiplied: by 1 on a calm machine, by `factor_max` on a busy one.

    `load` returns the share of the machine's processor time in use. Without it, intervals never widen.
    """

    def __init__(self, factor_max: float = 1.0, load: Callable[[], float] | None = None) -> None:
        self._factor_max = factor_max
        self._load = load

    def factor(self) -> float:
        """The present factor, at least 1."""
        if self._load is None:
            return 1.0
        busy = (self._load() - CALM_SHARE) / (BUSY_SHARE - CALM_SHARE)
        return 1.0 + (self._factor_max - 1.0) * min(1.0, max(0.0, busy))


_widening = Widening()


def use_widening(widening: Widening) -> None:
    """Let all paces of this process that have a name widen by `widening`. Before this call, none widens."""
    global _widening
    _widening = widening


class Pace:
    """Lets batches begin at least `interval_s` seconds apart. The first one after a pause begins at once.

    A pace with an interval and a `name` widens it while the machine is busy, and shows under this name how long its
    batches wait (`openspot_pace_wait_seconds`). One without a name keeps its interval.
    """

    def __init__(self, interval_s: float, name: str = "") -> None:
        self._interval_s = interval_s
        self._observe = PACE_WAIT_SECONDS.labels(name).observe if name and interval_s else None
        self._last_begin = float("-inf")

    async def begin(self, *, at_once: bool = False) -> None:
        """Wait until the next batch may begin. `at_once` skips the wait, for a batch that is already full."""
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        factor = 1.0 if self._observe is None else _widening.factor()
        wait_s = self._last_begin + self._interval_s * factor - asked_at
        if wait_s > 0 and not at_once:
            await asyncio.sleep(wait_s)
        self._last_begin = loop.time()
        if self._observe is not None:
            self._observe(self._last_begin - asked_at)
