"""The rule of how often a session may be refreshed."""

from datetime import UTC, datetime, timedelta

from openspot.rest_edge.identity.credentials.refresh_pace import after_refresh

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIFE = timedelta(seconds=900)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def test_thirty_refreshes_are_free_and_the_next_comes_back_with_a_tenth_of_an_access_tokens_life() -> None:
    full_at: datetime | None = None
    for number in range(30):
        wait, full_at = after_refresh(full_at, NOW, LIFE)
        assert (wait, full_at) == (timedelta(0), NOW + seconds(90 * (number + 1)))
    assert full_at is not None
    assert after_refresh(full_at, NOW, LIFE) == (seconds(90), full_at)
    assert after_refresh(full_at, NOW + seconds(89.5), LIFE) == (seconds(0.5), full_at)
    assert after_refresh(full_at, NOW + seconds(90), LIFE) == (timedelta(0), full_at + seconds(90))


def test_an_allowance_does_not_grow_beyond_its_complete_size() -> None:
    later = NOW + timedelta(days=20)
    assert after_refresh(NOW, later, LIFE) == after_refresh(None, later, LIFE) == (timedelta(0), later + seconds(90))


def test_a_client_that_renews_each_access_token_never_waits() -> None:
    full_at, now = None, NOW
    for _ in range(3000):
        wait, full_at = after_refresh(full_at, now, LIFE)
        assert not wait
        now += seconds(840)
