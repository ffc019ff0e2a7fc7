"""The prices that the bots trade around. The simulated venue's generator invents them in this process."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from openspot.domain.market import MarketSeed
from openspot.venue_simulator.events import TimelineEvent, market_id
from openspot.venue_simulator.generator import Generator

CATCH_UP_NS = 10_000_000_000
"""If the process paused for longer, the timeline goes on where it stopped. It does not play what was missed."""
NANOSECONDS_PER_S = 1_000_000_000


class SimulatedPrices:
    """The middle of best bid and best ask of each market, on a timeline that `advance` plays."""

    def __init__(self, seeds: Sequence[MarketSeed], seed: int, quotes_per_s: float, start: Mapping[str, float]) -> None:
        """`start` is the generator's `distances`: where the price of each asset begins."""
        generator = Generator(seed, seeds, quotes_per_s, start)
        self._symbols = {f"{market_id(market).lower()}@bookTicker": market.symbol for market in seeds}
        self._mids = {market.symbol: _first_mid(generator, market) for market in seeds}
        self._events: Iterator[TimelineEvent] = generator.events()
        self._next = next(self._events)
        self._played_ns = 0
        self._skipped_ns = 0

    @property
    def mids(self) -> Mapping[str, Decimal]:
        """The newest middle price by symbol."""
        return self._mids

    def advance(self, elapsed_s: float) -> None:
        """Play all events until `elapsed_s` seconds after the start."""
        until_ns = int(elapsed_s * NANOSECONDS_PER_S) - self._skipped_ns
        missed_ns = until_ns - self._played_ns
        if missed_ns > CATCH_UP_NS:
            self._skipped_ns += missed_ns - CATCH_UP_NS
            until_ns -= missed_ns - CATCH_UP_NS
        self._played_ns = until_ns
        while self._next.at_ns <= until_ns:
            symbol = self._symbols.get(self._next.stream)
            if symbol is not None:
                quote = self._next.data
                self._mids[symbol] = (Decimal(quote["b"]) + Decimal(quote["a"])) / 2
            self._next = next(self._events)


def usual_prices(seeds: Sequence[MarketSeed]) -> dict[str, Decimal]:
    """The middle price of each market, by symbol, before any asset has moved. It never changes."""
    generator = Generator(0, seeds)
    return {market.symbol: _first_mid(generator, market) for market in seeds}


def _first_mid(generator: Generator, market: MarketSeed) -> Decimal:
    best = generator.first_book(market_id(market)).snapshot(1)
    return (Decimal(best["bids"][0][0]) + Decimal(best["asks"][0][0])) / 2
