"""The rate limit: a number of calls at once, then one each interval, for each key."""

from openspot.kit.rate_limit import RateLimit

S = 1_000_000_000


def test_so_many_calls_pass_at_once_and_then_one_each_interval() -> None:
    limit = RateLimit(at_once=3, interval_s=10, keys_max=10)
    now = 1000 * S
    assert [limit.take("a", now) for _ in range(5)] == [0, 0, 0, 10, 10]
    assert limit.take("a", now + 4 * S) == 6
    assert limit.take("a", now + 10 * S) == 0
    assert limit.take("a", now + 10 * S) == 10
    # After a long silence the allowance is whole again, and no more than whole.
    assert [limit.take("a", now + 1000 * S) for _ in range(4)] == [0, 0, 0, 10]


def test_in_any_second_a_key_passes_at_most_twice_its_allowance() -> None:
    limit = RateLimit(at_once=5, interval_s=0.2, keys_max=10)
    passed = [now for now in range(0, 10 * S, S // 100) if limit.take("a", now) == 0]
    assert len(passed) == 5 + 49
    assert max(sum(begin <= time < begin + S for time in passed) for begin in passed) <= 10


def test_each_key_has_its_own_allowance() -> None:
    limit = RateLimit(at_once=1, interval_s=10, keys_max=10)
    assert [limit.take(key, S) for key in ("a", "b", "a")] == [0, 0, 10]


def test_looking_at_the_wait_uses_nothing() -> None:
    limit = RateLimit(at_once=1, interval_s=10, keys_max=10)
    assert [limit.wait_s("a", S) for _ in range(3)] == [0, 0, 0]
    assert limit.take("a", S) == 0
    assert limit.wait_s("a", 3 * S) == 8
    assert limit.wait_s("a", 100 * S) == 0


def test_the_time_until_an_allowance_is_whole_grows_with_each_call_and_passes() -> None:
    limit = RateLimit(at_once=3, interval_s=10, keys_max=10)
    assert limit.whole_in_s("a", S) == 0
    for calls in (1, 2, 3, 3):
        limit.take("a", S)
        assert limit.whole_in_s("a", S) == 10 * calls
    assert limit.whole_in_s("a", 26 * S) == 5
    assert limit.whole_in_s("a", 100 * S) == 0


def test_a_call_that_is_given_back_can_be_taken_again() -> None:
    limit = RateLimit(at_once=2, interval_s=10, keys_max=10)
    for _ in range(50):
        assert limit.take("a", S) == 0
        limit.give_back("a")
    assert [limit.take("a", S) for _ in range(3)] == [0, 0, 10]
    limit.give_back("unknown")
    assert limit.take("unknown", S) == 0


def test_a_key_whose_allowance_is_whole_takes_no_place() -> None:
    limit = RateLimit(at_once=1, interval_s=10, keys_max=2)
    limit.take("quiet", S)
    for key in ("a", "b"):
        limit.take(key, 20 * S)
    assert len(limit) == 2
    assert [limit.take(key, 20 * S) for key in ("a", "b")] == [10, 10]


def test_if_all_keys_are_busy_the_one_closest_to_whole_is_forgotten() -> None:
    limit = RateLimit(at_once=1, interval_s=10, keys_max=2)
    for key in ("a", "b"):
        limit.take(key, S)
    limit.take("c", S)
    assert limit.take("b", S) == 10
    assert limit.take("a", S) == 0


def test_memory_stays_bounded_under_a_flood_of_keys() -> None:
    limit = RateLimit(at_once=1, interval_s=1000, keys_max=100)
    for number in range(10_000):
        limit.take(f"key-{number}", S)
        assert len(limit) <= 100
