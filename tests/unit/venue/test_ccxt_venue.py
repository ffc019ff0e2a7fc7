"""The library's exchange objects as the adapter opens them: each tick is handed on, and no digit is lost."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from openspot.venue.ccxt_venue import (
    KEEP_ALIVE_MS,
    TickCache,
    TickSink,
    VenueSettingError,
    WrittenNumber,
    decode_frame,
    load_exchange_class,
    open_exchange,
    parse_config,
)
from openspot.venue.ticks import quote_of, trade_of

KRAKEN_TRADE = """{"channel":"trade","type":"update","data":[
 {"symbol":"BTC/USD","side":"sell","price":64000.1234567890123456,"qty":0.00000010,"ord_type":"market",
  "trade_id":4665846,"timestamp":"2026-01-25T07:48:36.925533Z"},
 {"symbol":"BTC/USD","side":"buy","price":64000.10,"qty":1.5e-07,"ord_type":"market",
  "trade_id":4665847,"timestamp":"2026-01-25T07:48:36.925540Z"}]}"""
BINANCE_QUOTE = '{"u":1,"s":"BTCUSDT","b":"61837.63000000","B":"3.78826000","a":"61837.64000000","A":"1.54698000"}'
BINANCE_TRADE = (
    '{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000","q":"0.02000000",'
    '"T":1723161255342,"m":true,"M":true}'
)


class Heard:
    """What an exchange handed on."""

    def __init__(self) -> None:
        self.quotes: list[Any] = []
        self.trades: list[Any] = []
        self.unreadable: list[str | bytes] = []
        self.ends: list[str] = []
        self.sink = TickSink(
            self.quotes.append, self.trades.append, lambda frame, _: self.unreadable.append(frame), self.ends.append
        )


@asynccontextmanager
async def opened(
    venue: str, symbol: str, market_id: str, url: str, config: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Any, Callable[[str | bytes], None], Heard]]:
    """An exchange with one market, a function that gives its connection a frame, and what it handed on."""
    heard = Heard()
    exchange: Any = open_exchange(load_exchange_class(venue), config or {}, heard.sink)
    base, quote = symbol.split("/")
    market = {"id": market_id, "symbol": symbol, "base": base, "quote": quote, "type": "spot", "spot": True}
    exchange.set_markets([exchange.safe_market_structure(market | {"info": {"wsname": symbol}})])
    try:
        client = exchange.client(url)
        yield exchange, client.handle_text_or_binary_message, heard
    finally:
        await exchange.close()


async def test_texts_of_a_venue_stay_texts() -> None:
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0") as (_, give, heard):
        give(BINANCE_QUOTE)
        give(BINANCE_TRADE.encode())
    [quote], [trade] = heard.quotes, heard.trades
    assert quote_of(quote)[:4] == ("61837.63000000", "3.78826000", "61837.64000000", "1.54698000")
    assert trade_of(trade) == ("61837.63000000", "0.02000000", "3735683259", 1723161255342, True)
    assert heard.unreadable == []


async def test_numbers_that_a_venue_sends_without_quotes_keep_every_digit() -> None:
    async with opened("kraken", "BTC/USD", "XXBTZUSD", "wss://venue/v2") as (_, give, heard):
        give(KRAKEN_TRADE)
    assert heard.unreadable == []
    first, second = (trade_of(trade) for trade in heard.trades)
    assert (first.price, first.quantity) == ("64000.1234567890123456", "0.00000010")
    assert (second.price, second.quantity) == ("64000.10", "0.00000015")
    assert [first.buyer_is_maker, second.buyer_is_maker] == [True, False]


async def test_every_quote_is_handed_on_where_a_user_of_the_library_sees_the_newest() -> None:
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0") as (exchange, give, heard):
        for number in range(1, 6):
            give(json.dumps(json.loads(BINANCE_QUOTE) | {"B": f"{number}.5"}))
        assert exchange.bidsasks["BTC/USDT"]["bidVolume"] == "5.5"
    assert [quote["bidVolume"] for quote in heard.quotes] == ["1.5", "2.5", "3.5", "4.5", "5.5"]


@pytest.mark.parametrize(
    "frame", [b"\xff\xfe\x00", "{", '{"e":"trade","E":', "[", '["x"', '{"e":"trade","s":5,"t":[],"T":"x","p":{}}']
)
async def test_a_frame_that_cannot_be_read_does_not_end_the_reading(frame: str | bytes) -> None:
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0") as (_, give, heard):
        give(frame)
        give(BINANCE_TRADE)
    assert [trade["id"] for trade in heard.trades][-1] == "3735683259"
    if not str(frame).startswith('{"e":"trade","s"'):
        assert heard.unreadable == [frame]


async def test_the_end_of_a_connection_is_told() -> None:
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0") as (exchange, _, heard):
        client = exchange.client("wss://venue/stream/0")
        client.on_close(1001)
        client.on_error(OSError("gone"))
    assert heard.ends == ["connection closed with code 1001", "OSError: gone"]


async def test_an_exchange_is_opened_for_spot_markets_with_the_users_settings_over_ours() -> None:
    config = {"urls": {"api": {"public": "http://127.0.0.1:1/x"}}, "options": {"tradesLimit": 5}, "number": float}
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0", config) as (exchange, _, _):
        assert exchange.urls["api"]["public"] == "http://127.0.0.1:1/x"
        assert exchange.urls["api"]["ws"]["spot"].startswith("wss://")
        assert exchange.options["tradesLimit"] == 5
        assert exchange.options["fetchMarkets"]["types"] == ["spot"]
        assert exchange.has["fetchCurrencies"] is False
        assert exchange.number is str
        assert exchange.streaming["keepAlive"] <= KEEP_ALIVE_MS
    types = {"options": {"fetchMarkets": {"types": ["spot", "linear"]}}}
    async with opened("binance", "BTC/USDT", "BTCUSDT", "wss://venue/stream/0", types) as (exchange, _, _):
        assert exchange.options["fetchMarkets"]["types"] == ["spot", "linear"]


def test_a_venue_that_the_library_does_not_have_is_named() -> None:
    for name in ("atlantis", "Exchange", "__init__"):
        with pytest.raises(VenueSettingError, match=f"no venue '{name}'"):
            load_exchange_class(name)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ccxt.pro", None)
    with pytest.raises(VenueSettingError, match=r"`make venue`, or install openspot\[venue\]"):
        load_exchange_class("binance")


@pytest.mark.parametrize(("text", "config"), [("", {}), ("  ", {}), ('{"timeout": 5}', {"timeout": 5})])
def test_a_configuration_is_read(text: str, config: dict[str, Any]) -> None:
    assert parse_config(text) == config


@pytest.mark.parametrize("text", ["{", "[]", "5", "null", "urls=x"])
def test_a_configuration_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(VenueSettingError, match="OPENSPOT_VENUE_CONFIG"):
        parse_config(text)


def test_a_written_number_is_a_number_and_remembers_its_text() -> None:
    [number] = decode_frame("[0.1000]")
    assert isinstance(number, WrittenNumber)
    assert str(number) == repr(number) == f"{number!s}" == "0.1000"
    assert number == 0.1
    assert number + 1 == 1.1


def test_a_list_of_trades_hands_on_what_it_holds_and_what_is_appended_each_once() -> None:
    heard: list[Any] = []
    cache = TickCache(heard.append)
    first: list[Any] = [{"id": "1"}]

    class Trades(list[Any]):
        """As the library's lists of trades: with room for attributes."""

    trades = Trades(first)
    cache["A/B"] = trades
    trades.append({"id": "2"})
    cache["A/B"] = trades
    trades.append({"id": "3"})
    assert [trade["id"] for trade in heard] == ["1", "2", "3"]
    assert cache["A/B"] is trades
    assert [trade["id"] for trade in trades] == ["1", "2", "3"]
    assert cache.stored == 3
