"""An event loop in a thread, for callers without asyncio."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")
CLOSE_TIMEOUT_S = 10.0


class LoopThread:
    """Runs coroutines on a loop of its own. The program can end while the thread still runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="openspot-client", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether the loop has ended."""
        return self._loop.is_closed() or not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, Result], timeout_s: float | None = None) -> Result:
        """Run a coroutine and return its result, or raise what it raises.

        After `timeout_s`, or an interrupt of the caller, it is cancelled. Raises TimeoutError after `timeout_s`, and
        RuntimeError if the loop has ended or if the caller itself runs on it.
        """
        if self.is_closed or threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("the client is closed" if self.is_closed else "the loop cannot wait for itself")
        future = asyncio.run_coroutine_threadsafe(_bounded(work, timeout_s), self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError as error:
            raise RuntimeError("the client was closed") from error
        except BaseException:
            # An interrupt of the caller must also stop the work. If the work itself raised, this does nothing.
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel all running work and end the thread. Further calls do nothing."""
        if self.is_closed:
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(CLOSE_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_TIMEOUT_S)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


async def _bounded(work: Coroutine[Any, Any, Result], timeout_s: float | None) -> Result:
    # The timeout is within the loop, so that the result of work that ends just in time is not lost.
    async with asyncio.timeout(timeout_s):
        return await work


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
