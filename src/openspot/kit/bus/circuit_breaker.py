"""The circuit breaker of the publisher (fact A8-14, facts A7-14 to A7-15): a rule without IO.

The breaker of a subject opens at `failures_max` failures within `window_s` seconds, and stays open for `window_s` after
the last of them. Then the breaker lets one attempt through. If it succeeds, the breaker closes; if it fails, the
breaker stays open for another `window_s`.
"""

from collections import deque
from collections.abc import Callable

from openspot.kit.bus.errors import CircuitOpenError

SUBJECTS_MAX = 10_000
"""When this many subjects have failures, the breaker forgets those whose failures no longer count."""


class CircuitBreaker:
    """The breakers of all subjects. `now` returns the monotonic clock's seconds."""

    def __init__(self, failures_max: int, window_s: float, now: Callable[[], float]) -> None:
        self._failures_max = failures_max
        self._window_s = window_s
        self._now = now
        self._failures: dict[str, deque[float]] = {}
        self._opened: dict[str, float] = {}

    def check(self, subject: str) -> None:
        """Raise CircuitOpenError if the breaker of `subject` is open."""
        opened = self._opened.get(subject)
        if opened is None:
            return
        if self._now() - opened < self._window_s:
            raise CircuitOpenError(subject)
        # The window is over, so this caller may try. For all others the breaker stays open until this attempt ends.
        self._opened[subject] = self._now()

    def succeeded(self, subject: str) -> None:
        """Close the breaker of `subject` and forget its failures."""
        if self._failures:
            self._failures.pop(subject, None)
        if self._opened:
            self._opened.pop(subject, None)

    def failed(self, subject: str) -> None:
        """Count a failure of `subject`. Opens its breaker at `failures_max` failures within the window."""
        now = self._now()
        if len(self._failures) >= SUBJECTS_MAX:
            self._drop_old(now)
        failures = self._failures.setdefault(subject, deque(maxlen=self._failures_max))
        failures.append(now)
        if len(failures) == self._failures_max and now - failures[0] <= self._window_s:
            self._opened[subject] = now

    def _drop_old(self, now: float) -> None:
        for subject in [subject for subject, times in self._failures.items() if now - times[-1] > self._window_s]:
            del self._failures[subject]
            self._opened.pop(subject, None)
