"""Chooses the library's methods for a venue's ticks, because venues differ in what they stream."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openspot.venue.ticks import Tick


class NoSourceError(ValueError):
    """The venue streams nothing that gives these ticks."""


@dataclass(frozen=True, slots=True)
class TickSource:
    """One method of the library; `feature` is its name in the library's table of what each venue has.

    With `takes_all` one call subscribes to all symbols, otherwise each symbol needs a call. `cache` is the attribute in
    which the library stores each tick before it returns the newest; empty if it stores none.
    """

    feature: str
    method: str
    takes_all: bool
    cache: str


QUOTE_SOURCES = (
    TickSource("watchBidsAsks", "watch_bids_asks", True, "bidsasks"),
    TickSource("watchTickers", "watch_tickers", True, "tickers"),
    TickSource("watchTicker", "watch_ticker", False, "tickers"),
    TickSource("watchOrderBook", "watch_order_book", False, ""),
)
"""Best first. An order book shows only its newest state, so quotes in between are missed."""
TRADE_SOURCES = (
    TickSource("watchTradesForSymbols", "watch_trades_for_symbols", True, "trades"),
    TickSource("watchTrades", "watch_trades", False, "trades"),
)


def choose(sources: tuple[TickSource, ...], features: Mapping[str, Any]) -> TickSource:
    """The first of `sources` that the venue has. Raises NoSourceError if it has none."""
    for source in sources:
        if features.get(source.feature):
            return source
    raise NoSourceError(f"the venue streams none of {', '.join(source.feature for source in sources)}")


def quotes_in(result: Any) -> Iterator[Tick]:
    """The tickers in the result of a quote source, which is a ticker, tickers by symbol, or an order book."""
    if "bids" in result:
        yield _top_of(result)
    elif "symbol" in result:
        yield result
    else:
        yield from result.values()


def _top_of(book: Mapping[str, Any]) -> Tick:
    top: dict[str, Any] = {"symbol": book.get("symbol"), "timestamp": book.get("timestamp")}
    for side, price, quantity in (("bids", "bid", "bidVolume"), ("asks", "ask", "askVolume")):
        levels = book[side]
        top[price], top[quantity] = levels[0][:2] if len(levels) else (None, None)
    return top
