"""Waiting for a platform: what counts as "not yet", and what fails the test at once."""

from collections.abc import Awaitable, Callable

import pytest

from openspot.client import ApiError, UnreachableError
from tests.support.waiting import STARVED, eventually_served


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
