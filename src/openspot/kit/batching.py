"""Collects items into batches: while one batch is worked on, the next one gathers.

An idle batcher works on an item at once; under load the batches grow. `interval_s` keeps the beginnings of batches
apart; if the batcher has a pace with a name, they are further apart on a busy machine (docs/adr/0008 and 0046). The
queue is bounded.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from openspot.kit.pacing import Pace
from openspot.kit.tasks import end_tasks

Item = TypeVar("Item")
Result = TypeVar("Result")
_Future = asyncio.Future[Any] | None
"""Where an item's result goes; None if nobody waits for it."""


class BatcherFullError(Exception):
    """The batcher's queue is full."""


class BatcherClosedError(Exception):
    """The batcher is closed. The work on this item did not begin, or did not end."""


class Batcher(Generic[Item, Result]):
    """Passes items to `work` in batches, one batch at a time.

    `work` gets the items in the order in which they came and returns one result for each, in the same order. If a
    result is an exception, only that item's caller gets it. If `work` itself raises, every caller of the batch gets
    that exception.

    `batch_max` bounds a batch and `waiting_max` the queue. Both count items, or what `size` returns for them; a batch
    has at least one item, however large it is.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], Awaitable[Sequence[Result | Exception] | None]],
        *,
        batch_max: int,
        waiting_max: int,
        interval_s: float = 0.0,
        pace: str = "",
        size: Callable[[Item], int] | None = None,
    ) -> None:
        self._work = work
        self._batch_max = batch_max
        self._waiting_max = waiting_max
        self._pace = Pace(interval_s, pace) if interval_s else None
        self._size = size or _one
        self._waiting: deque[tuple[Item, _Future]] = deque()
        self._waiting_size = 0
        self._worker: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._closed: Exception | None = None
        self._failure: Exception | None = None
        self._failed = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def waiting(self) -> int:
        """The size of the queue without the batch under way: the number of items, or the sum of their `size`."""
        return self._waiting_size

    @property
    def is_full(self) -> bool:
        """Whether `submit` would raise BatcherFullError and `put` would wait."""
        return self._waiting_size >= self._waiting_max

    async def submit(self, item: Item) -> Result:
        """Queue `item`, wait, and return its result.

        Raises BatcherFullError at once if the queue is full. Raises the reason that `close` was called with if the
        batcher is closed, and the exception of `work` if the item failed.
        """
        if self._closed is not None:
            raise self._closed
        if self.is_full:
            raise BatcherFullError(f"{self._waiting_size} wait already")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._add(item, future)
        return await future

    async def put(self, item: Item) -> None:
        """Queue `item` without waiting for its result. Waits while the queue is full.

        `work` must handle failures itself. If it raises, the batcher gives up the whole queue, and `put`, `drained` and
        `failure` raise that exception.
        """
        while self._failure is None and self._closed is None and self.is_full:
            self._room.clear()
            await self._room.wait()
        self.add(item)

    def add(self, item: Item) -> None:
        """Queue `item` even if the queue is full. The caller must bound the items. Raises what `put` raises."""
        self._check()
        self._add(item, None)

    async def drained(self) -> None:
        """Wait until the queue is empty and no batch is under way. Raises what `put` raises."""
        await self._idle.wait()
        self._check()

    async def failure(self) -> NoReturn:
        """Wait until `work` raises for an item that was `put`, and raise that exception."""
        await self._failed.wait()
        assert self._failure is not None, "set before the event"
        raise self._failure

    async def close(self, reason: Exception | None = None) -> None:
        """Take no more items, give up those in the queue, and wait for the batch under way.

        For these items `submit` raises `reason`, by default BatcherClosedError.
        """
        self._closed = reason or BatcherClosedError("closed")
        self._give_up(self._closed)
        if self._worker is not None:
            await asyncio.wait({self._worker})

    async def cancel(self) -> None:
        """Like `close`, but cancel the batch under way instead of waiting for it."""
        self._closed = BatcherClosedError("cancelled")
        self._give_up(self._closed)
        if self._worker is not None:
            await end_tasks(self._worker)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed is not None:
            raise self._closed

    def _add(self, item: Item, future: _Future) -> None:
        self._waiting.append((item, future))
        self._waiting_size += self._size(item)
        self._idle.clear()
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            while self._waiting:
                if self._pace is not None:
                    await self._pace.begin(at_once=self._waiting_size >= self._batch_max)
                batch = self._take()
                if batch:
                    await self._work_on(batch)
        finally:
            self._worker = None
            self._idle.set()
            self._room.set()

    def _take(self) -> list[tuple[Item, _Future]]:
        """The next batch, without the items whose callers were cancelled."""
        batch: list[tuple[Item, _Future]] = []
        size = 0
        while self._waiting:
            item, future = self._waiting[0]
            item_size = self._size(item)
            if batch and size + item_size > self._batch_max:
                break
            self._waiting.popleft()
            self._waiting_size -= item_size
            if future is None or not future.done():
                batch.append((item, future))
                size += item_size
        self._room.set()
        return batch

    async def _work_on(self, batch: list[tuple[Item, _Future]]) -> None:
        try:
            results = await self._work([item for item, _ in batch])
            pairs = zip(batch, results if results is not None else [None] * len(batch), strict=True)
            outcomes = [(future, result) for (_, future), result in pairs]
        except Exception as error:
            outcomes = [(future, error) for _, future in batch]
            if any(future is None for _, future in batch):
                self._fail(error)
        except BaseException:
            for _, future in batch:
                _settle(future, BatcherClosedError("cancelled in the middle of its batch"))
            raise
        for future, outcome in outcomes:
            _settle(future, outcome)

    def _fail(self, error: Exception) -> None:
        self._failure = error
        self._give_up(error)
        self._failed.set()

    def _give_up(self, error: Exception) -> None:
        for _, future in self._waiting:
            _settle(future, error)
        self._waiting.clear()
        self._waiting_size = 0
        self._room.set()


def _settle(future: _Future, outcome: object) -> None:
    if future is None or future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
        # A caller that is just being cancelled retrieves no exception, and asyncio would log it as lost.
        future.exception()
    else:
        future.set_result(outcome)


def _one(_: object) -> int:
    return 1
