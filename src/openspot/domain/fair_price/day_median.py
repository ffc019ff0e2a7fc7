"""The median price of the last 24 hours, from samples by the minute. Rules without IO."""

from collections import deque

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


class DayMedian:
    """Each sample holds until the next one, so a time without samples weighs with the price before it.

    At a new market the time begins with its first sample.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[int, int]] = deque()
        self._median = 0

    def load(self, time_ms: int, price: int) -> None:
        """Append a sample that was recorded before. Older ones than the newest change nothing."""
        if not self._samples or time_ms > self._samples[-1][0]:
            self._samples.append((time_ms, price))
            self._median = 0

    @property
    def newest(self) -> tuple[int, int] | None:
        """Time and price of the newest sample; None without any."""
        return self._samples[-1] if self._samples else None

    def is_due(self, now_ms: int) -> bool:
        """Whether the minute of `now_ms` has no sample yet."""
        return not self._samples or now_ms // MINUTE_MS > self._samples[-1][0] // MINUTE_MS

    def add(self, now_ms: int, price: int) -> None:
        """Add a sample and forget the ones that ended before the day."""
        self.load(now_ms, price)
        while len(self._samples) > 1 and self._samples[1][0] <= now_ms - DAY_MS:
            self._samples.popleft()

    def median(self, now_ms: int) -> int:
        """The price below and above which the day was for as long; 0 without a sample. Made once a sample."""
        if not self._median and self._samples:
            self._median = self._computed(now_ms)
        return self._median

    def _computed(self, now_ms: int) -> int:
        since = now_ms - DAY_MS
        lengths: dict[int, int] = {}
        begins = [time_ms for time_ms, _ in self._samples]
        ends = [*begins[1:], max(now_ms, begins[-1] + 1)]
        for (begin, price), end in zip(self._samples, ends, strict=True):
            length = end - max(begin, since)
            if length > 0:
                lengths[price] = lengths.get(price, 0) + length
        if not lengths:
            return self._samples[-1][1]
        half = sum(lengths.values())
        reached = 0
        for price in sorted(lengths):
            reached += 2 * lengths[price]
            if reached >= half:
                return price
        raise AssertionError("half of the time is reached")
