"""Micro-batches: what arrives while one batch is worked on becomes the next. No wait when idle, large under load."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class MicroBatch(Generic[Item, Result]):
    """Gathers items and works on one batch at a time, at most `batch_max` items each.

    `work` answers one result for each item, in order. How many items wait is bounded by who submits them.
    """

    def __init__(self, work: Callable[[list[Item]], Awaitable[Sequence[Result]]], batch_max: int) -> None:
        self._work = work
        self._batch_max = batch_max
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Result:
        """The result of `item`. Raises what `work` raised for its batch."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch_max))]
                try:
                    results = await self._work([item for item, _ in batch])
                    outcomes = list(zip(batch, results, strict=True))
                except Exception as error:
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(error)
                    continue
                for (_, future), result in outcomes:
                    if not future.done():
                        future.set_result(result)
        finally:
            self._worker = None
