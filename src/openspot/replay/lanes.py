"""Lanes: commands are begun in file order, and each lane does its own one after the other.

The look-ahead bounds how far lanes drift apart: the command at place n of the file is handed out only when every
command before n − look-ahead has its answer. So the flow that the engine sees stays close to the file's order.
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
    # Unbounded themselves: the look-ahead bounds what they hold together.
    queues: list[asyncio.Queue[tuple[int, Command] | None]] = [asyncio.Queue() for _ in range(lanes)]
    unanswered: dict[int, None] = {}
    answered = asyncio.Event()

    async def run(lane: int) -> None:
        while (entry := await queues[lane].get()) is not None:
            number, command = entry
            await work(lane, command)
            del unanswered[number]
            answered.set()

    async def dispatch() -> None:
        number = 0
        for place, event in enumerate(events, 1):
            command = command_of(event)
            if command is not None:
                while unanswered and number - next(iter(unanswered)) >= look_ahead:
                    answered.clear()
                    await answered.wait()
                unanswered[number] = None
                queues[lane_of(command.venue_id, lanes)].put_nowait((number, command))
                number += 1
            progress(place)
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
