"""Services of the platform in a thread of their own, for tests that are not written with asyncio."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from openspot.kit.settings import Settings
from tests.support.in_process_platform import running

Value = TypeVar("Value")


class Background:
    """A thread with an event loop, in which services run."""

    def __init__(self, settings: Settings, loop: asyncio.AbstractEventLoop) -> None:
        self.settings = settings
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run a coroutine beside the services, and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextmanager
def background(settings: Settings, *names: str) -> Iterator[Background]:
    """Run these services; all are ready when this begins. Raises what a service raises while it starts or ends."""
    with in_background(settings, running(settings, *names)) as services:
        yield services


@contextmanager
def in_background(settings: Settings, services: AbstractAsyncContextManager[Any]) -> Iterator[Background]:
    """Run what `services` starts. Raises what it raises while it starts or ends."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with services:
            started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()

    ended: Future[None] = Future()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            ended.set_exception(error)
            if not started.done():
                started.set_exception(error)
        else:
            ended.set_result(None)

    thread = threading.Thread(target=work, name="services")
    thread.start()
    try:
        loop, stop = started.result()
        try:
            yield Background(settings, loop)
        finally:
            loop.call_soon_threadsafe(stop.set)
            ended.result()
    finally:
        thread.join()
