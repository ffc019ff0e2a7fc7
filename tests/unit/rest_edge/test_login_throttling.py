"""The rule that slows down guesses at passwords."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from openspot.rest_edge.identity.credentials.login_throttling import (
    ACCOUNT,
    ACCOUNT_FROM_NETWORK,
    NETWORK,
    AttemptKey,
    AttemptState,
    DelayRule,
    attempt_keys,
    is_locked,
    reaches_lock,
    take,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(attempts: int, rule: DelayRule = ACCOUNT_FROM_NETWORK) -> float:
    return rule.wait_after(attempts).total_seconds()


def test_five_attempts_are_free_and_then_the_wait_doubles_up_to_an_hour() -> None:
    assert [seconds(attempts) for attempts in range(1, 15)] == [
        0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600,
    ]  # fmt: skip
    assert seconds(10**9) == 3600


def test_an_attempt_counts_under_every_key_or_under_none() -> None:
    rule = DelayRule(2, 30, 60)
    keys = (AttemptKey("a", rule, resets=True), AttemptKey("b", rule, resets=False))
    states = {"a": AttemptState(0, LONG_AGO), "b": AttemptState(1, LONG_AGO)}
    wait, states = take(keys, states, NOW)
    assert not wait
    assert states == {"a": AttemptState(1, LONG_AGO), "b": AttemptState(2, NOW + timedelta(seconds=30))}
    wait, unchanged = take(keys, states, NOW + timedelta(seconds=10))
    assert (wait, unchanged) == (timedelta(seconds=20), {})
    wait, later = take(keys, states, NOW + timedelta(seconds=30))
    assert (wait, later["b"].attempts) == (timedelta(0), 3)
    assert later["b"].next_at == NOW + timedelta(seconds=90)


def test_a_clock_that_is_a_little_behind_has_no_wait_among_free_attempts() -> None:
    keys = (AttemptKey("a", ACCOUNT_FROM_NETWORK, resets=True),)
    _, states = take(keys, {"a": AttemptState(0, LONG_AGO)}, NOW)
    wait, states = take(keys, states, NOW - timedelta(milliseconds=3))
    assert (wait, states["a"].attempts) == (timedelta(0), 2)


def test_the_hundredth_failure_in_a_row_is_the_last_before_the_lock() -> None:
    rule = DelayRule(1000, 30, 60)
    keys = (AttemptKey("a", rule, resets=True, locks=True), AttemptKey("n", rule, resets=False))
    states = {"a": AttemptState(98, LONG_AGO), "n": AttemptState(500, LONG_AGO)}
    told = []
    for _ in range(2):
        assert not is_locked(keys, states)
        _, states = take(keys, states, NOW)
        told.append(reaches_lock(keys, states))
    assert told == [False, True]
    assert is_locked(keys, states)
    # A network that many users share never locks, it only waits.
    assert not is_locked(keys[1:], states)


@pytest.mark.parametrize(("known", "kinds"), [(True, ["pair"]), (False, ["pair", "account", "network"])])
def test_what_others_do_counts_only_where_the_owner_never_logged_in(known: bool, kinds: list[str]) -> None:
    keys = attempt_keys("ada@example.org", "203.0.113.9", known=known)
    assert [key.text.partition(":")[0] for key in keys] == kinds
    assert not any("ada" in key.text for key in keys)


def test_an_ipv6_subscriber_counts_as_one() -> None:
    one, other, far = (
        attempt_keys("a@b.org", address, known=False)[2].text
        for address in ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1")
    )
    assert one == other != far


def test_each_key_has_its_own_rule_and_only_a_network_neither_resets_nor_locks() -> None:
    account = hashlib.sha256(b"ada@example.org").hexdigest()[:32]
    pair = AttemptKey(f"pair:{account}:203.0.113.9", ACCOUNT_FROM_NETWORK, resets=True, locks=True)
    assert attempt_keys("ada@example.org", "203.0.113.9", known=True) == (pair,)
    assert attempt_keys("ada@example.org", "203.0.113.9", known=False) == (
        pair,
        AttemptKey(f"account:{account}", ACCOUNT, resets=True, locks=True),
        AttemptKey("network:203.0.113.9", NETWORK, resets=False, locks=False),
    )
    assert (
        DelayRule(5, 30, 3600), DelayRule(20, 30, 900), DelayRule(100, 30, 900),
    ) == (ACCOUNT_FROM_NETWORK, ACCOUNT, NETWORK)  # fmt: skip
