"""Lanes: order, bounds, and how a failure ends them."""

import asyncio
from collections import defaultdict
from decimal import Decimal

import pytest

from openspot.replay.lanes import run_lanes
from openspot.replay.plan import CancelCommand, Command, PlaceCommand, lane_of
from openspot.replay.source import BookEvent
from tests.support.waiting import stretched

LANES = 4


def created(number: int) -> BookEvent:
    return BookEvent(str(number), number, Decimal(10), Decimal(1), "created", "buy")


def deleted(number: int) -> BookEvent:
    return BookEvent(str(number), number, Decimal(10), Decimal(1), "deleted", "buy")


async def test_each_lane_works_in_file_order_and_an_order_comes_before_its_cancel() -> None:
    flow = [event for number in range(300) for event in (created(number), deleted(number))]
    done: dict[int, list[Command]] = defaultdict(list)
    busy: set[int] = set()
    seen: list[int] = []

    async def work(lane: int, command: Command) -> None:
        assert lane not in busy, "a lane did two things at once"
        busy.add(lane)
        await asyncio.sleep(0)
        done[lane].append(command)
        busy.remove(lane)

    await run_lanes(flow, LANES, 16, work, seen.append)
    assert seen == list(range(1, 601))
    for lane in range(LANES):
        numbers = [number for number in range(300) if lane_of(str(number), LANES) == lane]
        expected = [
            command
            for number in numbers
            for command in (PlaceCommand(str(number), "buy", Decimal(10), Decimal(1)), CancelCommand(str(number)))
        ]
        assert done[lane] == expected


async def test_no_command_begins_further_ahead_of_an_unanswered_one_than_the_bound() -> None:
    flow = [created(number) for number in range(200)]
    order = {str(number): number for number in range(200)}
    unanswered = set(range(200))
    ahead_max = 0
    release: asyncio.Queue[None] = asyncio.Queue()

    async def work(_: int, command: Command) -> None:
        nonlocal ahead_max
        number = order[command.venue_id]
        ahead_max = max(ahead_max, number - min(unanswered))
        await release.get()
        unanswered.remove(number)

    running = asyncio.create_task(run_lanes(flow, LANES, 8, work, lambda _: None))
    for _ in range(200):
        release.put_nowait(None)
        await asyncio.sleep(0)
    await asyncio.wait_for(running, stretched(5))
    assert not unanswered
    assert 0 < ahead_max <= 8


async def test_a_slow_lane_stops_the_dispatcher_at_the_bound() -> None:
    slow = next(lane_of(str(number), LANES) for number in range(1))
    flow = [created(number) for number in range(1_000)]
    gate = asyncio.Event()
    seen: list[int] = []
    finished = 0

    async def work(lane: int, _: Command) -> None:
        nonlocal finished
        if lane == slow:
            await gate.wait()
        finished += 1

    running = asyncio.create_task(run_lanes(flow, LANES, 10, work, seen.append))
    while True:
        before = (len(seen), finished)
        for _ in range(20):
            await asyncio.sleep(0)
        if before == (len(seen), finished):
            break
    assert len(seen) < 200, "the dispatcher went on without the slow lane"
    gate.set()
    await asyncio.wait_for(running, stretched(5))
    assert finished == 1_000


async def test_events_that_ask_for_nothing_take_no_place() -> None:
    flow = [BookEvent(str(number), 1, Decimal(10), Decimal(0), "deleted", "buy") for number in range(50)]

    async def work(_: int, command: Command) -> None:
        raise AssertionError(f"nothing is to be done, not {command}")

    seen: list[int] = []
    await run_lanes(flow, LANES, 1, work, seen.append)
    assert seen[-1] == 50


async def test_the_first_failure_ends_everything_and_is_raised_as_it_is() -> None:
    async def work(_: int, command: Command) -> None:
        if command.venue_id == "7":
            raise ValueError("seven")
        await asyncio.sleep(0)

    with pytest.raises(ValueError, match="seven"):
        await asyncio.wait_for(
            run_lanes([created(n) for n in range(100)], LANES, 8, work, lambda _: None), stretched(5)
        )


async def test_a_fault_in_the_file_ends_everything_and_is_raised_as_it_is() -> None:
    def broken():  # type: ignore[no-untyped-def]
        yield created(1)
        raise ValueError("line 3")

    async def work(_: int, __: Command) -> None:
        await asyncio.sleep(0)

    with pytest.raises(ValueError, match="line 3"):
        await asyncio.wait_for(run_lanes(broken(), LANES, 8, work, lambda _: None), stretched(5))
