"""An event loop with virtual time. The simulation alone decides when anything that the platform awaits happens.

Callbacks run only in `run_ready`, and time passes only in `advance`. A task belongs to the process in whose context it
began (process.py). The callbacks of a frozen process wait until it is thawed.
"""

import asyncio
import contextvars
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVarTuple, Unpack

Ts = TypeVarTuple("Ts")

CALLBACKS_MAX = 200_000
"""More callbacks in a row without a pause mean an endless loop."""


class Owner(Protocol):
    """A process as the loop sees it."""

    name: str
    is_alive: bool
    is_frozen: bool
    frozen: list[asyncio.Handle]

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Take a task that began in the process."""


CURRENT: contextvars.ContextVar[Owner | None] = contextvars.ContextVar("current_process", default=None)
"""The process that is running now."""


class VirtualLoop(asyncio.AbstractEventLoop):
    """Runs callbacks in the order in which they were scheduled, so that equal runs have equal orders."""

    def __init__(self) -> None:
        self._now = 0.0
        self._ready: deque[tuple[Owner | None, asyncio.Handle]] = deque()
        self._timers: list[tuple[float, int, Owner | None, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        self.faults: list[str] = []
        """Unhandled exceptions of living processes."""
        self._owners: dict[str, Owner] = {}

    # Driving

    @contextmanager
    def running(self) -> Iterator[None]:
        """Be the running loop, for code that asks for it outside of `run_ready`."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(before)

    def run_ready(self) -> None:
        """Run until everything waits for something."""
        asyncio._set_running_loop(self)
        try:
            for _ in range(CALLBACKS_MAX):
                if not self._ready:
                    return
                owner, handle = self._ready.popleft()
                if owner is not None and owner.is_frozen:
                    owner.frozen.append(handle)
                elif not handle.cancelled():
                    handle._run()
            raise AssertionError("the platform turns in circles")
        finally:
            asyncio._set_running_loop(None)

    def advance(self, seconds: float) -> None:
        """Let time pass, timer by timer."""
        end = self._now + seconds
        while self._timers and self._timers[0][0] <= end:
            when, _, owner, handle = heapq.heappop(self._timers)
            if not handle.cancelled():
                self._now = max(self._now, when)
                self._ready.append((owner, handle))
                self.run_ready()
        self._now = end

    def leap(self, seconds: float) -> None:
        """Let the whole machine sleep: each timer that was due meanwhile runs once, late."""
        self._now += seconds
        self.advance(0.0)

    def thaw(self, owner: Owner) -> None:
        """Let a frozen process go on. Its waiting callbacks run in the order in which they became ready."""
        owner.is_frozen = False
        self._ready.extend((owner, handle) for handle in owner.frozen)
        owner.frozen = []

    # What asyncio asks of a loop

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._now

    def get_debug(self) -> bool:
        """No debugging."""
        return False

    def call_soon(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run after everything that is ready."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append((_owner(context), handle))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run after `delay` seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run at that time."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), _owner(context), handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: `advance` skips a cancelled timer."""

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: contextvars.Context | None = None
    ) -> asyncio.Task[Any]:
        """A task, which belongs to the process in whose context it runs."""
        owner = _owner(context)
        if owner is None:
            return asyncio.Task(coro, loop=self, name=name, context=context)
        self._owners[owner.name] = owner
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=owner.name, context=context)
        owner.adopt(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Note an unhandled exception, unless a killed process left it behind."""
        task = context.get("future")
        owner = self._owners.get(task.get_name()) if isinstance(task, asyncio.Task) else None
        if owner is None or owner.is_alive:
            self.faults.append(f"{context.get('message')}: {context.get('exception')!r}")


def _owner(context: contextvars.Context | None) -> Owner | None:
    return CURRENT.get() if context is None else context.get(CURRENT)
