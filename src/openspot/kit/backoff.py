"""Pauses between attempts. Each is twice as long as the one before, up to a bound, less a random part.

Because of the random part, processes that failed at the same time try again at different times.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

_DOUBLINGS_MAX = 32
"""The pause has reached its bound by then. A larger power of two would overflow."""

Chance = Callable[[], float]
"""Returns a random number, at least 0 and less than 1."""
Value = TypeVar("Value")


def pause_s(failures: int, first_s: float, longest_s: float, chance: Chance = random.random) -> float:
    """The pause in seconds after `failures` failures in a row (1 or more).

    It doubles from `first_s` up to `longest_s`, and is then shortened by a random part of at most half.
    """
    doubled = min(first_s * 2.0 ** min(failures - 1, _DOUBLINGS_MAX), longest_s)
    return doubled * (1.0 - chance() / 2)


class Backoff:
    """Counts the consecutive failures of one piece of work and pauses after each.

    `attempts_max` limits the attempts. With None, the work is repeated until it succeeds or is cancelled.
    """

    def __init__(
        self,
        first_s: float,
        longest_s: float,
        *,
        attempts_max: int | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._attempts_max = attempts_max
        self._chance = chance or random.random
        self.failures = 0
        """Failures since the last success."""

    def succeeded(self) -> None:
        """Forget the failures. The next pause is the shortest one."""
        self.failures = 0

    def failed(self) -> float:
        """Count a failure and return the pause before the next attempt, in seconds."""
        self.failures += 1
        return pause_s(self.failures, self._first_s, self._longest_s, self._chance)

    @property
    def is_exhausted(self) -> bool:
        """Whether the last allowed attempt has failed."""
        return self._attempts_max is not None and self.failures >= self._attempts_max

    async def pause(self, error: BaseException) -> None:
        """Count a failure and sleep. Raises `error` if the last allowed attempt has failed."""
        wait_s = self.failed()
        if self.is_exhausted:
            raise error
        await asyncio.sleep(wait_s)


async def retry(
    work: Callable[[], Awaitable[Value]],
    errors: tuple[type[Exception], ...],
    backoff: Backoff,
    note: Callable[[Exception], None],
) -> Value:
    """Repeat `work` until it succeeds, and return what it returns.

    If `work` raises one of `errors`, calls `note` with it and pauses. Raises it if `backoff` is exhausted. Any other
    exception is raised at once.
    """
    while True:
        try:
            return await work()
        except errors as error:
            note(error)
            await backoff.pause(error)
