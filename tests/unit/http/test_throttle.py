"""The throttle's windows, the same rules for both places where counts can live."""

from collections.abc import Callable

import pytest
from limits.aio.storage import MemoryStorage
from limits.errors import ConfigurationError, StorageError

from openspot.http.throttle import (
    REGISTRATION_TIERS,
    STORAGE_FAILURES,
    TIERS,
    MemoryThrottle,
    SharedThrottle,
    Throttle,
    ThrottleDecision,
    Tier,
    TierState,
    caller_key,
    make_throttle,
)

TWO = (Tier("short", 3, 10), Tier("long", 5, 600))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def memory(tiers: tuple[Tier, ...]) -> Throttle:
    return MemoryThrottle(tiers)


def shared(tiers: tuple[Tier, ...]) -> Throttle:
    return SharedThrottle(MemoryStorage(), tiers)


@pytest.mark.parametrize("make", [memory, shared])
async def test_requests_pass_until_a_tier_is_full(make: Callable[[tuple[Tier, ...]], Throttle]) -> None:
    throttle = make(TWO)
    outcomes = [await throttle.hit("a") for _ in range(4)]
    assert [outcome.allowed for outcome in outcomes] == [True, True, True, False]
    assert [[state.remaining for state in outcome.states] for outcome in outcomes] == [[2, 4], [1, 3], [0, 2], [0, 2]]
    assert 0 < outcomes[-1].retry_after_s <= 10
    assert (await throttle.hit("b")).allowed


@pytest.mark.parametrize("make", [memory, shared])
async def test_a_look_counts_nothing(make: Callable[[tuple[Tier, ...]], Throttle]) -> None:
    throttle = make(TWO)
    for _ in range(10):
        assert (await throttle.peek("a")).allowed
    assert (await throttle.hit("a")).states[0].remaining == 2
    assert (await throttle.peek("a")).states[0].remaining == 2


@pytest.mark.parametrize("make", [memory, shared])
async def test_a_refused_request_counts_in_no_tier(make: Callable[[tuple[Tier, ...]], Throttle]) -> None:
    throttle = make((Tier("short", 2, 1), Tier("long", 3, 600)))
    for _ in range(20):
        outcome = await throttle.hit("a")
    assert not outcome.allowed
    assert outcome.states[1].remaining == 1


async def test_a_window_moves_with_the_clock() -> None:
    clock = Clock()
    throttle = MemoryThrottle(TWO, clock)
    for moment in (0, 4, 8):
        clock.now = 1000 + moment
        assert (await throttle.hit("a")).allowed
    clock.now = 1009.5
    refused = await throttle.hit("a")
    assert (refused.allowed, refused.retry_after_s) == (False, 1)
    assert refused.states[0].reset_s == pytest.approx(0.5)
    clock.now = 1010.001
    assert (await throttle.hit("a")).allowed
    clock.now = 1013
    assert (await throttle.hit("a")).retry_after_s == 1
    clock.now = 1300
    last = await throttle.hit("a")
    assert (last.allowed, last.states[1].remaining) == (True, 0)
    full = await throttle.hit("a")
    assert (full.allowed, full.retry_after_s) == (False, 300)


@pytest.mark.spec("A8-01", "A8-02", "A8-03")
@pytest.mark.parametrize(
    ("pause_s", "passed"),
    [
        # All at once: the 11th in a second is refused.
        (0.0, 10),
        # Nine a second: the 51st within ten seconds is refused.
        (0.112, 50),
        # Nearly five a second: the 201st within a minute is refused.
        (0.205, 200),
    ],
)
async def test_the_tiers_are_those_of_the_spec(pause_s: float, passed: int) -> None:
    clock = Clock()
    throttle = MemoryThrottle(TIERS, clock)
    for number in range(passed):
        assert (await throttle.hit("a")).allowed, number
        clock.now += pause_s
    assert not (await throttle.hit("a")).allowed


@pytest.mark.spec("A8-04")
async def test_headers_tell_limit_remaining_and_reset_of_each_tier() -> None:
    throttle = MemoryThrottle(TIERS, Clock())
    for _ in range(11):
        outcome = await throttle.hit("a")
    assert dict(outcome.headers()) == {
        b"x-ratelimit-limit-short": b"10",
        b"x-ratelimit-remaining-short": b"0",
        b"x-ratelimit-reset-short": b"1",
        b"x-ratelimit-limit-medium": b"50",
        b"x-ratelimit-remaining-medium": b"40",
        b"x-ratelimit-reset-medium": b"10",
        b"x-ratelimit-limit-long": b"200",
        b"x-ratelimit-remaining-long": b"190",
        b"x-ratelimit-reset-long": b"60",
        b"retry-after": b"1",
    }


async def test_silent_callers_are_forgotten() -> None:
    clock = Clock()
    throttle = MemoryThrottle(TIERS, clock)
    for number in range(1000):
        await throttle.hit(f"address:{number}")
    clock.now += 30
    await throttle.hit("late")
    clock.now += 31
    await throttle.hit("later")
    assert throttle.keys == 2


async def test_of_too_many_callers_the_quietest_is_forgotten() -> None:
    throttle = MemoryThrottle((Tier("short", 2, 60),), Clock(), keys_max=3)
    for key in ("busy", "quiet", "busy", "c", "d"):
        await throttle.hit(key)
    assert throttle.keys == 3
    assert not (await throttle.peek("busy")).allowed
    assert (await throttle.peek("quiet")).states[0].remaining == 2


@pytest.mark.parametrize(
    ("user_id", "address", "key"),
    [
        ("u1", "10.0.0.1", "user:u1"),
        (None, "10.0.0.1", "address:10.0.0.1"),
        (None, "2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64"),
        (None, "2001:db8:1:2::1", "address:2001:db8:1:2::/64"),
        (None, "not:an:address", "address:not:an:address"),
        (None, "", "address:"),
    ],
)
def test_a_caller_is_its_user_else_its_network(user_id: str | None, address: str, key: str) -> None:
    assert caller_key(user_id, address) == key


async def test_while_a_shared_storage_does_not_answer_requests_pass() -> None:
    class Unreachable(MemoryStorage):
        async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
            raise StorageError(ConnectionError("refused"))

    throttle = SharedThrottle(Unreachable(), TWO)
    before = STORAGE_FAILURES._value.get()
    assert (await throttle.hit("a")).allowed
    assert (await throttle.peek("a")).allowed
    assert STORAGE_FAILURES._value.get() == before + 2


async def test_the_storage_is_chosen_by_its_address() -> None:
    assert isinstance(make_throttle("memory://"), MemoryThrottle)
    with pytest.raises(ConfigurationError):
        make_throttle("nowhere://")


def test_registration_has_tiers_of_its_own() -> None:
    assert (Tier("short", 5, 60), Tier("long", 20, 3600)) == REGISTRATION_TIERS


async def test_a_caller_that_never_stops_is_remembered_for_the_longest_window_only() -> None:
    clock = Clock()
    throttle = MemoryThrottle((Tier("short", 5, 10), Tier("long", 20, 60)), clock)
    for _ in range(100):
        assert (await throttle.hit("a")).allowed
        clock.now += 5
    # The last came at 1495 s; the one of 1435 s left its window then.
    assert throttle._times["a"] == [1440.0 + 5 * number for number in range(12)]


async def test_a_caller_whose_requests_are_all_old_has_every_place_again() -> None:
    clock = Clock()
    throttle = MemoryThrottle(TWO, clock)
    await throttle.hit("a")
    clock.now += 599.5
    await throttle.hit("other")
    clock.now += 0.5
    # What was sent a whole window ago counts no more, and there is nothing to wait for.
    for _ in range(2):
        assert await throttle.peek("a") == ThrottleDecision(
            True, (TierState(TWO[0], 3, 0.0), TierState(TWO[1], 5, 0.0))
        )  # fmt: skip
    assert (await throttle.hit("a")).states == (TierState(TWO[0], 2, 10.0), TierState(TWO[1], 4, 600.0))


async def test_callers_are_looked_through_once_in_the_longest_window() -> None:
    clock = Clock()
    throttle = MemoryThrottle((Tier("short", 5, 10),), clock)
    for key, at, kept in (
        ("a", 1000, {"a"}),
        ("b", 1009.5, {"a", "b"}),
        ("c", 1010, {"b", "c"}),
        ("d", 1019.5, {"b", "c", "d"}),
        ("e", 1020, {"d", "e"}),
        ("f", 1029.5, {"d", "e", "f"}),
    ):
        clock.now = at
        await throttle.hit(key)
        assert set(throttle._times) == kept, key
