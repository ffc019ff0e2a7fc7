"""Which fair prices to publish. Those that have not changed come again only so often that nobody thinks them stale."""

from collections.abc import Callable, Iterable

import msgspec

from openspot.contracts.messages import FairPriceEvent

UNCHANGED_S = 3.0
"""A price that has not changed is published this often. Its receivers wait three times as long before it is stale."""


class UnchangedPrices:
    """What was published last, by symbol. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._published: dict[str, tuple[FairPriceEvent, float]] = {}

    def due(self, events: Iterable[FairPriceEvent]) -> list[FairPriceEvent]:
        """The events that are to be published now: those that say something new, and those that are due again."""
        now, found = self._monotonic(), list[FairPriceEvent]()
        for event in events:
            timeless = msgspec.structs.replace(event, timestamp=0)
            before, at = self._published.get(event.symbol, (None, 0.0))
            if timeless != before or now - at >= UNCHANGED_S:
                self._published[event.symbol] = (timeless, now)
                found.append(event)
        return found
