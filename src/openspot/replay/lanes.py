"""Lanes: commands are begun in file order, each lane does its own one after the other, and only so many wait.

The look-ahead bounds how far lanes can drift apart: a command begins only when fewer than that many before it
are still unanswered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from openspot.replay.plan import Command, command_of, lane_of
from openspot.replay.source import BookEvent

Work = Callable[[int, Command], Awaitable[None]]
"""Does one command in a lane."""


async def run_lanes(
    events: Iterable[BookEvent], lanes: int, look_ahead: int, work: Work, progress: Callable[[int], None]
) -> None:
    """Do what every event asks for. `progress` is told how many events are behind the dispatcher.

    The first error that `work` raises ends all lanes and is raised.
    """
    places = asyncio.Semaphore(look_ahead)
    # Unbounded themselves: the semaphore bounds what they hold together.
    queues: list[asyncio.Queue[Command | None]] = [asyncio.Queue() for _ in range(lanes)]

    async def run(lane: int) -> None:
        while (command := await queues[lane].get()) is not None:
            await work(lane, command)
            places.release()

    async def dispatch() -> None:
        for number, event in enumerate(events, 1):
            command = command_of(event)
            if command is not None:
                await places.acquire()
                queues[lane_of(command.venue_id, lanes)].put_nowait(command)
            progress(number)
        for queue in queues:
            queue.put_nowait(None)

    try:
        async with asyncio.TaskGroup() as tasks:
            for lane in range(lanes):
                tasks.create_task(run(lane))
            tasks.create_task(dispatch())
    except BaseExceptionGroup as group:
        raise _first_of(group) from None


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
