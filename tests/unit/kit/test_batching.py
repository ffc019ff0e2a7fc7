"""Batches of what arrives while the batch before is worked on."""

import asyncio

import pytest

from openspot.kit.batching import Batcher, BatcherClosedError, BatcherFullError
from tests.support.waiting import eventually, stretched


class Doubler:
    """Doubles numbers, holding each batch until it is let go; refuses batches with a 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()

    async def work(self, numbers: list[int]) -> list[int]:
        self.batches.append(numbers)
        await self.gate.wait()
        if 13 in numbers:
            raise ValueError("no thirteen")
        return [2 * number for number in numbers]


async def begun(doubler: Doubler, count: int) -> None:
    while len(doubler.batches) < count:
        await asyncio.sleep(0)


async def test_what_arrives_while_a_batch_is_worked_on_is_the_next_batch_and_each_gets_its_own_result() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=3, waiting_max=100)
    tasks = [asyncio.create_task(batcher.submit(1))]
    await begun(doubler, 1)
    tasks += [asyncio.create_task(batcher.submit(number)) for number in range(2, 7)]
    doubler.gate.set()
    assert await asyncio.gather(*tasks) == [2, 4, 6, 8, 10, 12]
    assert doubler.batches == [[1], [2, 3, 4], [5, 6]]
    assert await batcher.submit(7) == 14


async def test_a_failed_batch_fails_its_own_items_alone() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=2, waiting_max=100)
    tasks = [asyncio.create_task(batcher.submit(number)) for number in (13, 1, 2)]
    doubler.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError, int]


async def test_a_caller_that_goes_away_does_not_disturb_the_others() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=9, waiting_max=100)
    gone, stays = asyncio.create_task(batcher.submit(1)), asyncio.create_task(batcher.submit(2))
    await begun(doubler, 1)
    gone.cancel()
    doubler.gate.set()
    assert await stays == 4
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_a_wrong_number_of_results_is_a_fault_of_the_batch() -> None:
    async def work(numbers: list[int]) -> list[int]:
        return numbers[1:]

    batcher: Batcher[int, int] = Batcher(work, batch_max=9, waiting_max=100)
    with pytest.raises(ValueError, match="zip"):
        await batcher.submit(1)


async def test_a_result_that_is_an_exception_fails_its_own_item_alone() -> None:
    async def work(numbers: list[int]) -> list[int | Exception]:
        return [ValueError("odd") if number % 2 else number for number in numbers]

    batcher: Batcher[int, int] = Batcher(work, batch_max=9, waiting_max=100)
    results = await asyncio.gather(*(batcher.submit(number) for number in range(4)), return_exceptions=True)
    assert [type(result) for result in results] == [int, ValueError, int, ValueError]


async def test_an_item_whose_caller_has_gone_before_its_batch_began_is_left_out() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=9, waiting_max=100)
    first = asyncio.create_task(batcher.submit(1))
    await begun(doubler, 1)
    gone, stays = asyncio.create_task(batcher.submit(2)), asyncio.create_task(batcher.submit(3))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    doubler.gate.set()
    assert await asyncio.gather(first, stays) == [2, 6]
    assert doubler.batches == [[1], [3]]


async def test_beyond_the_bound_submit_is_refused_and_put_waits_for_room() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=9, waiting_max=2)
    await batcher.put(1)
    await begun(doubler, 1)
    await batcher.put(2)
    await batcher.put(3)
    assert (batcher.waiting, batcher.is_full) == (2, True)
    with pytest.raises(BatcherFullError):
        await batcher.submit(4)
    waits = asyncio.create_task(batcher.put(5))
    await asyncio.sleep(0)
    assert not waits.done()
    doubler.gate.set()
    await waits
    await batcher.drained()
    assert doubler.batches == [[1], [2, 3], [5]]
    assert batcher.waiting == 0


async def test_an_item_that_is_added_needs_no_room() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=9, waiting_max=1)
    await batcher.put(1)
    await begun(doubler, 1)
    for number in (2, 3):
        batcher.add(number)
    assert batcher.is_full
    doubler.gate.set()
    await batcher.drained()
    assert doubler.batches == [[1], [2, 3]]


async def test_bounds_count_what_the_size_of_an_item_says_and_a_large_item_goes_alone() -> None:
    doubler = Doubler()
    doubler.gate.set()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=5, waiting_max=100, size=lambda number: number)
    for number in (2, 2, 7, 1, 4):
        await batcher.put(number)
    assert batcher.waiting == 16
    await batcher.drained()
    assert doubler.batches == [[2, 2], [7], [1, 4]]


async def test_batches_begin_an_interval_apart() -> None:
    begins: list[float] = []

    async def work(numbers: list[int]) -> list[int]:
        begins.append(asyncio.get_running_loop().time())
        return numbers

    batcher: Batcher[int, int] = Batcher(work, batch_max=3, waiting_max=100, interval_s=0.2)
    assert await batcher.submit(1) == 1
    assert await batcher.submit(2) == 2
    assert begins[1] - begins[0] >= 0.19


async def test_a_full_batch_does_not_wait_for_the_interval() -> None:
    doubler = Doubler()
    doubler.gate.set()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=3, waiting_max=100, interval_s=3600.0)
    assert await batcher.submit(1) == 2
    async with asyncio.timeout(stretched(30)):
        assert await asyncio.gather(*(batcher.submit(number) for number in range(3))) == [0, 2, 4]


async def test_after_a_failed_put_nothing_more_is_worked_on_and_everybody_hears_of_it() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=1, waiting_max=2)
    failure = asyncio.create_task(batcher.failure())
    await batcher.put(13)
    await begun(doubler, 1)
    await batcher.put(1)
    await batcher.put(2)
    waits = asyncio.create_task(batcher.put(3))
    await asyncio.sleep(0)
    doubler.gate.set()
    for waiting in (failure, waits, batcher.drained(), batcher.put(4)):
        with pytest.raises(ValueError, match="no thirteen"):
            await waiting
    assert doubler.batches == [[13]]


async def test_closing_gives_up_what_waits_and_finishes_the_batch_under_way() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=1, waiting_max=9)
    under_way = asyncio.create_task(batcher.submit(1))
    await begun(doubler, 1)
    waiting = asyncio.create_task(batcher.submit(2))
    await asyncio.sleep(0)
    closing = asyncio.create_task(batcher.close(OSError("stopping")))
    with pytest.raises(OSError, match="stopping"):
        await waiting
    assert not closing.done()
    doubler.gate.set()
    await closing
    assert await under_way == 2
    with pytest.raises(OSError, match="stopping"):
        await batcher.submit(3)
    assert doubler.batches == [[1]]


async def test_cancelling_ends_the_batch_under_way_and_tells_its_callers() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=1, waiting_max=9)
    under_way, waiting = (asyncio.create_task(batcher.submit(number)) for number in (1, 2))
    await begun(doubler, 1)
    await batcher.cancel()
    for task in (under_way, waiting):
        with pytest.raises(BatcherClosedError):
            await task
    assert doubler.batches == [[1]]


async def test_a_batcher_that_is_idle_holds_no_task() -> None:
    doubler = Doubler()
    doubler.gate.set()
    batcher: Batcher[int, int] = Batcher(doubler.work, batch_max=1, waiting_max=9)
    await batcher.submit(1)
    await eventually(lambda: asyncio.all_tasks() == {asyncio.current_task()})
