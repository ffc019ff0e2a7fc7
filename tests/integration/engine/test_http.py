"""The engine's HTTP interface: markets, order book, deposit, balances, health."""

import json

import pytest

from tests.support.engine_client import EngineClient

MARKETS = [
    *("BTC-USD", "ETH-USD", "SOL-USD", "BTC-BRL", "ETH-BRL", "SOL-BRL"),
    *("ETH-BTC", "BTC-USDT", "ETH-USDT", "SOL-USDT", "USDT-USD", "USDC-USD"),
]
DEPOSIT = "/api/v1/accounts/deposit"
BALANCES = "/api/v1/balances"


@pytest.mark.spec("A1.1-09", "A2.5-02", "B4.4-01")
async def test_a_new_engine_lists_the_twelve_markets(engine: EngineClient) -> None:
    status, markets = await engine.request("GET", "/api/v1/markets", headers={})
    assert status == 200
    assert [market["symbol"] for market in markets] == MARKETS
    assert markets[0] == {
        "symbol": "BTC-USD",
        "symbolId": 1,
        "baseCurrency": "BTC",
        "quoteCurrency": "USD",
        "baseScaleK": 100_000_000,
        "quoteScaleK": 100,
        "tickSize": "0.01",
        "lotSize": "0.00000001",
        "takerFee": 25,
        "makerFee": 15,
        "active": True,
    }


@pytest.mark.spec("B4.4-02")
async def test_the_order_book_is_current_and_needs_no_headers(engine: EngineClient) -> None:
    await engine.fund()
    path = "/api/v1/marketdata/orderbook/BTC-USD"
    assert (await engine.request("GET", path, headers={}))[1]["bids"] == []
    await engine.place("buy", "99.5", "1.25")
    await engine.place("buy", "98", "1")
    await engine.place("sell", "101", "2")
    status, book = await engine.request("GET", path, headers={})
    assert status == 200
    assert (book["symbol"], book["bids"], book["asks"]) == ("BTC-USD", [["99.5", "1.25"], ["98", "1"]], [["101", "2"]])
    assert book["sequence"] == await engine.last_sequence()
    assert book["timestamp"] > 1_600_000_000_000
    assert (await engine.request("GET", path + "?depth=1"))[1]["bids"] == [["99.5", "1.25"]]


async def test_a_bad_order_book_request_names_the_field(engine: EngineClient) -> None:
    status, body = await engine.request("GET", "/api/v1/marketdata/orderbook/NO-SUCH")
    assert (status, body["statusCode"], body["error"], body["code"]) == (404, 404, "Not Found", "INVALID_SYMBOL")
    for depth in ("0", "-1", "x", "", "1.5", "99999", "1e3", "٣"):
        status, body = await engine.request("GET", f"/api/v1/marketdata/orderbook/BTC-USD?depth={depth}")
        assert (status, body["statusCode"]) == (400, 400), depth
        assert body["code"] == "VALIDATION_FAILED"
        assert body["message"][0].startswith("depth must be")


@pytest.mark.spec("B4.4-03", "B4.4-05")
async def test_a_deposit_credits_and_its_reference_credits_once(engine: EngineClient) -> None:
    body = {"participantId": "alice", "currency": "USD", "amount": "100.25", "reference": "tx-1"}
    for _ in range(2):
        status, answer = await engine.request("POST", DEPOSIT, body)
        assert (status, answer) == (200, {"success": True, "resultCode": "SUCCESS", "balance": "100.25"})
    status, answer = await engine.request("POST", DEPOSIT, body | {"amount": "1"})
    assert (status, answer["code"]) == (409, "REFERENCE_CONFLICT")
    # A JSON number is read exactly as written, not as a float.
    raw = b'{"participantId": "alice", "currency": "USD", "amount": 0.100000000000000001}'
    assert (await engine.request("POST", DEPOSIT, raw))[1]["balance"] == "100.350000000000000001"


_BAD_DEPOSITS: tuple[tuple[object, str], ...] = (
    ({"amount": "0"}, "amount"),
    ({"amount": "-1"}, "amount"),
    ({"amount": "NaN"}, "amount"),
    ({"amount": "abc"}, "amount"),
    ({"amount": "1e999"}, "amount"),
    ({"amount": "0.0000000000000000001"}, "amount"),
    ({"amount": None}, "amount"),
    ({"amount": True}, "amount"),
    ({"amount": ["1"]}, "amount"),
    ({"currency": "DOGE"}, "currency"),
    ({"currency": 5}, "currency"),
    ({"participantId": "a b"}, "participantId"),
    ({"participantId": ""}, "participantId"),
    ({"participantId": "house:fees"}, "participantId"),
    ({"reference": "x" * 257}, "reference"),
    ({"extra": 1}, "property extra should not exist"),
)


async def test_an_invalid_deposit_is_refused_with_the_name_of_its_field(engine: EngineClient) -> None:
    good = {"participantId": "alice", "currency": "USD", "amount": "1"}
    for change, expected in _BAD_DEPOSITS:
        status, body = await engine.request("POST", DEPOSIT, good | change)
        assert (status, body["statusCode"], body["error"]) == (400, 400, "Bad Request"), (change, body)
        assert expected in str(body["message"]), (change, body)
    missing = {name: value for name, value in good.items() if name != "amount"}
    assert (await engine.request("POST", DEPOSIT, missing))[1]["message"] == ["amount is required"]
    for raw in (b"", b"{", b"[]", b"\xff\xfe", b"[" * 5000, b'"x"', b"1" * 20_000):
        status, body = await engine.request("POST", DEPOSIT, raw)
        assert status == 400, raw[:20]
        assert body["code"] in ("MALFORMED_JSON", "VALIDATION_FAILED"), raw[:20]
    status, body = await engine.request(
        "POST", DEPOSIT, json.dumps(good).encode(), engine.headers | {"Content-Type": "text/plain"}
    )
    assert (status, body["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert (await engine.request("GET", BALANCES))[1] == {"balances": []}


@pytest.mark.spec("A5-21", "A5-22", "B4.4-04")
async def test_routes_for_money_and_symbols_require_the_service_headers(engine: EngineClient) -> None:
    good = engine.headers
    body = {"participantId": "alice", "currency": "USD", "amount": "1"}
    for headers in (
        {},
        good | {"x-api-key": "wrong"},
        good | {"x-api-secret": "wrong"},
        good | {"x-api-secret": ""},
        good | {"x-participant-type": "TAKER"},
        {name: value for name, value in good.items() if name != "x-participant-type"},
    ):
        for method, path, content in (
            ("POST", DEPOSIT, body),
            ("GET", BALANCES, None),
            ("GET", "/api/v1/admin/symbols", None),
            ("POST", "/api/v1/admin/currencies", {}),
            ("DELETE", "/api/v1/admin/symbols/BTC-USD", None),
        ):
            status, answer = await engine.request(method, path, content, headers)
            assert (status, answer["code"]) == (401, "UNAUTHENTICATED"), (headers, path)
    assert (await engine.request("POST", DEPOSIT, body))[0] == 200


@pytest.mark.spec("B4.4-06", "A2.5-04")
async def test_balances_show_one_participant_or_all(engine: EngineClient) -> None:
    await engine.fund("alice", USD="1000")
    await engine.fund("bob", BTC="2")
    await engine.place("buy", "100", "1")
    alice = {
        "participantId": "alice",
        "currency": "USD",
        "total": "1000",
        "available": "900",
        "locked": "100",
        "reserved": "0.25",
    }
    assert await engine.request("GET", BALANCES + "?participantId=alice") == (200, {"balances": [alice]})
    rows = (await engine.request("GET", BALANCES))[1]["balances"]
    assert [row["participantId"] for row in rows] == ["alice", "bob"]
    assert (await engine.request("GET", BALANCES + "?participantId=nobody"))[1] == {"balances": []}
    status, answer = await engine.request("GET", BALANCES + "?participantId=a%20b")
    assert (status, answer["code"]) == (400, "VALIDATION_FAILED")


@pytest.mark.spec("A1.1-62", "A1.1-64", "A1.1-66", "B4.4-16")
async def test_health_is_real_and_names_the_core(engine: EngineClient) -> None:
    for path in ("/health", "/actuator/health", "/ready"):
        status, body = await engine.request("GET", path, headers={})
        assert (status, body["status"], body["details"]["journal"]) == (200, "ok", {"status": "up"})
        assert body["details"]["core"]["name"] in ("rust", "reference")
    status, text = await engine.request("GET", "/metrics", headers={})
    assert status == 200
    assert "# TYPE openspot_engine_commands_total counter" in text


async def test_metrics_count_commands_by_code_and_events(engine: EngineClient) -> None:
    async def value(name: str) -> float:
        text = (await engine.request("GET", "/metrics"))[1]
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)), 0.0)

    names = (
        'openspot_engine_commands_total{code="RISK_NSF"}',
        'openspot_engine_refused_total{code="AUTH_INVALID_USER"}',
        "openspot_engine_events_total",
        "openspot_engine_batch_commands_count",
        "openspot_engine_commit_seconds_count",
    )
    before = [await value(name) for name in names]
    await engine.place(participant_id="poor")
    await engine.place(participant_id="no body")
    assert [await value(name) - old for name, old in zip(names, before, strict=True)] == [1, 1, 1, 1, 1]
    assert await value("openspot_engine_queue_depth") == 0


@pytest.mark.spec("A9-02")
async def test_there_is_no_trades_history_and_nothing_without_the_prefix(engine: EngineClient) -> None:
    for path in (
        "/api/v1/trades",
        "/api/v1/marketdata/trades/BTC-USD",
        "/api/v1/markets/BTC-USD/trades",
        "/markets",
        "/marketdata/orderbook/BTC-USD",
        "/accounts/deposit",
        "/balances",
        "/admin/symbols",
    ):
        status, body = await engine.request("GET", path)
        assert (status, body["statusCode"], body["code"]) == (404, 404, "ROUTE_NOT_FOUND"), path
    status, body = await engine.request("GET", DEPOSIT)
    assert (status, body["error"], body["code"]) == (405, "Method Not Allowed", "METHOD_NOT_ALLOWED")
