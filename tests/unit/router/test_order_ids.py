"""Internal order ids: blocks of the shared counter, taken ahead of need."""

import asyncio
import itertools

import pytest

from openspot.router.orders.engine_order_ids import BLOCK_SIZE, IDS_AHEAD, OrderIds, OrderIdsUnavailableError
from tests.support.waiting import eventually

NEVER_S = 3600.0


class Counter:
    """The sequence as PostgreSQL gives it out."""

    def __init__(self) -> None:
        self.is_silent = False
        self._values = itertools.count(BLOCK_SIZE, BLOCK_SIZE)
        self.taken = 0
        self.fails = False

    async def take(self) -> int:
        if self.fails:
            raise ConnectionError("no database")
        if self.is_silent:
            await asyncio.Event().wait()
        self.taken += 1
        return next(self._values)


async def test_ids_of_a_block_end_at_its_value() -> None:
    ids = OrderIds(Counter().take, NEVER_S)
    assert [await ids.take() for _ in range(BLOCK_SIZE + 2)] == list(range(1, BLOCK_SIZE + 3))
    await ids.close()


@pytest.mark.spec("A1.3-25")
async def test_two_routers_never_give_the_same_id() -> None:
    counter = Counter()
    routers = [OrderIds(counter.take, NEVER_S), OrderIds(counter.take, NEVER_S)]
    given = await asyncio.gather(*(routers[number % 2].take() for number in range(5000)))
    assert len(set(given)) == 5000
    for router in routers:
        await router.close()


async def test_blocks_are_taken_ahead_of_need() -> None:
    counter = Counter()
    ids = OrderIds(counter.take, NEVER_S)
    await ids.take()
    await eventually(lambda: counter.taken == IDS_AHEAD // BLOCK_SIZE)
    for _ in range(BLOCK_SIZE):
        await ids.take()
    await eventually(lambda: counter.taken == IDS_AHEAD // BLOCK_SIZE + 1)
    await ids.close()


async def test_a_counter_that_is_away_stops_ids_only_when_they_are_used_up_and_until_it_is_back() -> None:
    counter = Counter()
    ids = OrderIds(counter.take, NEVER_S)
    await ids.take()
    counter.fails = True
    rest = [await ids.take() for _ in range(IDS_AHEAD - 1)]
    assert rest[-1] == IDS_AHEAD
    with pytest.raises(OrderIdsUnavailableError):
        await ids.take()
    counter.fails = False
    assert await ids.take() == IDS_AHEAD + 1
    await ids.close()


async def test_a_counter_that_does_not_reply_is_waited_for_as_long_as_is_given_and_then_asked_again() -> None:
    counter = Counter()
    ids = OrderIds(counter.take, 0.01)
    counter.is_silent = True
    with pytest.raises(OrderIdsUnavailableError):
        await ids.take()
    counter.is_silent = False
    assert await ids.take() == 1
    await ids.close()
