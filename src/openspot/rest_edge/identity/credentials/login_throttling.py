"""The rules that slow down guessing at passwords, without IO.

An attempt counts before the password is checked, and is given back if the password was right. So parallel guesses
gain nothing. After some free attempts, each failure doubles the wait before the next attempt
(NIST SP 800-63B, rate limiting), up to a longest wait. After 100 failures in a row, the user must reset the password.
Networks that the owner has logged in from count separately, so that strangers cannot lock an owner out at home.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from openspot.http.throttle import network_of


@dataclass(frozen=True, slots=True)
class DelayRule:
    """The first `free` attempts have no wait. Then the wait is `first_s` seconds, and doubles up to `longest_s`."""

    free: int
    first_s: int
    longest_s: int

    def wait_after(self, attempts: int) -> timedelta:
        """The wait before the next attempt after `attempts` failures."""
        if attempts < self.free:
            return timedelta(0)
        doublings = min(attempts - self.free, 32)
        return timedelta(seconds=min(self.first_s * 2**doublings, self.longest_s))


ACCOUNT_FROM_NETWORK = DelayRule(5, 30, 3600)
"""For one account from one network: guesses at its password."""
ACCOUNT = DelayRule(20, 30, 900)
"""For one account from all networks that its owner has never logged in from."""
NETWORK = DelayRule(100, 30, 900)
"""For one network and all accounts that never logged in from it. Slows down one password tried on many accounts."""


FAILURES_MAX = 100
"""After this many failures in a row, logins are locked until a password reset (NIST SP 800-63B, 3.2.2)."""


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """A key under which attempts count.

    `resets` says that a right password forgets all attempts, not only its own. `locks` says that FAILURES_MAX attempts
    lock the logins of this key until the password is reset.
    """

    text: str
    rule: DelayRule
    resets: bool
    locks: bool = False


@dataclass(frozen=True, slots=True)
class AttemptState:
    """The attempts that count, and the time from which the next one may come."""

    attempts: int
    next_at: datetime


def account_key(email: str) -> str:
    """The part of a key that stands for an account."""
    return hashlib.sha256(email.encode()).hexdigest()[:32]


def attempt_keys(email: str, address: str, *, known: bool) -> tuple[AttemptKey, ...]:
    """The keys that a login is counted under.

    `known` says that the account's owner has logged in from this network before. Then attempts from other networks do
    not count against the login.
    """
    # Only a hash is stored: the account may not exist, and a stranger's email address must not be stored.
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
    """Return (0, the states after one attempt under every key), or (the wait, no states) if the attempt must wait."""
    wait = max(states[key.text].next_at - now for key in keys)
    if wait > timedelta(0):
        return wait, {}
    return timedelta(0), {key.text: _after_attempt(states[key.text], key.rule, now) for key in keys}


def _after_attempt(state: AttemptState, rule: DelayRule, now: datetime) -> AttemptState:
    attempts = state.attempts + 1
    wait = rule.wait_after(attempts)
    # Without a wait, the old time stays. A new one would make another process wait whose clock is a little behind.
    return AttemptState(attempts, now + wait if wait else state.next_at)


def is_locked(keys: tuple[AttemptKey, ...], states: dict[str, AttemptState]) -> bool:
    """Whether a key is locked after too many failures in a row, so that only a password reset helps."""
    return any(key.locks and states[key.text].attempts >= FAILURES_MAX for key in keys)


def reaches_lock(keys: tuple[AttemptKey, ...], changed: dict[str, AttemptState]) -> bool:
    """Whether this attempt is the last one before the lock. The owner gets a mail if it fails."""
    return any(key.locks and changed[key.text].attempts == FAILURES_MAX for key in keys)
