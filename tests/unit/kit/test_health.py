"""Checks of a service: up, degraded and down."""

import asyncio

import pytest

from openspot.kit.health import Check, DegradedError, Health
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import Settings


async def passes() -> None:
    """Nothing is wrong."""


async def fails() -> None:
    raise OSError("gone")


async def limps() -> None:
    raise DegradedError("notices wait")


async def test_a_degraded_part_is_shown_and_leaves_the_service_ready() -> None:
    health = Health()
    health.add("database", passes, vital=True)
    health.add("notices", limps)
    status, body = await health.report(vital_only=False)
    degraded = {"status": "degraded", "message": "notices wait"}
    assert (status, body["status"], body["error"]) == (200, "ok", {})
    assert body["details"] == body["info"] == {"database": {"status": "up"}, "notices": degraded}


async def test_a_part_that_is_down_makes_the_service_not_ready() -> None:
    health = Health()
    health.add("database", passes, vital=True)
    health.add("engine", fails)
    status, body = await health.report(vital_only=False)
    assert (status, body["error"]) == (503, {"engine": {"status": "down", "message": "gone"}})
    assert (await health.report(vital_only=True))[0] == 200


async def test_parts_that_come_later_are_asked_too_and_none_of_them_is_vital() -> None:
    parts: dict[str, Check] = {}
    health = Health()
    health.add_all_of(lambda: parts)
    assert (await health.report(vital_only=False))[1]["details"] == {}
    parts["consumer"] = fails
    assert (await health.report(vital_only=False))[0] == 503
    assert (await health.report(vital_only=True))[0] == 200


async def test_a_check_that_takes_too_long_is_down_and_says_after_how_many_seconds() -> None:
    health = Health()
    health.timeout_s = 0.01
    health.add("engine", asyncio.Event().wait)  # type: ignore[arg-type]
    status, body = await health.report(vital_only=False)
    assert (status, body["error"]) == (503, {"engine": {"status": "down", "message": "no answer within 0.01 s"}})


@pytest.mark.parametrize(
    ("request_timeout_s", "read_s", "nested_s", "check_s", "readiness_s"),
    [(1, 0.4, 2, 2, 3), (5, 2, 10, 2, 3), (60, 24, 120, 24, 36)],
)
async def test_checks_and_those_who_wait_for_them_follow_the_time_of_a_request_and_never_fall_below_two_seconds(
    request_timeout_s: float, read_s: float, nested_s: float, check_s: float, readiness_s: float
) -> None:
    settings = Settings(request_timeout_s=request_timeout_s)
    assert (settings.read_timeout_s, settings.nested_timeout_s) == (read_s, nested_s)
    assert (settings.check_timeout_s, settings.readiness_timeout_s) == (check_s, readiness_s)
    assert ServiceFrame("small", settings, asyncio.Event()).health.timeout_s == check_s
