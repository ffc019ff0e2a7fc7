"""/api/v1/admin/symbols and /api/v1/admin/currencies."""

from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from tests.support.engine_client import EngineClient

SYMBOLS = "/api/v1/admin/symbols"
CURRENCIES = "/api/v1/admin/currencies"
DOGE = {"currency": "DOGE", "currencyId": 50, "name": "Dogecoin", "places": 8, "logo": ""}
DOGE_USD = {
    "symbol": "DOGE-USD",
    "symbolId": 60,
    "baseCurrency": "DOGE",
    "quoteCurrency": "USD",
    "lotSize": "0.1",
    "tickSize": "0.0001",
    "takerFee": 30,
    "makerFee": -5,
}


async def create(engine: EngineClient) -> None:
    assert (await engine.request("POST", CURRENCIES, DOGE))[0] == 201
    assert (await engine.request("POST", SYMBOLS, DOGE_USD))[0] == 201


@pytest.mark.spec("A2.5-03", "A2.5-05", "B4.4-07", "B4.4-08")
async def test_a_symbol_is_created_and_traded_at_once(engine: EngineClient) -> None:
    await create(engine)
    expected = DOGE_USD | {"baseScaleK": 10, "quoteScaleK": 10_000, "active": True}
    assert await engine.request("GET", f"{SYMBOLS}/DOGE-USD") == (200, expected)
    assert expected in (await engine.request("GET", SYMBOLS))[1]
    assert expected in (await engine.request("GET", "/api/v1/markets"))[1]
    await engine.fund("alice", USD="100")
    answer = await engine.place(symbol="DOGE-USD", price=1_000, quantity=20)  # 2 at 0.1
    assert answer.status == orders_pb2.ACCEPTED
    assert (await engine.balances())["USD"].locked == "0.2"


@pytest.mark.spec("B4.4-09")
async def test_changed_fees_and_activity_of_a_symbol_apply_to_future_orders(engine: EngineClient) -> None:
    await create(engine)
    await engine.fund("alice", USD="100")
    status, body = await engine.request("PUT", f"{SYMBOLS}/DOGE-USD", {"takerFee": 40, "active": False})
    assert (status, body["takerFee"], body["makerFee"], body["active"]) == (200, 40, -5, False)
    answer = await engine.place(symbol="DOGE-USD", price=1_000, quantity=20)
    assert answer.result_code == "SYMBOL_INACTIVE"
    status, body = await engine.request("PATCH", f"{SYMBOLS}/DOGE-USD", {"active": True, "makerFee": -40})
    assert (status, body["takerFee"], body["makerFee"], body["active"]) == (200, 40, -40, True)
    assert (await engine.place(symbol="DOGE-USD", price=1_000, quantity=20)).status == orders_pb2.ACCEPTED
    assert (await engine.request("GET", f"{SYMBOLS}/DOGE-USD"))[1] == body


@pytest.mark.spec("B4.4-10", "B4.4-15")
async def test_a_symbol_with_open_orders_cannot_be_deleted(engine: EngineClient) -> None:
    await create(engine)
    await engine.fund("alice", USD="100")
    placed = await engine.place(symbol="DOGE-USD", price=1_000, quantity=20)
    status, body = await engine.request("DELETE", f"{SYMBOLS}/DOGE-USD")
    assert (status, body["code"]) == (409, "SYMBOL_HAS_OPEN_ORDERS")
    await engine.cancel(placed.order_id)
    assert (await engine.request("DELETE", f"{SYMBOLS}/DOGE-USD"))[0] == 200
    assert (await engine.request("GET", f"{SYMBOLS}/DOGE-USD"))[0] == 404
    assert (await engine.request("DELETE", f"{SYMBOLS}/DOGE-USD"))[0] == 404
    assert (await engine.place(symbol="DOGE-USD")).result_code == "INVALID_SYMBOL"
    # Its old events keep their meaning.
    assert (await engine.events(2, 2))[0]["symbol"] == "DOGE-USD"


async def test_the_number_of_a_deleted_symbol_cannot_be_given_to_another(engine: EngineClient) -> None:
    await create(engine)
    await engine.request("DELETE", f"{SYMBOLS}/DOGE-USD")
    status, body = await engine.request("POST", SYMBOLS, DOGE_USD | {"tickSize": "0.01"})
    assert (status, body["code"]) == (409, "SYMBOL_ALREADY_EXISTS")
    assert "symbolId 60" in body["message"]
    assert (await engine.request("POST", SYMBOLS, DOGE_USD | {"takerFee": 50}))[0] == 201
    assert (await engine.request("POST", SYMBOLS, DOGE_USD | {"symbolId": 61}))[0] == 409
    without_id = {name: value for name, value in DOGE_USD.items() if name != "symbolId"} | {
        "symbol": "DOGE-BRL",
        "quoteCurrency": "BRL",
    }
    assert (await engine.request("POST", SYMBOLS, without_id))[1]["symbolId"] == 61


_BAD_SYMBOLS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"symbol": "doge-usd"}, "symbol must have the format"),
    ({"symbol": "DOGEUSD"}, "symbol must have the format"),
    ({"baseCurrency": "BTC"}, "baseCurrency"),
    ({"symbolId": 0}, "symbolId"),
    ({"symbolId": 2**31}, "symbolId"),
    ({"symbolId": "x"}, "symbolId"),
    ({"lotSize": "0"}, "lotSize"),
    ({"lotSize": "-1"}, "lotSize"),
    ({"lotSize": "NaN"}, "lotSize"),
    ({"lotSize": "1e-500"}, "lotSize"),
    ({"tickSize": "1e30"}, "tickSize"),
    ({"tickSize": "0.00015", "quoteScaleK": 10_000}, "tickSize has more than 4 decimal places"),
    ({"lotSize": "0.00000001", "tickSize": "0.0000001"}, "baseScaleK × quoteScaleK"),
    ({"baseScaleK": 7}, "baseScaleK must be a power of ten"),
    ({"baseScaleK": 0}, "baseScaleK"),
    ({"quoteScaleK": -10}, "quoteScaleK"),
    ({"takerFee": -1}, "takerFee"),
    ({"takerFee": 1001}, "takerFee"),
    ({"makerFee": -31}, "makerFee"),
    ({"takerFee": 1.5}, "takerFee"),
    ({"takerFee": True}, "takerFee must be a whole number"),
    ({"symbol": "NOPE-USD", "baseCurrency": "NOPE"}, "currency: there is no 'NOPE'"),
    ({"unknown": 1}, "property unknown should not exist"),
)


async def test_an_invalid_symbol_is_refused_with_the_name_of_its_field(engine: EngineClient) -> None:
    assert (await engine.request("POST", CURRENCIES, DOGE))[0] == 201
    for change, expected in _BAD_SYMBOLS:
        status, body = await engine.request("POST", SYMBOLS, DOGE_USD | change)
        assert status == 400, (change, body)
        assert expected in str(body["message"]), (change, body)
    assert (await engine.request("POST", SYMBOLS, {"symbol": "DOGE-USD"}))[1]["message"] == [
        f"{name} is required" for name in ("lotSize", "tickSize", "takerFee", "makerFee")
    ]
    assert (await engine.request("POST", SYMBOLS, DOGE_USD))[0] == 201
    for change in ({"tickSize": "1"}, {"makerFee": -31}, {"active": "perhaps"}, {"takerFee": None, "x": 1}):
        assert (await engine.request("PATCH", f"{SYMBOLS}/DOGE-USD", change))[0] == 400, change
    assert (await engine.request("PUT", f"{SYMBOLS}/NO-SUCH", {}))[0] == 404


@pytest.mark.spec("B4.4-11", "B4.4-12", "B4.4-13", "B4.4-14")
async def test_a_currency_is_created_read_changed_and_deleted(engine: EngineClient) -> None:
    assert await engine.request("POST", CURRENCIES, DOGE) == (201, DOGE)
    assert await engine.request("GET", f"{CURRENCIES}/DOGE") == (200, DOGE)
    assert DOGE in (await engine.request("GET", CURRENCIES))[1]
    changed = DOGE | {"places": 6}
    assert await engine.request("PATCH", f"{CURRENCIES}/DOGE", {"places": 6}) == (200, changed)
    assert await engine.request("PUT", f"{CURRENCIES}/DOGE", {"name": "Doge"}) == (200, changed | {"name": "Doge"})
    assert (await engine.request("DELETE", f"{CURRENCIES}/DOGE"))[0] == 200
    assert (await engine.request("GET", f"{CURRENCIES}/DOGE"))[0] == 404
    assert (await engine.request("DELETE", f"{CURRENCIES}/DOGE"))[0] == 404


async def test_a_currency_in_use_cannot_be_deleted_and_keeps_its_number(engine: EngineClient) -> None:
    assert (await engine.request("DELETE", f"{CURRENCIES}/BTC"))[1]["code"] == "CURRENCY_IN_USE"
    await engine.request("POST", CURRENCIES, DOGE)
    await engine.fund("alice", DOGE="1")
    assert (await engine.request("DELETE", f"{CURRENCIES}/DOGE"))[1]["code"] == "CURRENCY_IN_USE"
    for body, code in (
        (DOGE, "CURRENCY_ALREADY_EXISTS"),
        ({"currency": "PEPE", "currencyId": 50}, "CURRENCY_ALREADY_EXISTS"),
    ):
        status, answer = await engine.request("POST", CURRENCIES, body)
        assert (status, answer["code"]) == (409, code)
    for body, expected in (
        ({"currency": "pepe"}, "currency"),
        ({"currency": "PEPE", "places": 19}, "places"),
        ({"currency": "PEPE", "places": -1}, "places"),
        ({"currency": "PEPE", "name": ""}, "name"),
        ({"currency": "PEPE", "currencyId": -1}, "currencyId"),
        ({}, "currency is required"),
    ):
        status, answer = await engine.request("POST", CURRENCIES, body)
        assert status == 400, body
        assert expected in str(answer["message"])
    assert (await engine.request("POST", CURRENCIES, {"currency": "PEPE"}))[1]["currencyId"] == 51
