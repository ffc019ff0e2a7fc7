"""Which method of the library gives a venue's ticks."""

from typing import Any

import pytest

from openspot.venue.sources import QUOTE_SOURCES, TRADE_SOURCES, NoSourceError, choose, quotes_in


@pytest.mark.parametrize(
    ("features", "method"),
    [
        ({"watchBidsAsks": True, "watchTickers": True, "watchTicker": True, "watchOrderBook": True}, "watch_bids_asks"),
        ({"watchBidsAsks": False, "watchTickers": True, "watchTicker": True}, "watch_tickers"),
        ({"watchBidsAsks": None, "watchTicker": True, "watchOrderBook": True}, "watch_ticker"),
        ({"watchOrderBook": True}, "watch_order_book"),
        ({"watchOrderBook": "emulated"}, "watch_order_book"),
    ],
)
def test_the_best_source_of_quotes_is_taken(features: dict[str, Any], method: str) -> None:
    assert choose(QUOTE_SOURCES, features).method == method


@pytest.mark.parametrize(
    ("features", "method"),
    [
        ({"watchTradesForSymbols": True, "watchTrades": True}, "watch_trades_for_symbols"),
        ({"watchTrades": True}, "watch_trades"),
    ],
)
def test_the_best_source_of_trades_is_taken(features: dict[str, Any], method: str) -> None:
    assert choose(TRADE_SOURCES, features).method == method


def test_a_venue_without_a_source_is_told_what_it_lacks() -> None:
    with pytest.raises(NoSourceError, match="watchTradesForSymbols, watchTrades"):
        choose(TRADE_SOURCES, {"watchTicker": True})


def test_quotes_are_found_in_a_ticker_in_several_and_in_an_order_book() -> None:
    ticker = {"symbol": "A/B", "bid": "1", "ask": "2"}
    assert list(quotes_in(ticker)) == [ticker]
    assert list(quotes_in({"A/B": ticker, "C/D": ticker})) == [ticker, ticker]
    book = {"symbol": "A/B", "timestamp": 5, "bids": [["1", "10"], ["0.9", "1"]], "asks": [["2", "20", 7]]}
    assert list(quotes_in(book)) == [
        {"symbol": "A/B", "timestamp": 5, "bid": "1", "bidVolume": "10", "ask": "2", "askVolume": "20"}
    ]
    [empty] = quotes_in({"symbol": "A/B", "bids": [], "asks": [["2", "20"]]})
    assert (empty["bid"], empty["bidVolume"], empty["ask"]) == (None, None, "2")
