"""The order body: what is read out of it, and the words for what is wrong with it."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies

from openspot.contracts.messages import OrderRequest
from openspot.http.errors import HttpError
from openspot.rest_edge.orders.schemas import OrderBody, read_order

LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}


def refusal_of(body: bytes) -> HttpError:
    with pytest.raises(HttpError) as caught:
        read_order(body, are_complete=False).check_rules(are_complete=False, now_ms=0)
    assert caught.value.status_code == 400
    return caught.value


def read(fields: Any) -> OrderBody:
    return read_order(json.dumps(fields).encode(), are_complete=True)


@pytest.mark.parametrize(
    ("literal", "exact"),
    [
        ("0.1", "0.1"),
        ("0.123456789012345678", "0.123456789012345678"),
        ("1234567890123456.000000000000000001", "1234567890123456.000000000000000001"),
        ("7", "7"),
    ],
)
def test_json_numbers_keep_every_digit(literal: str, exact: str) -> None:
    body = json.dumps(LIMIT | {"quantity": "@"}).replace('"@"', literal).encode()
    assert read_order(body, are_complete=True).quantity == exact
    assert read(LIMIT | {"quantity": literal}).quantity == exact


@pytest.mark.parametrize(("literal", "exact"), [("1e-18", "0.000000000000000001"), ("12e2", "1200"), ("1.5E1", "15")])
def test_an_exponent_is_taken_in_a_json_number_and_refused_in_a_text(literal: str, exact: str) -> None:
    body = json.dumps(LIMIT | {"quantity": "@"}).replace('"@"', literal).encode()
    assert read_order(body, are_complete=True).quantity == exact
    refusal = refusal_of(json.dumps(LIMIT | {"quantity": literal}).encode())
    assert refusal.message == ["quantity is not a plain decimal number such as 0.015"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"type": "iceberg"},
            "type must be one of 'limit', 'market', 'stop_limit', "
            "'stop_market', 'take_profit_limit', 'take_profit_market', 'trailing_stop_limit' or 'trailing_stop_market'",
        ),
        ({"timeInForce": "day"}, "timeInForce must be one of 'gtc', 'ioc', 'fok' or 'gtd'"),
    ],
)
def test_the_complete_rules_name_all_their_words(change: dict[str, Any], message: str) -> None:
    with pytest.raises(HttpError) as refusal:
        read(LIMIT | change)
    assert refusal.value.message == [message]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"color": "red"}, "property color should not exist"),
        ({"symbol": "BTCUSD"}, "symbol must have the format <BASE>-<QUOTE>, for example BTC-USD"),
        ({"symbol": 7}, "symbol must have the format <BASE>-<QUOTE>, for example BTC-USD"),
        ({"side": "hold"}, "side must be one of 'buy' or 'sell'"),
        (
            {"type": "iceberg"},
            "type must be one of 'limit', 'market', 'stop_limit' or 'stop_market'",
        ),
        ({"timeInForce": "day"}, "timeInForce must be one of 'gtc', 'ioc' or 'fok'"),
        ({"quantity": "-1"}, "quantity must be greater than 0"),
        ({"quantity": "0"}, "quantity must be greater than 0"),
        ({"quantity": "-0.000"}, "quantity must be greater than 0"),
        ({"quantity": "abc"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": ""}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "1,5"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "NaN"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "Infinity"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": True}, "quantity must be a decimal number, as text or as a JSON number"),
        ({"quantity": ["1"]}, "quantity must be a decimal number, as text or as a JSON number"),
        ({"quantity": "0.0000000000000000001"}, "quantity must have at most 18 decimal places"),
        ({"quantity": "+100"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "1."}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": ".5"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": " 1"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "١"}, "quantity is not a plain decimal number such as 0.015"),
        ({"quantity": "1" + "0" * 25}, "quantity is too large"),
        ({"quantity": "1" * 200}, "quantity is too long for a number"),
        ({"quantity": 10**60}, "quantity is too large"),
        ({"quantity": None}, "quantity is required"),
        ({"price": None}, "price is required for a limit order"),
        ({"price": "-5"}, "price must be greater than 0"),
        ({"type": "market"}, "price must not be given for a market order"),
        ({"stopPrice": "5"}, "stopPrice must not be given for a limit order"),
        ({"quoteQuantity": "5"}, "quoteQuantity is only for market orders that buy"),
        ({"maxSlippageBps": "many"}, "maxSlippageBps is not a plain decimal number such as 0.015"),
        ({"maxSlippageBps": True}, "maxSlippageBps must be a decimal number, as text or as a JSON number"),
        ({"maxSlippageBps": 10000.5}, "maxSlippageBps must be at most 10000"),
        ({"maxSlippageBps": "1.2345678901234567e-05"}, "maxSlippageBps is not a plain decimal number such as 0.015"),
        ({"maxSlippageBps": 1.2345678901234567e-05}, "maxSlippageBps must have at most 18 decimal places"),
        ({"maxSlippageBps": -1}, "maxSlippageBps must be at least 0"),
        ({"maxSlippageBps": "nan"}, "maxSlippageBps is not a plain decimal number such as 0.015"),
        ({"clientOrderId": "x" * 65}, "clientOrderId must be at most 64 characters long"),
        ({"clientOrderId": "a\x00b"}, "clientOrderId has characters that are not allowed"),
        ({"clientOrderId": ""}, "clientOrderId has characters that are not allowed"),
        ({"marginMode": {"a": 1}}, "marginMode must be a text"),
    ],
)
@pytest.mark.spec("A2.1-05", "A2.1-06", "A2.1-07", "A2.1-08", "A7-11", "A7-12")
def test_a_bad_field_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    error = refusal_of(json.dumps(LIMIT | change).encode())
    assert error.message == [message]
    assert error.code == "VALIDATION_FAILED"


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e400", "1e-400", "1e9999999999999999999", "9" * 5000]
)
def test_a_number_that_is_none_is_refused_by_name(literal: str) -> None:
    body = json.dumps(LIMIT | {"quantity": "@"}).replace('"@"', literal).encode()
    assert refusal_of(body).message[0].startswith("quantity ")


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"type": "market", "side": "sell", "quoteQuantity": "5"}, "quoteQuantity is only for market orders that buy"),
        ({"type": "market", "side": "buy", "quoteQuantity": "5", "quantity": "1"},
         "quoteQuantity excludes quantity: give one of them"),
        ({"type": "market", "side": "buy"}, "quantity is required"),
        ({"type": "stop_market", "side": "buy", "quantity": "1", "stopPrice": "1", "price": "1"},
         "price must not be given for a stop_market order"),
    ],
)  # fmt: skip
def test_fields_that_do_not_fit_the_type_are_refused(order: dict[str, Any], message: str) -> None:
    assert refusal_of(json.dumps({"symbol": "BTC-USD"} | order).encode()).message == [message]


def test_every_fault_is_named_at_once() -> None:
    error = refusal_of(json.dumps({"side": "x", "type": "limit", "b": 1, "quantity": "0"}).encode())
    assert error.message == [
        "symbol is required",
        "side must be one of 'buy' or 'sell'",
        "quantity must be greater than 0",
        "property b should not exist",
    ]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{", "MALFORMED_JSON"),
        (b"\xff\xfe", "MALFORMED_JSON"),
        (json.dumps(LIMIT).encode("utf-16"), "MALFORMED_JSON"),
        (json.dumps(LIMIT).encode("utf-8-sig"), "MALFORMED_JSON"),
        (json.dumps(LIMIT)[:-1].encode() + b', "price": "1"}', "MALFORMED_JSON"),
        (b'{"clientOrderId": "\\ud800"}', "MALFORMED_JSON"),
        (b'{"\\ud800": 1}', "MALFORMED_JSON"),
        (b"[" * 60_000, "MALFORMED_JSON"),
        (b'{"a":1}}', "MALFORMED_JSON"),
        (b"", "VALIDATION_FAILED"),
        (b"[]", "VALIDATION_FAILED"),
        (b'"text"', "VALIDATION_FAILED"),
        (b"null", "VALIDATION_FAILED"),
    ],
)
def test_a_body_that_is_no_order_is_refused(raw: bytes, code: str) -> None:
    assert refusal_of(raw).code == code


@pytest.mark.parametrize(
    ("order", "time_in_force"),
    [
        (LIMIT, "gtc"),
        (LIMIT | {"timeInForce": "FOK"}, "fok"),
        ({"symbol": "BTC-USD", "side": "sell", "type": "market", "quantity": 1}, "ioc"),
        ({"symbol": "BTC-USD", "side": "buy", "type": "stop_market", "quantity": 1, "stopPrice": 1}, "gtc"),
        ({"symbol": "BTC-USD", "side": "buy", "type": "stop_market", "quantity": 1}, "gtc"),
        (LIMIT | {"type": "stop_limit"}, "gtc"),
    ],
)
def test_time_in_force_has_a_default_for_each_type(order: dict[str, Any], time_in_force: str) -> None:
    assert read(order).to_request("id").time_in_force == time_in_force


JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = strategies.sampled_from(
    ["symbol", "side", "type", "quantity", "price", "quoteQuantity", "stopPrice", "timeInForce", "marginMode",
     "maxSlippageBps", "clientOrderId", "triggerBy", "trailingAmount", "trailingBps", "expiresAt",
     "selfTradePrevention", "x"]
)  # fmt: skip


@given(strategies.dictionaries(FIELDS, JSON, max_size=4))
def test_whatever_stands_in_a_field_is_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        read(LIMIT | fields)
    except HttpError as error:
        assert error.status_code == 400
        assert error.message


@given(strategies.binary(max_size=60))
def test_whatever_comes_as_a_body_is_refused(body: bytes) -> None:
    refusal_of(body)


@pytest.mark.spec("A2.1-09", "A2.1-13")
def test_every_field_reaches_the_router() -> None:
    request = read(
        LIMIT | {"type": "stop_limit", "stopPrice": "99", "timeInForce": "ioc", "marginMode": "cross",
                 "maxSlippageBps": 12.5, "clientOrderId": "c 1"}
    ).to_request("id-1")  # fmt: skip
    assert request == OrderRequest(
        "id-1", "BTC-USD", "buy", "stop_limit", "0.5", "100.25", None, "99", "ioc", "cross", "12.5", "c 1"
    )
