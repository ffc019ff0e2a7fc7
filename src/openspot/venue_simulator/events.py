"""A venue's messages on a timeline. They are stamped with the current time when they are sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from openspot.domain.market import MarketSeed
from openspot.venue_simulator.book import Book

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A message of one stream, `at_ns` nanoseconds after the start of the timeline."""

    at_ns: int
    stream: str
    data: Data


class EventSource(Protocol):
    """A source of events."""

    @property
    def markets(self) -> Sequence[MarketSeed]:
        """The markets that have events."""
        ...

    def first_book(self, market_id: str) -> Book:
        """The order book of a market before the first event."""
        ...

    def events(self) -> Iterator[TimelineEvent]:
        """The timeline, in order of time."""
        ...


def market_id(market: MarketSeed) -> str:
    """The venue's name of a market: `BTCUSDT`."""
    return market.base + market.quote


def stamped(data: Data, now_ms: int) -> Data:
    """The message as it is sent now: event time `E` is now, and trade time `T` keeps its distance from `E`."""
    if "E" not in data:
        return data
    if "T" in data:
        return data | {"E": now_ms, "T": now_ms - (data["E"] - data["T"])}
    return data | {"E": now_ms}
