"""The circuit breaker's rule, with a clock of the test."""

import pytest

from openspot.kit.bus import CircuitOpenError
from openspot.kit.bus.circuit_breaker import CircuitBreaker
from openspot.kit.settings import Settings


class Time:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def breaker(time: Time) -> CircuitBreaker:
    settings = Settings()
    return CircuitBreaker(settings.breaker_failures, settings.breaker_window_s, time)


@pytest.mark.spec("A7-14", "A8-14")
def test_it_opens_at_the_fifth_failure_within_thirty_seconds(breaker: CircuitBreaker, time: Time) -> None:
    for _ in range(4):
        breaker.failed("a")
        time.now_s += 7
        breaker.check("a")
    breaker.failed("a")
    with pytest.raises(CircuitOpenError, match=r"^circuit breaker open for subject: a$"):
        breaker.check("a")


@pytest.mark.spec("A8-14")
def test_five_failures_over_a_longer_time_leave_it_closed(breaker: CircuitBreaker, time: Time) -> None:
    for _ in range(20):
        breaker.failed("a")
        time.now_s += 8
        breaker.check("a")


def test_a_success_forgets_the_failures(breaker: CircuitBreaker) -> None:
    for _ in range(3):
        for _ in range(4):
            breaker.failed("a")
        breaker.succeeded("a")
    breaker.check("a")


@pytest.mark.spec("A7-15")
def test_other_subjects_are_left_alone(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        breaker.failed("a")
    breaker.check("b")


def test_after_the_window_one_try_decides(breaker: CircuitBreaker, time: Time) -> None:
    for _ in range(5):
        breaker.failed("a")
    time.now_s += 30
    breaker.check("a")
    with pytest.raises(CircuitOpenError):
        breaker.check("a")
    breaker.failed("a")
    time.now_s += 29
    with pytest.raises(CircuitOpenError):
        breaker.check("a")
    time.now_s += 1
    breaker.check("a")
    breaker.succeeded("a")
    breaker.check("a")
    breaker.check("a")
