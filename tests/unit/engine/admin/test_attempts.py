"""How often something may be tried."""

from openspot.engine.admin.attempts import Attempts

S = 1_000_000_000


def test_so_many_at_once_then_one_an_interval() -> None:
    attempts = Attempts(at_once=3, interval_s=10, keys_max=10)
    now = 1000 * S
    assert [attempts.take("a", now) for _ in range(5)] == [0, 0, 0, 10, 10]
    assert attempts.take("a", now + 4 * S) == 6
    assert attempts.take("a", now + 10 * S) == 0
    assert attempts.take("a", now + 10 * S) == 10
    # Left alone it is whole again, and no more than whole.
    assert [attempts.take("a", now + 1000 * S) for _ in range(4)] == [0, 0, 0, 10]


def test_keys_do_not_share() -> None:
    attempts = Attempts(at_once=1, interval_s=10, keys_max=10)
    assert [attempts.take(key, S) for key in ("a", "b", "a")] == [0, 0, 10]


def test_what_is_given_back_can_be_taken_again() -> None:
    attempts = Attempts(at_once=2, interval_s=10, keys_max=10)
    for _ in range(50):
        assert attempts.take("a", S) == 0
        attempts.give_back("a")
    assert [attempts.take("a", S) for _ in range(3)] == [0, 0, 10]
    attempts.give_back("unknown")
    assert attempts.take("unknown", S) == 0


def test_the_key_that_was_allowed_longest_ago_is_forgotten_first() -> None:
    attempts = Attempts(at_once=1, interval_s=10, keys_max=2)
    for key in ("a", "b"):
        attempts.take(key, S)
    attempts.take("c", S)
    assert attempts.take("b", S) == 10
    assert attempts.take("a", S) == 0
