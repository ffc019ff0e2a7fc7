"""The frame of a service: the parts that every service has besides its own work.

A service's `run` creates its parts inside one frame:

    async with ServiceFrame("ledger", settings, stop) as frame:
        pool = await frame.connect_database(CONNECTIONS_MAX)
        bus = await frame.connect_bus()
        ...
        await serve_health(frame, settings.ledger_port, "OpenSpot ledger")
        frame.start("outbox", events.run(stop), finishes=True)
        await frame.until_stopped()

The frame does what a service could forget. It adds disk, database, bus and every durable consumer of the bus to the
health checks, lets spans of traced orders be recorded, watches work in the background, and ends the parts in the
reverse order of their creation. Until the service waits for its stop it is starting: if database or bus go away
meanwhile, it ends with NotStartedError.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Protocol, TypeVar

from openspot.kit import database, tracing
from openspot.kit.bus import Bus, BusError
from openspot.kit.disk import MEBIBYTE, Disk
from openspot.kit.health import Check, DegradedError, Health
from openspot.kit.log import get_logger
from openspot.kit.service import NotStartedError
from openspot.kit.settings import Settings
from openspot.kit.shared_process import SharedProcess
from openspot.kit.tasks import end_tasks, first_ended

log = get_logger("service")

FINISH_S_MAX = 5.0
"""At a stop, the work that finishes by itself gets this many seconds in all. Then it is cancelled."""

Part = TypeVar("Part")


class Server(Protocol):
    """A server of the process: `start` begins to listen, `stop` waits for the requests under way."""

    async def start(self) -> None:
        """Begin to listen. Raises if the port is taken."""

    async def stop(self) -> None:
        """Stop listening."""


class ServiceFrame:
    """The parts of one service, from its start to its end."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        stop: asyncio.Event,
        health: Health | None = None,
        *,
        shared: SharedProcess | None = None,
    ) -> None:
        """`name` names the service on the bus and in the log. It works until `stop` is set.

        A service whose health report has more than the checks passes its own `health`. One that shares its process
        with others passes what they have in common.
        """
        self.settings = settings
        self.health = health or Health()
        self.health.timeout_s = settings.check_timeout_s
        """The service adds its own checks to those of the frame."""
        self.disk = Disk(settings.data_dir, settings.disk_reserve_mib * MEBIBYTE)
        """The disk of the data directory. The health shows when it is full or nearly full."""
        self.health.add("disk", self.disk.check)
        self._name = name
        self._local = None
        if shared is not None:
            self._local = shared.local
            self.health.shows = shared.shows(name)
        self._stop = stop
        self._stack = AsyncExitStack()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failed_work: dict[str, str] = {}
        self._finish_by: float | None = None
        self._has_started = False
        self.health.add_all_of(self._work_checks)

    async def __aenter__(self) -> "ServiceFrame":
        tracing.start(self.settings, self._name)
        # Sending what is recorded may take seconds, which the other services of the process do not wait for.
        self._stack.push_async_callback(asyncio.to_thread, tracing.stop)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Set it after a fault, too: work that finishes by itself waits for it.
        self._stop.set()
        if not self._failure.cancel():
            # The error has been logged already, and raised if the service was waiting for it.
            self._failure.exception()
        await self._stack.__aexit__(kind, error, trace)
        if error is not None and _is_away(error) and not self._has_started:
            text = f"{type(error).__name__}: {error}"
            raise NotStartedError(text, shows_place=database.may_be_misuse(error)) from error

    def at_end(self, end: Callable[[], Awaitable[object] | None]) -> None:
        """Call `end` when the service ends, before the parts that were created earlier end. `end` may be async."""
        self._stack.push_async_callback(_called, end)

    async def enter(self, part: AbstractAsyncContextManager[Part]) -> Part:
        """Enter a context that ends with the service."""
        return await self._stack.enter_async_context(part)

    async def connect_database(
        self,
        connections_max: int = 4,
        *,
        vital: bool = True,
        transaction_pause_s_max: int = 0,
        settings: Settings | None = None,
    ) -> database.Pool:
        """A pool on the database of `settings`, by default those of the process. See `database.create_pool`.

        `vital` says whether the service is of any use without it.
        """
        pool = await database.create_pool(
            settings or self.settings, connections_max, transaction_pause_s_max=transaction_pause_s_max
        )
        self._stack.push_async_callback(database.close, pool)
        self.health.add("database", lambda: database.check(pool), vital=vital)
        return pool

    async def connect_bus(self, *, vital: bool = True) -> Bus:
        """A connection to the bus. The health shows it and every durable consumer that is made on it.

        `vital` says whether the service is of any use without it. Raises BusUnavailableError.
        """
        bus = await Bus.connect(self.settings, self._name, local=self._local)
        self._stack.push_async_callback(bus.close)
        self.health.add("bus", bus.check, vital=vital)
        self.health.add_all_of(bus.consumer_checks)
        return bus

    async def serve(self, server: Server) -> None:
        """Start a server. It stops before what was made earlier ends, so that requests under way still have it."""
        await server.start()
        self._stack.push_async_callback(server.stop)

    def start(
        self, name: str, work: Coroutine[Any, Any, Any], *, is_essential: bool = True, finishes: bool = False
    ) -> None:
        """Run `work` in the background. `name` names it in the log and in the health.

        If essential work fails, the process ends with its error, and its supervisor starts it again. The failure of
        other work is logged, and shown as degraded until the process ends. At the end, work that `finishes` by itself
        once the stop is set gets time to do so; other work is cancelled.
        """
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._note_end(name, task, is_essential))
        self._stack.push_async_callback(self._finish if finishes else end_tasks, task)

    async def until_stopped(self) -> None:
        """Wait until the stop is set. Raises what essential work raised, if it fails before that."""
        self._has_started = True
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await first_ended(self._failure, stopped)
        finally:
            await end_tasks(stopped)

    def _note_end(self, name: str, task: asyncio.Task[Any], is_essential: bool) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        log.error("background work failed", work=name, error=repr(error))
        if is_essential and not self._failure.done():
            self._failure.set_exception(error)
        self._failed_work[name] = repr(error)

    async def _finish(self, task: asyncio.Task[Any]) -> None:
        now = asyncio.get_running_loop().time()
        if self._finish_by is None:
            self._finish_by = now + FINISH_S_MAX
        _, unfinished = await asyncio.wait({task}, timeout=max(0.0, self._finish_by - now))
        if unfinished:
            log.warning("stopped before the work under way had ended")
        await end_tasks(task)

    def _work_checks(self) -> dict[str, Check]:
        return {name: _failing(reason) for name, reason in self._failed_work.items()}


def _is_away(error: BaseException) -> bool:
    """Whether this is raised while database or bus are away."""
    return isinstance(error, database.DatabaseUnavailableError | BusError) or database.is_away(error)


async def _called(end: Callable[[], Awaitable[object] | None]) -> None:
    outcome = end()
    if outcome is not None:
        await outcome


def _failing(reason: str) -> Check:
    async def check() -> None:
        raise DegradedError(f"the work has ended: {reason}")

    return check
