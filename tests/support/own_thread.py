"""Asynchronous work for tests that are not: where Playwright's event loop has the thread, no other can run in it."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def in_own_thread(act: Callable[[], Awaitable[Result]]) -> Result:
    """What an asynchronous action returns, run in a thread of its own. Raises what the action raises."""

    async def run() -> Result:
        return await act()

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(run())).result()
