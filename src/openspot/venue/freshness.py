"""Whether ticks still come. The adapter's health depends on it."""


class Freshness:
    """The time of the last tick, and the rule that makes the venue stale. Times are seconds of one clock."""

    def __init__(self, stale_s: float) -> None:
        self._stale_s = stale_s
        self._last_tick: float | None = None

    def note_tick(self, now: float) -> None:
        """Note that a tick came at `now`."""
        self._last_tick = now

    def silence_s(self, now: float, since: float) -> float:
        """Seconds without a tick, counted from `since` at the earliest."""
        return now - max(since, self._last_tick if self._last_tick is not None else since)

    def left_s(self, now: float, since: float) -> float:
        """Seconds until the silence has lasted for the set time; 0 once it has."""
        return max(0.0, self._stale_s - self.silence_s(now, since))

    def problem(self, now: float) -> str | None:
        """The reason why the venue's prices are stale; None while they are fresh."""
        if self._last_tick is None:
            return "no tick has come yet"
        age_s = now - self._last_tick
        return f"no tick for {age_s:.1f} s" if age_s >= self._stale_s else None
