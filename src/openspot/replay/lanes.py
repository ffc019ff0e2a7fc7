"""Lanes: commands start in file order, and each lane carries out its own commands one after the other.

The look-ahead limits how far lanes drift apart: command n starts only when every command before n − look-ahead is done.
So the engine receives the commands nearly in file order.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from openspot.replay.plan import Command, command_of, lane_of
from openspot.replay.source import BookEvent

Work = Callable[[int, Command], Awaitable[None]]
"""Carries out one command in a lane."""


async def run_lanes(
    events: Iterable[BookEvent], lanes: int, look_ahead: int, work: Work, progress: Callable[[int], None]
) -> None:
    """Carry out the commands of `events`. Calls `progress` with the number of events dispatched so far.

    The first error that `work` raises ends all lanes and is raised.
    """
    # The queues need no limit of their own: the look-ahead limits what all of them hold.
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
