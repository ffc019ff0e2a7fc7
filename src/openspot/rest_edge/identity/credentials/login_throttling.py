"""How guessing at passwords is slowed down: the rule, without IO.

An attempt counts before the password is checked, and is given back if the password was right. So parallel guesses
gain nothing. After some free attempts, each failure doubles the wait before the next attempt
(NIST SP 800-63B, rate limiting), up to a longest wait. After 100 failures in a row only a reset of the password helps.
Networks that the owner has logged in from count on their own, so strangers cannot lock an owner out at home.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from openspot.http.throttle import network_of


@dataclass(frozen=True, slots=True)
class DelayRule:
    """`free` attempts without a wait, then `first_s` seconds, doubling up to `longest_s`."""

    free: int
    first_s: int
    longest_s: int

    def wait_after(self, attempts: int) -> timedelta:
        """The wait before the next attempt, once `attempts` have failed."""
        if attempts < self.free:
            return timedelta(0)
        doublings = min(attempts - self.free, 32)
        return timedelta(seconds=min(self.first_s * 2**doublings, self.longest_s))


ACCOUNT_FROM_NETWORK = DelayRule(5, 30, 3600)
"""One account, tried from one network: guesses at its password."""
ACCOUNT = DelayRule(20, 30, 900)
"""One account, tried from all networks that its owner has never logged in from."""
NETWORK = DelayRule(100, 30, 900)
"""One network, over all accounts that never logged in from it. Slows down one password tried on many accounts."""


FAILURES_MAX = 100
"""Failures in a row after which logins from there end until the password is reset (NIST SP 800-63B, 3.2.2)."""


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """What attempts are counted by.

    `resets` says that a right password forgets all of them, not just one; `locks` that FAILURES_MAX of them end the
    logins from there until the password is reset.
    """

    text: str
    rule: DelayRule
    resets: bool
    locks: bool = False


@dataclass(frozen=True, slots=True)
class AttemptState:
    """Attempts that have not been given back, and when the next one may come."""

    attempts: int
    next_at: datetime


def account_key(email: str) -> str:
    """What stands for an account in the keys."""
    return hashlib.sha256(email.encode()).hexdigest()[:32]


def attempt_keys(email: str, address: str, *, known: bool) -> tuple[AttemptKey, ...]:
    """The keys that a login is counted under.

    `known` says that the account's owner has logged in from that network before. Attempts from other networks then do
    not count against this login.
    """
    # Keep a hash: the account may not exist, and then nobody's email address must be stored.
    account = account_key(email)
    network = network_of(address)
    keys = (AttemptKey(f"pair:{account}:{network}", ACCOUNT_FROM_NETWORK, resets=True, locks=True),)
    if known:
        return keys
    return (
        *keys,
        AttemptKey(f"account:{account}", ACCOUNT, resets=True, locks=True),
        AttemptKey(f"network:{network}", NETWORK, resets=False),
    )


def take(
    keys: tuple[AttemptKey, ...], states: dict[str, AttemptState], now: datetime
) -> tuple[timedelta, dict[str, AttemptState]]:
    """(wait, new states): the states after one attempt under every key, or how long to wait, with no new states."""
    wait = max(states[key.text].next_at - now for key in keys)
    if wait > timedelta(0):
        return wait, {}
    return timedelta(0), {key.text: _after_attempt(states[key.text], key.rule, now) for key in keys}


def _after_attempt(state: AttemptState, rule: DelayRule, now: datetime) -> AttemptState:
    attempts = state.attempts + 1
    wait = rule.wait_after(attempts)
    # Without a wait the time stays: another process's clock may be a little behind, and must not have to wait for ours.
    return AttemptState(attempts, now + wait if wait else state.next_at)


def is_locked(keys: tuple[AttemptKey, ...], states: dict[str, AttemptState]) -> bool:
    """Whether only a reset of the password helps: too many attempts in a row have failed."""
    return any(key.locks and states[key.text].attempts >= FAILURES_MAX for key in keys)


def reaches_lock(keys: tuple[AttemptKey, ...], changed: dict[str, AttemptState]) -> bool:
    """Whether this attempt is the last one before the lock, so that its failure is worth a mail to the owner."""
    return any(key.locks and changed[key.text].attempts == FAILURES_MAX for key in keys)
