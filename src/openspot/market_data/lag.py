"""How far the leader is behind the engine, and since when. Pure: the caller passes the time in."""


class Lag:
    """The events that the engine has sent and the leader has not applied.

    Times are seconds of one monotonic clock. The leader is current while it catches up within `stale_s`.
    """

    def __init__(self, stale_s: float) -> None:
        self._stale_s = stale_s
        self._events = 0
        self._behind_since: float | None = None

    def note(self, events: int, now_s: float) -> None:
        """Note how many events are not applied at `now_s`."""
        self._events = events
        if not events:
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = now_s

    def fault(self, now_s: float) -> str | None:
        """Why market data is not current at `now_s`; None if it is."""
        if self._behind_since is None:
            return None
        behind_s = now_s - self._behind_since
        if behind_s <= self._stale_s:
            return None
        return f"{self._events} events behind the engine, for {behind_s:.0f} s"
