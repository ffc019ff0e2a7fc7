"""How often something may be tried: a number of times at once, then once an interval, for each key.

A key's state is one number: the time at which its allowance is whole again. Time is passed in, in nanoseconds.
"""

from collections import OrderedDict

_NANOSECONDS_PER_S = 1_000_000_000


class Attempts:
    """Allowances by key. Beyond `keys_max` keys, the key whose last attempt is oldest is forgotten."""

    def __init__(self, *, at_once: int, interval_s: float, keys_max: int) -> None:
        self._interval_ns = int(interval_s * _NANOSECONDS_PER_S)
        self._span_ns = (at_once - 1) * self._interval_ns
        self._keys_max = keys_max
        self._whole_at: OrderedDict[str, int] = OrderedDict()

    def take(self, key: str, now_ns: int) -> float:
        """Use up one attempt and return 0, or return the seconds until there is one."""
        whole_at = max(self._whole_at.get(key, 0), now_ns)
        wait_ns = whole_at - now_ns - self._span_ns
        if wait_ns > 0:
            return wait_ns / _NANOSECONDS_PER_S
        self._whole_at[key] = whole_at + self._interval_ns
        self._whole_at.move_to_end(key)
        if len(self._whole_at) > self._keys_max:
            self._whole_at.popitem(last=False)
        return 0.0

    def give_back(self, key: str) -> None:
        """Undo one `take`."""
        if key in self._whole_at:
            self._whole_at[key] -= self._interval_ns
