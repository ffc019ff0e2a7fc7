"""Background tasks that are not forgotten."""

import asyncio
from collections.abc import Coroutine
from typing import Any


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
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
