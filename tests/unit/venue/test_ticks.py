"""The payloads' fields, from ticks as the library parses them."""

from typing import Any

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.kit.bus import encode
from openspot.venue.ticks import TickError, Trade, VenueQuote, quote_of, trade_of

TICKER: dict[str, Any] = {
    "symbol": "BTC/USDT",
    "bid": "61837.63000000",
    "bidVolume": "3.78826000",
    "ask": "61837.64000000",
    "askVolume": "1.54698000",
    "timestamp": 1723161255342,
}
TRADE: dict[str, Any] = {
    "symbol": "BTC/USDT",
    "price": "61837.63000000",
    "amount": "0.02000000",
    "id": "3735683259",
    "side": "sell",
    "timestamp": 1723161255342,
}


def test_numbers_stay_as_the_venue_wrote_them() -> None:
    assert quote_of(TICKER) == VenueQuote("61837.63000000", "3.78826000", "61837.64000000", "1.54698000", 1723161255342)
    assert trade_of(TRADE) == Trade("61837.63000000", "0.02000000", "3735683259", 1723161255342, True)


@pytest.mark.parametrize(("side", "buyer_is_maker"), [("sell", True), ("buy", False)])
def test_the_taker_sold_if_the_buyer_was_the_maker(side: str, buyer_is_maker: bool) -> None:
    assert trade_of(TRADE | {"side": side}).buyer_is_maker is buyer_is_maker


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1e-05", "0.00001"),
        ("2.50E3", "2500"),
        ("+3.5", "3.5"),
        (".5", "0.5"),
        (1e-7, "0.0000001"),
        (61837.63, "61837.63"),
        (3, "3"),
        ("000123.4500", "000123.4500"),
    ],
)
def test_other_ways_to_write_a_number_become_plain_text(value: Any, text: str) -> None:
    assert trade_of(TRADE | {"price": value}).price == text


@pytest.mark.parametrize("field", ["bid", "bidVolume", "ask", "askVolume"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "is missing"),
        ("", "is not a decimal number"),
        ("none", "is not a decimal number"),
        ("NaN", "is not a decimal number"),
        (float("inf"), "is not a decimal number"),
        ("1,5", "is not a decimal number"),
        ("0", "must be positive"),
        ("0.00000000", "must be positive"),
        ("0e5", "must be positive"),
        ("-1.5", "must be positive"),
        ("1" * 90, "is too long"),
    ],
)
def test_a_quote_without_a_usable_number_names_the_field_and_the_reason(field: str, value: Any, reason: str) -> None:
    with pytest.raises(TickError, match=f"{field} {reason}"):
        quote_of(TICKER | {field: value})


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("price", None, "price is missing"),
        ("amount", "0.0", "amount must be positive"),
        ("id", None, "id is missing"),
        ("id", "", "id is missing"),
        ("id", "9" * 101, "id is missing or too long"),
        ("side", None, "side is missing"),
        ("side", "hold", "side is missing"),
        ("timestamp", None, "timestamp is missing"),
        ("timestamp", 1.5, "timestamp is missing"),
    ],
)
def test_a_trade_without_a_usable_field_names_it(field: str, value: Any, reason: str) -> None:
    with pytest.raises(TickError, match=reason):
        trade_of(TRADE | {field: value})


@pytest.mark.parametrize("timestamp", [None, "1723161255342", 1.5])
def test_a_quote_needs_no_time_of_the_venue(timestamp: Any) -> None:
    assert quote_of(TICKER | {"timestamp": timestamp}).timestamp is None


@pytest.mark.spec("A6.1-23", "A6.1-24", "A6.1-25")
def test_payloads_and_subjects_have_the_names_of_the_specification() -> None:
    quote = VenueBookTicker("binance", "BTC-USDT", "1.10", "2.20", "3.30", "4.40", 5)
    trade = VenueTrade("binance", "BTC-USDT", "1.10", "2.20", "77", 5, True)
    assert encode(quote) == (
        b'{"venue":"binance","symbol":"BTC-USDT","bidPrice":"1.10","bidQty":"2.20","askPrice":"3.30","askQty":"4.40",'
        b'"timestamp":5}'
    )
    assert encode(trade) == (
        b'{"venue":"binance","symbol":"BTC-USDT","price":"1.10","quantity":"2.20","tradeId":"77","timestamp":5,'
        b'"buyerIsMaker":true}'
    )
    assert subjects.of_venue("binance", "bookTicker", "BTC-USDT") == "venue.binance.bookTicker.BTC-USDT"
