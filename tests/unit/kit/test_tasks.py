"""Tasks end when they are told to, whatever a library does with the cancellation."""

import asyncio

import pytest

from openspot.kit import tasks
from openspot.kit.tasks import (
    PollPauses,
    TaskSet,
    cancellable,
    end_tasks,
    first_ended,
    is_set_within,
    result_within,
    run_until,
)
from tests.support.waiting import stretched


class Library:
    """A call that loses a cancellation, as `asyncio.wait_for` does before Python 3.12."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.cancellations_lost = 0

    async def call(self) -> str:
        while True:
            try:
                return await asyncio.shield(self.answer)
            except asyncio.CancelledError:
                self.cancellations_lost += 1


async def test_a_cancellation_arrives_although_the_library_loses_it() -> None:
    library = Library()
    caller = asyncio.create_task(cancellable(library.call()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(caller, stretched(1))
    await asyncio.sleep(0)
    assert library.cancellations_lost == 1
    library.answer.set_result("late")


async def test_a_cancellation_that_meets_the_answer_arrives_too() -> None:
    library = Library()
    caller = asyncio.create_task(cancellable(library.call()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    library.answer.set_result("now")
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_without_a_cancellation_the_call_returns_or_raises_as_it_is() -> None:
    async def fail() -> None:
        raise OSError("broken")

    async def succeed() -> str:
        return "done"

    assert await cancellable(succeed()) == "done"
    with pytest.raises(OSError, match="broken"):
        await cancellable(fail())


async def test_tasks_that_ignore_the_first_cancellation_are_cancelled_again() -> None:
    seen = 0

    async def stubborn() -> None:
        nonlocal seen
        while seen < 3:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                seen += 1

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await end_tasks(task, again_s=0.01)
    assert task.done()
    assert seen == 3


async def test_a_task_set_ends_its_tasks_and_knows_its_bound() -> None:
    tasks = TaskSet(2)
    running = [tasks.start(asyncio.sleep(3600)) for _ in range(2)]
    assert tasks.full
    await tasks.cancel()
    assert all(task.cancelled() for task in running)
    assert not tasks.full


async def fails() -> None:
    raise OSError("broken")


async def test_work_runs_until_the_stop_and_is_ended_then() -> None:
    stop, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running = asyncio.create_task(run_until(stop, work()))
    await asyncio.sleep(0)
    assert not running.done()
    stop.set()
    await asyncio.wait_for(running, stretched(1))
    assert ended.is_set()


async def test_the_first_failure_of_the_work_is_raised_and_ends_the_rest() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(OSError, match="broken"):
        await run_until(asyncio.Event(), work(), fails())
    assert ended.is_set()


async def test_of_two_tasks_that_have_ended_the_first_named_one_decides() -> None:
    async def fails_too() -> None:
        raise ValueError("also broken")

    tasks = [asyncio.ensure_future(work) for work in (fails(), fails_too())]
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="broken"):
        await first_ended(*tasks)
    await end_tasks(*tasks)


async def test_a_pause_is_cut_short_by_its_event() -> None:
    stop = asyncio.Event()
    assert not await is_set_within(stop, 0.001)
    asyncio.get_running_loop().call_soon(stop.set)
    assert await is_set_within(stop, 3600)


async def test_a_table_is_read_again_soon_after_a_row_was_added_and_then_ever_more_rarely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    was_set = [False, True, False, False, True, True, *[False] * 10]
    waited: list[float] = []

    async def wait(event: asyncio.Event, timeout_s: float) -> bool:
        waited.append(timeout_s)
        return was_set[len(waited) - 1]

    monkeypatch.setattr(tasks, "is_set_within", wait)
    pauses = PollPauses(asyncio.Event(), 5.0)
    for _ in was_set:
        await pauses.pause()
    assert waited == [5, 5, 0.02, 0.04, 0.08, 0.02, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5, 5]


async def test_a_result_in_time_is_returned_and_leaves_no_timer() -> None:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    loop.call_soon(answer.set_result, "in time")
    assert await result_within(answer, 0.01) == "in time"
    refused: asyncio.Future[str] = loop.create_future()
    loop.call_soon(refused.set_exception, ValueError("refused"))
    with pytest.raises(ValueError, match="refused"):
        await result_within(refused, 0.01)
    await asyncio.sleep(0.02)


async def test_a_result_that_is_late_is_a_timeout_and_can_be_told_by_the_future() -> None:
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        await result_within(answer, 0.01)
    assert answer.done()


async def test_whoever_waits_for_a_result_can_be_cancelled() -> None:
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(result_within(answer, 60))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert answer.cancelled()
