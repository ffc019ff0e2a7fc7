"""The platform's services as tasks of a test, on the test's own bus and database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openspot.kit.description import Process
from openspot.kit.settings import Settings
from openspot.up.services import SERVICES
from openspot.up.supervisor import is_ready
from tests.support.waiting import START_S_MAX, eventually, stretched


@asynccontextmanager
async def running(settings: Settings, *names: str) -> AsyncIterator[Settings]:
    """Run these processes. Each starts when the one before it is ready. They end in reverse order."""
    tasks: list[tuple[asyncio.Event, asyncio.Task[None]]] = []
    try:
        for process in (SERVICES[name] for name in names):
            stop = asyncio.Event()
            task = asyncio.create_task(process.main()(settings, stop))
            tasks.append((stop, task))
            await _ready(settings, process, task)
        yield settings
    finally:
        for stop, task in reversed(tasks):
            stop.set()
            await asyncio.wait_for(task, stretched(30))


async def _ready(settings: Settings, process: Process, task: asyncio.Task[None]) -> None:
    async def is_ready_now() -> bool:
        if task.done():
            task.result()
            raise AssertionError(f"{process.name} ended before it was ready")
        return await is_ready(
            process.listening_host(settings), process.ready_port(settings), settings.readiness_timeout_s
        )

    try:
        await eventually(is_ready_now, START_S_MAX)
    except AssertionError as error:
        raise AssertionError(f"{process.name} is not ready: {error}") from error
