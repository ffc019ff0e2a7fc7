"""Pace: work in batches costs the same for one item as for many, so a flood is worth waiting a moment for."""

import asyncio


class Pace:
    """Keeps the beginnings of batches at least `interval_s` seconds apart: the first after a pause goes at once."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._next_begin = 0.0

    async def begin(self, *, at_once: bool = False) -> None:
        """Return when the next batch may begin; `at_once` is for one that has grown full already."""
        loop = asyncio.get_running_loop()
        wait_s = self._next_begin - loop.time()
        if wait_s > 0 and not at_once:
            await asyncio.sleep(wait_s)
        self._next_begin = loop.time() + self._interval_s
