"""Internal order ids: blocks of the shared counter, taken ahead of need."""

import asyncio
import itertools

import pytest

from openspot.router.orders.engine_order_ids import BLOCK_SIZE, IDS_AHEAD, OrderIds, OrderIdsUnavailableError
from tests.support.waiting import eventually


class Counter:
    """The sequence as PostgreSQL gives it out."""

    def __init__(self) -> None:
        self._values = itertools.count(BLOCK_SIZE, BLOCK_SIZE)
        self.taken = 0
        self.fails = False

    async def take(self) -> int:
        if self.fails:
            raise ConnectionError("no database")
        self.taken += 1
        return next(self._values)


async def test_ids_of_a_block_end_at_its_value() -> None:
    ids = OrderIds(Counter().take)
    assert [await ids.take() for _ in range(BLOCK_SIZE + 2)] == list(range(1, BLOCK_SIZE + 3))
    await ids.close()


@pytest.mark.spec("A1.3-25")
async def test_two_routers_never_give_the_same_id() -> None:
    counter = Counter()
    routers = [OrderIds(counter.take), OrderIds(counter.take)]
    given = await asyncio.gather(*(routers[number % 2].take() for number in range(5000)))
    assert len(set(given)) == 5000
    for router in routers:
        await router.close()


async def test_blocks_are_taken_ahead_of_need() -> None:
    counter = Counter()
    ids = OrderIds(counter.take)
    await ids.take()
    await eventually(lambda: counter.taken == IDS_AHEAD // BLOCK_SIZE)
    for _ in range(BLOCK_SIZE):
        await ids.take()
    await eventually(lambda: counter.taken == IDS_AHEAD // BLOCK_SIZE + 1)
    await ids.close()


async def test_a_counter_that_is_away_stops_ids_only_when_they_are_used_up_and_until_it_is_back() -> None:
    counter = Counter()
    ids = OrderIds(counter.take)
    await ids.take()
    counter.fails = True
    rest = [await ids.take() for _ in range(IDS_AHEAD - 1)]
    assert rest[-1] == IDS_AHEAD
    with pytest.raises(OrderIdsUnavailableError):
        await ids.take()
    counter.fails = False
    assert await ids.take() == IDS_AHEAD + 1
    await ids.close()
