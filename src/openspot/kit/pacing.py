"""Pace: keeps batches apart under load. A batch of one item costs about as much as a batch of many."""

import asyncio


class Pace:
    """Lets batches begin at least `interval_s` seconds apart. The first one after a pause begins at once."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._next_begin = 0.0

    async def begin(self, *, at_once: bool = False) -> None:
        """Wait until the next batch may begin. `at_once` skips the wait, for a batch that is already full."""
        loop = asyncio.get_running_loop()
        wait_s = self._next_begin - loop.time()
        if wait_s > 0 and not at_once:
            await asyncio.sleep(wait_s)
        self._next_begin = loop.time() + self._interval_s
