"""The order book that a client of the venue keeps, by the rules that Binance publishes for it."""

from collections.abc import Iterable
from itertools import islice

from openspot.venue_simulator.book import Book
from openspot.venue_simulator.events import TimelineEvent


class ClientBook:
    """Follows the depth updates of one market and fails at a gap."""

    def __init__(self, first: Book) -> None:
        self.book = first
        self._last_id: int | None = None
        self.updates = 0

    def take(self, event: TimelineEvent) -> None:
        """Take an update: the first one holds the snapshot's id, each later one follows on the last."""
        data = event.data
        if self._last_id is None:
            if data["u"] <= self.book.update_id:
                return
            assert data["U"] <= self.book.update_id + 1, "the first update does not follow on the snapshot"
        else:
            assert data["U"] == self._last_id + 1, f"updates {self._last_id + 1} to {data['U'] - 1} are missing"
        self.book.apply(data)
        self._last_id = data["u"]
        self.updates += 1


def first(events: Iterable[TimelineEvent], count: int) -> list[TimelineEvent]:
    """The first events of an endless timeline."""
    return list(islice(events, count))
