"""Several sources as one: recorded markets beside invented ones."""

import heapq
from collections.abc import Iterator, Sequence

from openspot.domain.market import MarketSeed
from openspot.venue_simulator.book import Book
from openspot.venue_simulator.events import EventSource, TimelineEvent, market_id


class MergedSource:
    """The events of all `sources` in order of time. No market may be in two of them."""

    def __init__(self, sources: Sequence[EventSource]) -> None:
        self._sources = {market_id(market): source for source in sources for market in source.markets}
        self._all = tuple(sources)
        self.markets: tuple[MarketSeed, ...] = tuple(market for source in sources for market in source.markets)

    def first_book(self, market_id: str) -> Book:
        """The order book of a market before the first event."""
        return self._sources[market_id].first_book(market_id)

    def events(self) -> Iterator[TimelineEvent]:
        """The timeline. It ends with the longest one."""
        return heapq.merge(*(source.events() for source in self._all), key=lambda event: event.at_ns)
