"""Counts and used signatures in a store that processes share: what is asked of it, and what its silence means."""

import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from limits.aio.storage import MemoryStorage
from limits.errors import ConfigurationError

from openspot.http.api_keys.replays import MemoryReplays, SharedReplays, make_replays
from openspot.http.errors import HttpError
from openspot.http.throttle import MemoryThrottle, SharedThrottle, ThrottleDecision, Tier, TierState, make_throttle
from tests.support.ports import free_port

MINUTE, HOUR = Tier("short", 3, 60), Tier("long", 5, 3600)


@pytest.fixture
async def nobody() -> AsyncIterator[str]:
    """The address of a store that does not respond."""
    yield f"redis://127.0.0.1:{free_port()}"


async def test_signatures_are_not_taken_while_the_store_is_away(nobody: str) -> None:
    replays = make_replays(nobody)
    assert isinstance(replays, SharedReplays)
    with pytest.raises(HttpError) as refused:
        await replays.is_first("key", b"s")
    error = refused.value
    assert (error.status_code, error.code, error.message, error.headers) == (
        503, "SIGNATURES_UNAVAILABLE", "signatures cannot be checked now", {"Retry-After": "1"},
    )  # fmt: skip


async def test_requests_pass_uncounted_while_the_store_is_away(nobody: str) -> None:
    throttle = make_throttle(nobody, (MINUTE,))
    assert isinstance(throttle, SharedThrottle)
    assert await throttle.hit("a") == ThrottleDecision(True, ())
    assert await throttle.peek("a") == ThrottleDecision(True, ())


def test_both_memories_of_one_process_have_the_same_address() -> None:
    assert isinstance(make_replays("memory://"), MemoryReplays)
    assert isinstance(make_throttle("memory://"), MemoryThrottle)
    for make in (make_replays, make_throttle):
        with pytest.raises(ConfigurationError):
            make("nowhere://")


async def test_a_throttle_in_memory_has_the_tiers_that_are_given() -> None:
    decision = await make_throttle("memory://", (MINUTE,)).hit("a")
    assert [(state.tier, state.remaining) for state in decision.states] == [(MINUTE, 2)]


def test_another_store_without_its_client_is_refused_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memcachio", None)
    for make in (make_throttle, make_replays):
        with pytest.raises(ConfigurationError, match="memcachio"):
            make("memcached://127.0.0.1:1")


async def test_a_signature_is_counted_under_its_key_for_eleven_seconds() -> None:
    asked: list[tuple[Any, ...]] = []

    class Store:
        async def incr(self, *arguments: Any) -> int:
            asked.append(arguments)
            return len(asked)

    replays = SharedReplays(Store())
    assert [await replays.is_first("k1", b"\x00\xff") for _ in range(2)] == [True, False]
    # Ten seconds of timestamps, and the second in which the last of them is still taken.
    assert asked == [("api-signature/k1/00ff", 11)] * 2


async def test_a_shared_count_tells_the_state_of_each_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_800_000_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    throttle = SharedThrottle(MemoryStorage(), (MINUTE, HOUR))
    for _ in range(3):
        assert (await throttle.hit("a")).allowed
        now[0] += 10
    assert await throttle.hit("a") == ThrottleDecision(False, (TierState(MINUTE, 0, 30.0), TierState(HOUR, 2, 3570.0)))
    now[0] += 29.75
    refused = await throttle.hit("a")
    assert refused == ThrottleDecision(False, (TierState(MINUTE, 0, 0.25), TierState(HOUR, 2, 3540.25)))
    assert refused.headers()[2::3] == [
        (b"x-ratelimit-reset-short", b"1"), (b"x-ratelimit-reset-long", b"3541"),
    ]  # fmt: skip
    now[0] += 0.5
    assert await throttle.peek("a") == ThrottleDecision(True, (TierState(MINUTE, 1, 9.75), TierState(HOUR, 2, 3539.75)))


def test_retry_after_is_the_longest_wait_of_a_full_tier_in_whole_seconds() -> None:
    def decision(allowed: bool, *states: tuple[int, float]) -> ThrottleDecision:
        return ThrottleDecision(allowed, tuple(TierState(MINUTE, *state) for state in states))

    assert decision(True, (0, 9.0)).retry_after_s == 0
    assert decision(False, (0, 2.1), (0, 8.5), (1, 50.0)).retry_after_s == 9
    assert decision(False, (0, 0.0)).retry_after_s == 1
    assert decision(False, (1, 50.0)).retry_after_s == 1
