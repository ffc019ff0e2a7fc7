"""Pauses between attempts. They double up to a bound, and a random part is cut off each.

The randomness keeps processes that failed together from trying again together.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

_DOUBLINGS_MAX = 32
"""After so many doublings the pause is at its bound; a larger power would only overflow."""

Chance = Callable[[], float]
"""Returns a number from 0 up to, not including, 1."""
Value = TypeVar("Value")


def pause_s(failures: int, first_s: float, longest_s: float, chance: Chance = random.random) -> float:
    """The pause in seconds after that many failures in a row (1 or more).

    It doubles from `first_s` up to `longest_s`. Then a random part, at most half, is cut off.
    """
    doubled = min(first_s * 2.0 ** min(failures - 1, _DOUBLINGS_MAX), longest_s)
    return doubled * (1.0 - chance() / 2)


class Backoff:
    """Counts the consecutive failures of one piece of work and pauses after each.

    `attempts_max` limits the attempts; None is for work that is repeated until it succeeds or is cancelled.
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
        """Start again with the shortest pause."""
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

    Calls `note` with each of `errors` that it raises, then pauses. Raises the last one when `backoff` is exhausted, and
    every other exception at once.
    """
    while True:
        try:
            return await work()
        except errors as error:
            note(error)
            await backoff.pause(error)
