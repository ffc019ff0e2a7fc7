"""Pauses between attempts."""

import asyncio

import pytest

from openspot.kit.backoff import Backoff, pause_s, retry


def never_shorter() -> float:
    return 0.0


def test_pauses_double_up_to_their_bound() -> None:
    pauses = [pause_s(failures, 0.1, 1.5, never_shorter) for failures in range(1, 8)]
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.5, 1.5, 1.5]
    assert pause_s(10**9, 0.1, 1.5, never_shorter) == 1.5


def test_chance_takes_away_less_than_half_of_a_pause() -> None:
    assert pause_s(1, 1.0, 1.0, lambda: 0.5) == 0.75
    assert 0.5 < pause_s(1, 1.0, 1.0, lambda: 0.999) < 0.501


def test_a_success_starts_again_with_the_shortest_pause() -> None:
    backoff = Backoff(1, 8, chance=never_shorter)
    assert [backoff.failed() for _ in range(3)] == [1, 2, 4]
    backoff.succeeded()
    assert backoff.failed() == 1


class Work:
    """Fails as often as it is told."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self._errors:
            raise self._errors.pop(0)
        return "done"


async def test_work_is_repeated_until_it_succeeds_and_every_failure_is_noted() -> None:
    work, noted = Work(OSError("one"), TimeoutError("two")), list[Exception]()
    assert await retry(work, (OSError, TimeoutError), Backoff(0, 0), noted.append) == "done"
    assert [str(error) for error in noted] == ["one", "two"]


async def test_the_last_allowed_attempt_raises_its_own_error() -> None:
    work, noted = Work(*(OSError(str(number)) for number in range(1, 9))), list[Exception]()
    with pytest.raises(OSError, match=r"^3$"):
        await retry(work, (OSError,), Backoff(0, 0, attempts_max=3), noted.append)
    assert (work.calls, len(noted)) == (3, 3)


async def test_an_error_of_another_kind_is_raised_at_once() -> None:
    work = Work(ValueError("not for retry"))
    with pytest.raises(ValueError, match="not for retry"):
        await retry(work, (OSError,), Backoff(0, 0), lambda _: None)
    assert work.calls == 1


async def test_a_pause_can_be_cancelled() -> None:
    pausing = asyncio.create_task(Backoff(3600, 3600).pause(OSError()))
    await asyncio.sleep(0)
    pausing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pausing
