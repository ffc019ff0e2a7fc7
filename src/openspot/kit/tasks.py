"""Background tasks: they are referenced until they end, bounded in number, and reliably cancelled."""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, TypeVar

CANCEL_AGAIN_S = 5.0
"""Seconds until a task is cancelled again. An orderly end is faster, and must not be disturbed."""

Value = TypeVar("Value")

_left_alone: set[asyncio.Task[Any]] = set()
"""Cancelled calls that nobody waits for. Without a reference, Python could collect them before they end."""


async def end_tasks(*tasks: asyncio.Task[Any], again_s: float = CANCEL_AGAIN_S) -> None:
    """Cancel `tasks` and wait until they have ended, whether by an error or not.

    Before Python 3.12, `asyncio.wait_for` loses a cancellation that arrives together with its result. A task in a
    library that uses it may go on. So a task that has not ended is cancelled again after `again_s` seconds. Our own
    code awaits such calls with `cancellable`, and uses `asyncio.timeout`, which loses no cancellation.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=again_s)
    for task in tasks:
        _look_at_outcome(task)


async def first_ended(*tasks: asyncio.Future[Any]) -> None:
    """Wait until one of `tasks` has ended, and raise its exception if it has one. The caller ends the others.

    If several have ended, the first of them in the call counts.
    """
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        if task.done():
            task.result()


async def run_until(stop: asyncio.Event, *work: Coroutine[Any, Any, Any]) -> None:
    """Run `work` until `stop` is set or one of the coroutines ends, then end the rest. Raises its exception, if any."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in (*work, stop.wait())]
    try:
        await first_ended(*tasks)
    finally:
        await end_tasks(*tasks)


async def is_set_within(event: asyncio.Event, timeout_s: float) -> bool:
    """Wait for `event`, at most `timeout_s` seconds, and return whether it is set. A pause that a stop can end."""
    try:
        async with asyncio.timeout(timeout_s):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


class PollPauses:
    """The pauses of one reader of a table, to which transactions of this process and other processes add rows.

    A transaction sets `added` before its commit, and only then can the reader see the row. So after `added` the reader
    pauses FIRST_PAUSE_S, then each time twice as long, and at last `interval_s` seconds again.
    """

    FIRST_PAUSE_S = 0.02

    def __init__(self, added: asyncio.Event, interval_s: float) -> None:
        self._added = added
        self._interval_s = interval_s
        self._pause_s = interval_s

    async def pause(self) -> None:
        """Wait for `added`, or until the table should be read again."""
        if await is_set_within(self._added, self._pause_s):
            self._pause_s = self.FIRST_PAUSE_S
        else:
            self._pause_s = min(2 * self._pause_s, self._interval_s)


async def result_within(future: asyncio.Future[Value], timeout_s: float) -> Value:
    """Wait for a future that nobody else waits for, and return its result. Raises TimeoutError after `timeout_s`.

    Every request waits like this, and `asyncio.timeout` would take four times as long.
    """
    timer = future.get_loop().call_later(timeout_s, _time_out, future)
    try:
        return await future
    finally:
        timer.cancel()


def _time_out(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(TimeoutError())


async def cancellable(call: Coroutine[Any, Any, Value]) -> Value:
    """Await a library's coroutine so that a cancellation is never lost, even if the library swallows it.

    When the caller is cancelled, the call is cancelled too, but not waited for.
    """
    task = asyncio.ensure_future(call)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        _left_alone.add(task)
        task.add_done_callback(_left_alone.discard)
        task.add_done_callback(_look_at_outcome)
        raise
    return task.result()


def _look_at_outcome(task: asyncio.Task[Any]) -> None:
    # Retrieve the exception, or asyncio would log it as lost. Only the end of the call matters here.
    if not task.cancelled():
        task.exception()


class TaskSet:
    """Running tasks, at most `tasks_max`. It references them, so that Python collects none before it ends."""

    def __init__(self, tasks_max: int) -> None:
        # A dictionary keeps the order, so that a simulation always ends the tasks in the same order.
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._tasks_max = tasks_max

    @property
    def full(self) -> bool:
        """Whether no further task may start."""
        return len(self._tasks) >= self._tasks_max

    def start(self, work: Coroutine[Any, Any, Any], context: contextvars.Context | None = None) -> asyncio.Task[Any]:
        """Run `work` in the background, in `context` or in a copy of the caller's. The caller checks `full` first."""
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks[task] = None
        task.add_done_callback(self._forget)
        return task

    async def cancel(self) -> None:
        """Cancel the tasks that still run, and wait until they have ended."""
        await end_tasks(*self._tasks)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        del self._tasks[task]
