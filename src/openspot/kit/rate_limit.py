"""A rate limit for many keys: a number of calls at once, then one per interval (the GCRA algorithm).

The state of a key is one number: the time at which its allowance is full again. The caller passes the time, in
nanoseconds of the monotonic clock.
"""

NANOSECONDS_PER_S = 1_000_000_000

_DROPPED_SHARE = 4
"""A full table drops a quarter of its keys at once, so that not every call has to make room."""


class RateLimit:
    """Allows each key `at_once` calls at the same time, and one more every `interval_s` seconds.

    Remembers at most `keys_max` keys. It first forgets the keys whose allowance is full, which changes nothing. If too
    many remain, it forgets those that are closest to full; they start again with a full allowance.
    """

    def __init__(self, *, at_once: int, interval_s: float, keys_max: int) -> None:
        self._interval_ns = int(interval_s * NANOSECONDS_PER_S)
        self._span_ns = (at_once - 1) * self._interval_ns
        self._keys_max = keys_max
        self._whole_at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._whole_at)

    def take(self, key: str, now_ns: int) -> float:
        """Use one call of `key` and return 0, or return the seconds until the next call is allowed."""
        whole_at = self._whole_at.get(key, 0)
        if whole_at < now_ns:
            whole_at = now_ns
        elif whole_at - now_ns > self._span_ns:
            return (whole_at - now_ns - self._span_ns) / NANOSECONDS_PER_S
        self._whole_at[key] = whole_at + self._interval_ns
        if len(self._whole_at) > self._keys_max:
            self._make_room(now_ns)
        return 0.0

    def wait_s(self, key: str, now_ns: int) -> float:
        """The seconds until the next call of `key` is allowed; 0 if one is allowed now. This uses no call."""
        return max(0, self._whole_at.get(key, 0) - now_ns - self._span_ns) / NANOSECONDS_PER_S

    def whole_in_s(self, key: str, now_ns: int) -> float:
        """The seconds until the allowance of `key` is full again. This uses no call."""
        return max(0, self._whole_at.get(key, 0) - now_ns) / NANOSECONDS_PER_S

    def give_back(self, key: str) -> None:
        """Undo one `take` of `key`."""
        if key in self._whole_at:
            self._whole_at[key] -= self._interval_ns

    def _make_room(self, now_ns: int) -> None:
        kept = {key: whole_at for key, whole_at in self._whole_at.items() if whole_at > now_ns}
        if len(kept) > self._keys_max:
            by_time = sorted(kept, key=kept.__getitem__)
            for key in by_time[: max(1, len(kept) // _DROPPED_SHARE)]:
                del kept[key]
        self._whole_at = kept
