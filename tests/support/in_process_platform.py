"""The platform's services as tasks of a test, on the test's own bus and database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

import aiohttp

from openspot.kit.settings import Settings
from tests.support.waiting import eventually


@asynccontextmanager
async def running(settings: Settings, **ports: str) -> AsyncIterator[Settings]:
    """Services that are all ready, by package and settings field of the port: `running(s, engine="engine_http_port")`.

    They start in the given order, each when the one before it is ready, and end in reverse.
    """
    tasks: list[tuple[asyncio.Event, asyncio.Task[None]]] = []
    try:
        for package, port in ports.items():
            stop = asyncio.Event()
            task = asyncio.create_task(import_module(f"openspot.{package}.service").run(settings, stop))
            tasks.append((stop, task))
            await eventually(lambda task=task, port=port: _is_ready(settings, task, port), timeout_s=30)
        yield settings
    finally:
        for stop, task in reversed(tasks):
            stop.set()
            await asyncio.wait_for(task, 30)


async def _is_ready(settings: Settings, task: asyncio.Task[None], port: str) -> bool:
    if task.done():
        task.result()
        raise AssertionError("the service ended before it was ready")
    address = f"http://{settings.host}:{getattr(settings, port)}/ready"
    try:
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            return response.status == 200
    except aiohttp.ClientConnectionError:
        return False
