"""The circuit breaker of the bus publisher (Document A 7, 8): a rule without IO.

A subject's breaker opens at `failures_max` failures within `window_s`, and stays open for `window_s` after
the last of them. Then one publish may try; its success closes the breaker, its failure opens it again.
"""

from collections import deque
from collections.abc import Callable


class CircuitOpenError(Exception):
    """A publish was refused without being tried."""

    def __init__(self, subject: str) -> None:
        super().__init__(f"circuit breaker open for subject: {subject}")
        self.subject = subject


class CircuitBreaker:
    """Breakers of many subjects. `now` answers seconds of a clock that never goes back."""

    def __init__(self, failures_max: int, window_s: float, now: Callable[[], float]) -> None:
        self._failures_max = failures_max
        self._window_s = window_s
        self._now = now
        self._failures: dict[str, deque[float]] = {}
        self._opened: dict[str, float] = {}

    def check(self, subject: str) -> None:
        """Raise CircuitOpenError while the breaker of `subject` is open."""
        opened = self._opened.get(subject)
        if opened is None:
            return
        if self._now() - opened < self._window_s:
            raise CircuitOpenError(subject)
        # The window is over: this caller is the one that tries, others wait for its outcome.
        self._opened[subject] = self._now()

    def succeeded(self, subject: str) -> None:
        """A publish went through: the subject's breaker is closed and its failures are forgotten."""
        if self._failures:
            self._failures.pop(subject, None)
        if self._opened:
            self._opened.pop(subject, None)

    def failed(self, subject: str) -> None:
        """A publish failed: opens the breaker at the last of `failures_max` failures within the window."""
        now = self._now()
        failures = self._failures.setdefault(subject, deque(maxlen=self._failures_max))
        failures.append(now)
        if len(failures) == self._failures_max and now - failures[0] <= self._window_s:
            self._opened[subject] = now
