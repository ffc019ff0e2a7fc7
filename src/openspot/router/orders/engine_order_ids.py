"""Engine order ids: routers share one counter, and take ids from it in blocks before they need them (fact A1.3-25).

The PostgreSQL sequence `engine_order_ids` counts in steps of 1000, from 1000. A router that gets the value v owns the
ids v − 999 to v. No other router ever uses those that it leaves.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from openspot.kit.log import get_logger

log = get_logger("order_ids")

BLOCK_SIZE = 1000
IDS_AHEAD = 20_000
"""A router keeps this many ids in stock. So it can place this many orders while the database is away."""


class OrderIdsUnavailableError(Exception):
    """The stock is empty, and the database does not return another block."""


class OrderIds:
    """Gives out ids that no other router uses. `take_block` returns the next value of the sequence.

    It has `take_s_max` seconds for that: an order that finds the stock empty waits no longer before it is refused.
    """

    def __init__(self, take_block: Callable[[], Awaitable[int]], take_s_max: float) -> None:
        self._take_block = take_block
        self._take_s_max = take_s_max
        self._blocks: deque[range] = deque()
        self._left = 0
        self._refill: asyncio.Task[None] | None = None

    async def take(self) -> int:
        """The next id. Raises OrderIdsUnavailableError."""
        while not self._left:
            await self._refilled()
        block = self._blocks[0]
        if len(block) == 1:
            self._blocks.popleft()
        else:
            self._blocks[0] = block[1:]
        self._left -= 1
        if self._left <= IDS_AHEAD - BLOCK_SIZE:
            self._start_refill()
        return block[0]

    async def close(self) -> None:
        """Cancel a refill that is under way."""
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)

    async def _refilled(self) -> None:
        refill = self._start_refill()
        # Only wait, so that a cancelled caller does not cancel the refill for the others.
        await asyncio.wait({refill})
        error = refill.exception()
        if error is not None and not self._left:
            raise OrderIdsUnavailableError("no order ids are available") from error

    def _start_refill(self) -> asyncio.Task[None]:
        if self._refill is None or self._refill.done():
            self._refill = asyncio.create_task(self._fill())
            self._refill.add_done_callback(_note_failure)
        return self._refill

    async def _fill(self) -> None:
        while self._left <= IDS_AHEAD - BLOCK_SIZE:
            async with asyncio.timeout(self._take_s_max):
                last = await self._take_block()
            self._blocks.append(range(last - BLOCK_SIZE + 1, last + 1))
            self._left += BLOCK_SIZE


def _note_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.warning("no block of order ids", error=repr(task.exception()))
