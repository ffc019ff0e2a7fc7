"""Throttling: each of several moving windows admits a limited number of requests (facts A8-01 to A8-04).

A request counts in every window or in none: a refused one counts nowhere. `SharedThrottle` counts in a store that
several processes share (`redis://`, `valkey://`), through the library `limits`; while that store does not respond,
requests pass. `MemoryThrottle` counts in this process. It does without the library, because it checks every request
and the library's in-memory moving window costs more than three times as much: 46 µs of processor time for three tiers
with the figures of the headers, against 13 µs here, measured together on one machine.
"""

import ipaddress
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from limits import RateLimitItemPerSecond
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError
from limits.storage import storage_from_string
from prometheus_client import Counter

from openspot.kit.log import get_logger

log = get_logger("throttle")

STORAGE_FAILURES = Counter("openspot_throttle_storage_failures_total", "Requests that could not be counted")

KEYS_MAX = 50_000
"""One process remembers this many callers. That takes 320 MB if each sent 200 requests in the last minute."""

IPV6_SUBSCRIBER_PREFIX = 64
"""An IPv6 subscriber is a /64, not one address."""


@dataclass(frozen=True, slots=True)
class Tier:
    """At most `requests_max` requests in any `window_s` seconds."""

    name: str
    requests_max: int
    window_s: int


TIERS = (Tier("short", 10, 1), Tier("medium", 50, 10), Tier("long", 200, 60))
"""The tiers of the REST edge (facts A8-01 to A8-03)."""
REGISTRATION_TIERS = (Tier("short", 5, 60), Tier("long", 20, 3600))
"""The tiers of registration: each new user costs a password hash and a row that stays."""

RATE_LIMIT_HEADERS = tuple(
    f"X-RateLimit-{figure}-{tier.name}" for figure in ("Limit", "Remaining", "Reset") for tier in TIERS
)


@dataclass(frozen=True, slots=True)
class TierState:
    """A tier after a request: how many requests are left, and the seconds until one more is free."""

    tier: Tier
    remaining: int
    reset_s: float


@dataclass(frozen=True, slots=True)
class ThrottleDecision:
    """Whether a request may pass, and the state of its tiers."""

    allowed: bool
    states: tuple[TierState, ...]

    @property
    def retry_after_s(self) -> int:
        """Whole seconds until every tier has room; 0 if the request may pass."""
        if self.allowed:
            return 0
        return max([1, *(math.ceil(state.reset_s) for state in self.states if state.remaining == 0)])

    def headers(self) -> list[tuple[bytes, bytes]]:
        """X-RateLimit-Limit/Remaining/Reset-<tier>, and Retry-After on a refusal."""
        headers = []
        for state in self.states:
            name = state.tier.name.encode()
            headers.append((b"x-ratelimit-limit-" + name, b"%d" % state.tier.requests_max))
            headers.append((b"x-ratelimit-remaining-" + name, b"%d" % state.remaining))
            headers.append((b"x-ratelimit-reset-" + name, b"%d" % math.ceil(state.reset_s)))
        if not self.allowed:
            headers.append((b"retry-after", b"%d" % self.retry_after_s))
        return headers


class Throttle(Protocol):
    """Counts requests by key."""

    async def hit(self, key: str) -> ThrottleDecision:
        """Count one request of `key`, if every tier has room for it."""

    async def peek(self, key: str) -> ThrottleDecision:
        """Whether a request of `key` would pass now; counts nothing."""


def network_of(address: str) -> str:
    """The network that counts as one client: an IPv4 address, or the /64 that an IPv6 address belongs to.

    A proxy may write an IPv4 address as an IPv6 one (`::ffff:192.0.2.1`). All of these lie in one /64.
    """
    if ":" not in address:
        return address
    try:
        read = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((int(read), IPV6_SUBSCRIBER_PREFIX), strict=False))


def caller_key(subject: str | None, address: str) -> str:
    """The key under which a request counts: its user, else the network of its address."""
    return f"user:{subject}" if subject is not None else f"address:{network_of(address)}"


class MemoryThrottle:
    """Counts in this process. `now` returns the seconds of a monotonic clock.

    It remembers at most `keys_max` callers. Beyond that it forgets the one that was quiet for longest.
    """

    def __init__(
        self,
        tiers: Sequence[Tier] = TIERS,
        now: Callable[[], float] = time.monotonic,
        keys_max: int = KEYS_MAX,
    ) -> None:
        self._tiers = tuple(tiers)
        self._keys_max = keys_max
        self._now = now
        self._window_s_max = max(tier.window_s for tier in tiers)
        self._times: dict[str, list[float]] = {}
        self._next_sweep = now() + self._window_s_max

    async def hit(self, key: str) -> ThrottleDecision:
        """Count one request of `key`, if every tier has room for it."""
        return self._decide(key, count=True)

    async def peek(self, key: str) -> ThrottleDecision:
        """Whether a request of `key` would pass now; counts nothing."""
        return self._decide(key, count=False)

    @property
    def keys(self) -> int:
        """How many callers are remembered."""
        return len(self._times)

    def _decide(self, key: str, *, count: bool) -> ThrottleDecision:
        now = self._now()
        if now >= self._next_sweep:
            self._sweep(now)
        times = self._times.get(key)
        if times is None:
            times = []
        elif times and times[0] <= now - self._window_s_max:
            del times[: bisect_right(times, now - self._window_s_max)]
        used = [len(times) - bisect_right(times, now - tier.window_s) for tier in self._tiers]
        allowed = all(number < tier.requests_max for number, tier in zip(used, self._tiers, strict=True))
        if allowed and count:
            times.append(now)
            used = [number + 1 for number in used]
            self._remember(key, times)
        states = tuple(
            TierState(
                tier,
                max(0, tier.requests_max - number),
                tier.window_s - (now - times[len(times) - number]) if number else 0.0,
            )
            for tier, number in zip(self._tiers, used, strict=True)
        )
        return ThrottleDecision(allowed, states)

    def _remember(self, key: str, times: list[float]) -> None:
        """Put a caller behind all others, so that the callers stand in the order of their last requests."""
        self._times.pop(key, None)
        self._times[key] = times
        if len(self._times) > self._keys_max:
            del self._times[next(iter(self._times))]

    def _sweep(self, now: float) -> None:
        """Forget callers that sent nothing within the longest window."""
        self._next_sweep = now + self._window_s_max
        oldest = now - self._window_s_max
        self._times = {key: times for key, times in self._times.items() if times and times[-1] > oldest}


class SharedThrottle:
    """Counts in a store that several processes share."""

    def __init__(self, storage: Any, tiers: Sequence[Tier] = TIERS) -> None:
        self._limiter = MovingWindowRateLimiter(storage)
        self._items = tuple((tier, RateLimitItemPerSecond(tier.requests_max, tier.window_s)) for tier in tiers)

    async def hit(self, key: str) -> ThrottleDecision:
        """Count one request of `key`, if every tier has room for it."""
        try:
            decision = await self._state(key)
            if not decision.allowed:
                return decision
            # Another process may have taken the last place since then.
            passed = [await self._limiter.hit(item, tier.name, key) for tier, item in self._items]
            after = await self._state(key)
        except StorageError as error:
            return _unlimited(error)
        return ThrottleDecision(all(passed), after.states)

    async def peek(self, key: str) -> ThrottleDecision:
        """Whether a request of `key` would pass now; counts nothing."""
        try:
            return await self._state(key)
        except StorageError as error:
            return _unlimited(error)

    async def _state(self, key: str) -> ThrottleDecision:
        states = []
        for tier, item in self._items:
            stats = await self._limiter.get_window_stats(item, tier.name, key)
            states.append(TierState(tier, max(0, stats.remaining), max(0.0, stats.reset_time - time.time())))
        return ThrottleDecision(all(state.remaining > 0 for state in states), tuple(states))


def _unlimited(error: StorageError) -> ThrottleDecision:
    STORAGE_FAILURES.inc()
    log.warning("requests are not counted: the store of the throttle does not respond", error=repr(error.storage_error))
    return ThrottleDecision(True, ())


def make_throttle(address: str, tiers: Sequence[Tier] = TIERS) -> Throttle:
    """The throttle that counts at `address`.

    Raises limits.errors.ConfigurationError for an unknown kind of address, or if its client is not installed.
    """
    if address.startswith("memory://"):
        return MemoryThrottle(tiers)
    # Of the clients that limits can use, redis-py is the one that Redis itself maintains.
    choice = {"implementation": "redispy"} if address.startswith("redis") else {}
    return SharedThrottle(storage_from_string(f"async+{address}", wrap_exceptions=True, **choice), tiers)
