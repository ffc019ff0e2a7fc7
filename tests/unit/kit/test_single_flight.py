"""Concurrent callers with the same question share one answer."""

import asyncio

import pytest

from openspot.kit.single_flight import SingleFlight


class Source:
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.error: Exception | None = None

    async def fetch(self, key: str) -> str:
        self.asked.append(key)
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return key.upper()


async def test_each_question_is_asked_once_at_a_time_and_again_later() -> None:
    source = Source()
    flight = SingleFlight(source.fetch)
    waiting = [asyncio.create_task(flight.get(key)) for key in ("a", "b", "a", "a")]
    await asyncio.sleep(0)
    source.go.set()
    assert await asyncio.gather(*waiting) == ["A", "B", "A", "A"]
    assert source.asked == ["a", "b"]
    assert await flight.get("a") == "A"
    assert source.asked == ["a", "b", "a"]


async def test_all_callers_share_a_failure_and_the_next_one_asks_again() -> None:
    source = Source()
    source.error = OSError("down")
    source.go.set()
    flight = SingleFlight(source.fetch)
    outcomes = await asyncio.gather(*(flight.get("a") for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [OSError] * 3
    source.error = None
    assert await flight.get("a") == "A"
    assert len(source.asked) == 2


async def test_a_caller_that_goes_away_does_not_take_the_answer_from_the_others() -> None:
    source = Source()
    flight = SingleFlight(source.fetch)
    gone, stays = (asyncio.create_task(flight.get("a")) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    source.go.set()
    assert await stays == "A"
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_a_failure_that_no_caller_waits_for_any_more_is_not_reported_as_lost() -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    source = Source()
    source.error = OSError("down")
    flight = SingleFlight(source.fetch)
    gone = asyncio.create_task(flight.get("a"))
    await asyncio.sleep(0)
    gone.cancel()
    source.go.set()
    await asyncio.gather(gone, return_exceptions=True)
    while asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.sleep(0)
    assert not reported
