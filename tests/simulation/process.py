"""Processes that are killed, frozen or slow, and the weather that decides when.

A process reaches the outside world only in `io` and `act`. There it may be killed before it sends its message. Or it
may be frozen without knowing it, and later send a message that is out of date. A message that was sent takes effect,
perhaps late, even if the process has died since. A killed process does nothing more: its tasks are cancelled, and `io`
stops whatever they still try.
"""

import asyncio
import contextvars
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from tests.simulation.loop import CURRENT, VirtualLoop

Answer = TypeVar("Answer")

SLOW = 0.03
"""The probability that a message is held up on its way."""


class Weather:
    """Decides what goes wrong. All randomness comes from one generator."""

    def __init__(self, loop: VirtualLoop, chance: random.Random) -> None:
        self.loop = loop
        self.chance = chance
        self.is_calm = True
        self.held_up: list[Callable[[], None]] = []
        """Messages that were sent and have not arrived."""

    def strikes(self, probability: float) -> bool:
        """Whether something bad happens now. Always False while the weather is calm."""
        return not self.is_calm and self.chance.random() < probability

    def go_on(self, count: int) -> None:
        """Let up to `count` held-up messages arrive, in any order."""
        for _ in range(min(count, len(self.held_up))):
            self.held_up.pop(self.chance.randrange(len(self.held_up)))()


class Place(StrEnum):
    """Where a process reaches the outside world."""

    ENGINE = "engine"
    PUBLISH = "publish"
    REQUEST = "request"
    KEY = "key"
    ROWS = "rows"
    LEDGER = "ledger"


@dataclass(slots=True)
class Trap:
    """Kills (`is_deadly`) or freezes a process at its `count`th call of `io` at `place`."""

    place: Place
    count: int
    is_deadly: bool


class Process:
    """A process: its tasks are those that began in its context."""

    def __init__(self, name: str, weather: Weather) -> None:
        self.name = name
        self.is_alive = True
        self.is_frozen = False
        self.frozen: list[asyncio.Handle] = []
        self.trap: Trap | None = None
        self._weather = weather
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._context = contextvars.copy_context()
        self._context.run(CURRENT.set, self)

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Take a task that began in the process."""
        self._tasks[task] = None
        task.add_done_callback(self._forget, context=contextvars.Context())

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` in the process."""
        return self._weather.loop.create_task(work, context=self._context.copy())

    async def io(self, place: Place) -> None:
        """Reach the outside world. Here a trap may kill or freeze the process."""
        if not self.is_alive:
            raise asyncio.CancelledError
        trap = self.trap
        if trap is None or trap.place != place:
            return
        trap.count -= 1
        if trap.count:
            return
        self.trap = None
        if trap.is_deadly:
            self.is_alive = False
            self._weather.loop.call_soon(self.kill, context=contextvars.Context())
            await self._weather.loop.create_future()
        self.is_frozen = True
        # After the thaw, the process goes on from here, before it looks at any clock.
        await asyncio.sleep(0)
        if not self.is_alive:
            raise asyncio.CancelledError

    async def act(self, place: Place, effect: Callable[[], Answer]) -> Answer:
        """Carry out `effect` in the outside world, perhaps late, and return its result."""
        if self.trap is not None or not self.is_alive:
            await self.io(place)
        if self._weather.strikes(SLOW):
            reply: asyncio.Future[Answer] = self._weather.loop.create_future()
            self._weather.held_up.append(lambda: _arrive(effect, reply))
            answer = await reply
        else:
            answer = effect()
        if self.trap is not None or not self.is_alive:
            await self.io(place)
        return answer

    def kill(self) -> None:
        """End at once. Messages that were sent still arrive; no more are sent."""
        self.is_alive = False
        if self.is_frozen:
            self._weather.loop.thaw(self)
        for task in list(self._tasks):
            task.cancel()


def _arrive(effect: Callable[[], Answer], reply: asyncio.Future[Answer]) -> None:
    try:
        answer = effect()
    except Exception as error:
        if not reply.done():
            reply.set_exception(error)
    else:
        if not reply.done():
            reply.set_result(answer)
