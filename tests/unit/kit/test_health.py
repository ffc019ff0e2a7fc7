"""Checks of a service: up, degraded and down."""

from openspot.kit.health import Check, DegradedError, Health


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
