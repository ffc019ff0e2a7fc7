"""Several services in one process and one event loop. What they ask each other does not take the way over the bus.

Each service keeps its settings, its connections, its port and its health, as if it ran alone. They live and end
together: if one of them fails, the others stop in order, the process ends with that error, and its supervisor starts it
again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from openspot.kit.log import get_logger
from openspot.kit.service import NotStartedError, ServiceMain
from openspot.kit.settings import Settings
from openspot.kit.shared_process import SharedProcess
from openspot.kit.tasks import end_tasks, first_ended
from openspot.up.services import SERVICES

log = get_logger("service")


def process_name(services: Sequence[str]) -> str:
    """The name of a process with these services, in the log and among the children."""
    return "+".join(services)


def together(settings: Mapping[str, Settings]) -> ServiceMain:
    """The function that runs these services, each with its own settings. Each comes before those that it asks."""

    async def run(_: Any, stop: asyncio.Event) -> None:
        await _run(settings, stop)

    return run


async def _run(settings: Mapping[str, Settings], stop: asyncio.Event) -> None:
    """Run all of them until `stop` is set or one of them ends. Raises the error of the one that failed."""
    shared = SharedProcess(tuple(settings))
    stops = {name: asyncio.Event() for name in settings}
    connections_max = _connections_max(len(settings))
    tasks = {}
    for name, given in settings.items():
        bounded = {"http_connections_max": min(given.http_connections_max, connections_max)}
        work = _run_one(name, given.model_copy(update=bounded), stops[name], shared)
        tasks[name] = asyncio.create_task(work)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await first_ended(*tasks.values(), stopped)
    finally:
        await end_tasks(stopped)
        for name, task in tasks.items():
            stops[name].set()
            await asyncio.wait({task})
    for task in tasks.values():
        task.result()


def _connections_max(servers: int) -> int:
    """How many clients each of the HTTP servers may have, so that together they leave the process its own files."""
    # Imported here, because `openspot up` itself, which starts this process, serves nothing.
    from openspot.http.server import FILES_WANTED, connection_bounds

    return max(1, connection_bounds(FILES_WANTED, 1).total // servers)


async def _run_one(name: str, settings: Settings, stop: asyncio.Event, shared: SharedProcess) -> None:
    structlog.contextvars.bind_contextvars(service=name)
    # A service that shares its process takes what it shares as a third argument.
    run: Any = SERVICES[name].main()
    try:
        await run(settings, stop, shared)
    except NotStartedError as error:
        log.error("not started, and the services beside it end", error=str(error))
        raise
    except Exception as error:
        log.error("ended by a fault, and the services beside it end too", error=str(error))
        raise
