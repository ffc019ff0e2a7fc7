"""Micro-batches."""

import asyncio

import pytest

from openspot.ledger.batching import MicroBatch


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
    batch: MicroBatch[int, int] = MicroBatch(doubler.work, 3)
    tasks = [asyncio.create_task(batch.submit(1))]
    await begun(doubler, 1)
    tasks += [asyncio.create_task(batch.submit(number)) for number in range(2, 7)]
    doubler.gate.set()
    assert await asyncio.gather(*tasks) == [2, 4, 6, 8, 10, 12]
    assert doubler.batches == [[1], [2, 3, 4], [5, 6]]
    assert await batch.submit(7) == 14


async def test_a_failed_batch_fails_its_own_items_alone() -> None:
    doubler = Doubler()
    batch: MicroBatch[int, int] = MicroBatch(doubler.work, 2)
    tasks = [asyncio.create_task(batch.submit(number)) for number in (13, 1, 2)]
    doubler.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError, int]


async def test_a_caller_that_goes_away_does_not_disturb_the_others() -> None:
    doubler = Doubler()
    batch: MicroBatch[int, int] = MicroBatch(doubler.work, 9)
    gone, stays = asyncio.create_task(batch.submit(1)), asyncio.create_task(batch.submit(2))
    await begun(doubler, 1)
    gone.cancel()
    doubler.gate.set()
    assert await stays == 4
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_a_wrong_number_of_results_is_a_fault_of_the_batch() -> None:
    async def work(numbers: list[int]) -> list[int]:
        return numbers[1:]

    batch: MicroBatch[int, int] = MicroBatch(work, 9)
    with pytest.raises(ValueError, match="zip"):
        await batch.submit(1)
