"""Background tasks that are not forgotten."""

import asyncio
from collections.abc import Coroutine
from typing import Any

CANCEL_AGAIN_S = 5.0
"""Longer than any orderly end takes: cancelling again must not disturb one."""


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended, however they end.

    Before Python 3.12 a cancellation is lost if it meets the end of what `asyncio.wait_for` waits for, in our code
    or in a library's: so a task that goes on is cancelled again.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it has been looked at: its owner wanted the end, not the outcome


class TaskSet:
    """Holds running tasks, so that none is collected before it ends, and bounds how many there are."""

    def __init__(self, tasks_max: int) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._tasks_max = tasks_max

    @property
    def full(self) -> bool:
        """Whether one more task would break the bound."""
        return len(self._tasks) >= self._tasks_max

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` in the background. The caller has looked at `full` first."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def cancel(self) -> None:
        """Cancel what still runs and wait for its end."""
        await end_tasks(*self._tasks)
