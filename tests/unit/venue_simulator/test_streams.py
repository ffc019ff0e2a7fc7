"""The simulated venue's WebSocket protocol."""

import json

import pytest

from openspot.domain.market import load_markets
from openspot.venue_simulator.events import market_id
from openspot.venue_simulator.streams import (
    STREAMS_MAX,
    RequestError,
    carry_out,
    error_reply,
    exchange_info,
    streams_of_path,
)


def request(method: str, *names: str, number: int = 5) -> str:
    return json.dumps({"method": method, "params": list(names), "id": number})


def test_subscribing_and_unsubscribing_are_answered_with_the_requests_id() -> None:
    streams: set[str] = set()
    assert json.loads(carry_out(request("SUBSCRIBE", "btcusdt@trade", "btcusdt@bookTicker"), streams)) == {
        "result": None,
        "id": 5,
    }
    assert streams == {"btcusdt@trade", "btcusdt@bookTicker"}
    assert json.loads(carry_out(request("LIST_SUBSCRIPTIONS"), streams))["result"] == [
        "btcusdt@bookTicker",
        "btcusdt@trade",
    ]
    carry_out(request("UNSUBSCRIBE", "btcusdt@trade", "ethusdt@trade"), streams)
    assert streams == {"btcusdt@bookTicker"}


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        ("{", 3, "Invalid JSON"),
        ("[]", 2, "not an object"),
        ('{"id":1}', 2, "unknown method None"),
        ('{"method":"BUY","id":1}', 2, "unknown method 'BUY'"),
        ('{"method":"SUBSCRIBE","id":1}', 2, "params"),
        ('{"method":"SUBSCRIBE","params":[],"id":1}', 2, "params"),
        ('{"method":"SUBSCRIBE","params":[7],"id":1}', 2, "params"),
        ('{"method":"SUBSCRIBE","params":["btcusdt@trade","btcusdt@kline_1m"],"id":1}', 2, "'btcusdt@kline_1m'"),
        ('{"method":"SUBSCRIBE","params":["BTCUSDT@trade"],"id":1}', 2, "'BTCUSDT@trade'"),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(text: str, code: int, reason: str) -> None:
    streams = {"ethusdt@trade"}
    with pytest.raises(RequestError, match=reason) as caught:
        carry_out(text, streams)
    assert caught.value.code == code
    assert streams == {"ethusdt@trade"}
    reply = json.loads(error_reply(caught.value))
    assert reply["error"]["code"] == code
    assert reply["id"] == (1 if '"id":1' in text else None)


def test_a_connection_has_a_bounded_number_of_streams() -> None:
    streams = {f"a{number}@trade" for number in range(STREAMS_MAX)}
    carry_out(request("SUBSCRIBE", "a1@trade"), streams)
    with pytest.raises(RequestError, match="more than 1024 streams"):
        carry_out(request("SUBSCRIBE", "btcusdt@trade"), streams)
    assert len(streams) == STREAMS_MAX


def test_an_address_may_name_streams() -> None:
    assert streams_of_path("btcusdt@trade/ethusdt@bookTicker", "") == {"btcusdt@trade", "ethusdt@bookTicker"}
    assert streams_of_path("", "btcusdt@trade/btcusdt@depth@100ms") == {"btcusdt@trade", "btcusdt@depth@100ms"}
    assert streams_of_path("0", "") == set()


def test_the_market_list_has_every_market_with_its_steps() -> None:
    markets = load_markets()
    body = exchange_info(markets.seeds, markets.limits, 7)
    assert body["serverTime"] == 7
    assert {symbol["symbol"] for symbol in body["symbols"]} == {market_id(seed) for seed in markets.seeds}
    bitcoin = next(symbol for symbol in body["symbols"] if symbol["symbol"] == "BTCUSDT")
    assert (bitcoin["baseAsset"], bitcoin["quoteAsset"], bitcoin["status"]) == ("BTC", "USDT", "TRADING")
    filters = {each["filterType"]: each for each in bitcoin["filters"]}
    assert filters["PRICE_FILTER"]["tickSize"] == "0.01"
    assert filters["LOT_SIZE"]["stepSize"] == "0.00000001"
    assert filters["NOTIONAL"]["minNotional"] == "1"
