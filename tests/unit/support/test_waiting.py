"""Waiting for a platform: what counts as "not yet", and what fails the test at once."""

from collections.abc import Awaitable, Callable

import pytest

from openspot.client import ApiError, UnreachableError
from tests.support.waiting import STARVED, eventually_served, unstarved


def in_turn(*outcomes: Exception | str) -> tuple[Callable[[], Awaitable[str]], list[Exception | str]]:
    """A condition that returns or raises these one after the other, and those that it has not reached."""
    left = list(outcomes)

    async def condition() -> str:
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return condition, left


def refused(status: int) -> ApiError:
    return ApiError(status, "CODE", "the database does not respond now")


async def test_no_reply_and_refusals_of_a_starved_platform_mean_not_yet() -> None:
    condition, _ = in_turn(UnreachableError("cut off"), refused(503), "", refused(429), "served")
    assert await eventually_served(condition, pause_s=0) == "served"


async def test_any_other_refusal_fails_at_once() -> None:
    condition, left = in_turn(refused(409), "served")
    with pytest.raises(ApiError, match="409"):
        await eventually_served(condition, pause_s=0)
    assert left == ["served"]


async def test_a_caller_can_name_further_refusals() -> None:
    condition, _ = in_turn(refused(409), refused(503), "served")
    assert await eventually_served(condition, pause_s=0, refusals=STARVED | {409}) == "served"


async def test_the_failure_at_the_deadline_names_the_last_refusal() -> None:
    condition, _ = in_turn(refused(503))
    with pytest.raises(AssertionError) as failure:
        await eventually_served(condition, timeout_s=0.01, pause_s=0)
    assert "the database does not respond now" in "".join(failure.value.__notes__)


class Status(int):
    """A reply that is nothing but its status."""

    @property
    def status(self) -> int:
        return int(self)


@pytest.mark.parametrize("wanted", [200, 201, 400, 409, 504])
async def test_a_reply_that_says_later_is_asked_for_again_and_no_other(wanted: int) -> None:
    left = [503, 429, wanted, 200]

    async def ask() -> Status:
        return Status(left.pop(0))

    assert await unstarved(ask, pause_s=0) == wanted
    assert left == [200]


async def test_a_platform_that_says_later_until_the_deadline_is_quoted() -> None:
    async def ask() -> Status:
        return Status(503)

    assert await unstarved(ask, timeout_s=0.01, pause_s=0) == 503
