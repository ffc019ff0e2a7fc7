"""A value that is kept for a moment."""

import asyncio

from openspot.rest_edge.markets.service import Kept


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_value_is_made_once_for_all_who_ask_and_again_when_it_is_old() -> None:
    clock = Clock()
    made: list[int] = []

    async def make() -> int:
        made.append(len(made))
        await asyncio.sleep(0)
        return made[-1]

    kept = Kept(make, clock)
    assert await asyncio.gather(*(kept.get() for _ in range(10))) == [0] * 10
    clock.now = 0.99
    assert await kept.get() == 0
    clock.now = 1.0
    assert await kept.get() == 1


async def test_what_takes_long_to_make_is_kept_longer() -> None:
    clock = Clock()
    made: list[float] = []

    async def make() -> float:
        made.append(clock.now)
        clock.now += 3
        return clock.now

    kept = Kept(make, clock)
    assert await kept.get() == 3
    clock.now = 62.9
    assert await kept.get() == 3
    clock.now = 63
    assert await kept.get() == 66


async def test_all_who_wait_share_a_failure_and_the_next_tries_again() -> None:
    tries: list[int] = []

    async def make() -> int:
        tries.append(1)
        await asyncio.sleep(0)
        if len(tries) == 1:
            raise OSError("down")
        return 7

    kept = Kept(make, Clock())
    outcomes = await asyncio.gather(*(kept.get() for _ in range(5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [OSError] * 5
    assert await kept.get() == 7
    assert len(tries) == 2
