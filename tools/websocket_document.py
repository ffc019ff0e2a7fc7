"""docs/protocol/asyncapi/ws-edge.json: the WebSocket edge in AsyncAPI, from the types of its messages.

`--check` writes nothing and fails if the file is out of date.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from openspot import __version__
from openspot.contracts.messages import (
    AggregateTradeEvent,
    BalanceUpdated,
    MarketCandle,
    MarketTradeEvent,
    OrderBookEvent,
    OrderRecord,
    TickerEvent,
    UserNotification,
)
from openspot.domain.candles import Interval
from openspot.domain.symbol import SYMBOL_TEXT
from openspot.http.errors import ErrorBody
from openspot.http.record_schemas import schemas_of
from openspot.kit.tokens import TOKEN_LENGTH_MAX
from openspot.ws_edge import connection
from openspot.ws_edge.channels import BALANCE_EVENT, DEPTHS, NOTIFICATION_EVENT, ORDER_EVENTS
from openspot.ws_edge.schemas import (
    CHANNEL_LENGTH_MAX,
    ID_LENGTH_MAX,
    SIGNATURE_LENGTH_MAX,
    Action,
    Authenticated,
    BestPrices,
    ErrorCode,
    ErrorReply,
    Notice,
    Pong,
    Subscribed,
    Unsubscribed,
)

PAGE = Path(__file__).resolve().parent.parent / "docs/protocol/asyncapi/ws-edge.json"

DESCRIPTION = """Live events of an OpenSpot exchange. Messages are JSON texts; there is no compression.

Decimals are texts, times are milliseconds since 1970. There is one connection, at the path `/`. A channel of this
document other than `connection` is a value of the property `channel`: a client subscribes to it on the connection.
`orders`, `balances` and `notifications` come to an authenticated connection without subscribing; `notifications` are
personal data, and do not come to a connection by an API key.

A connection is anonymous, or a user's: by the query parameter `token`, by the headers of an API key with the scope
`read`, or by the message `authenticate`. docs/protocol/websocket.md says what happens to a client that reads slowly."""
CLOSES = {
    1002: "a frame breaks RFC 6455",
    1007: "a text is not UTF-8",
    connection.TOO_MANY_MESSAGES: "too many messages, or too many wrong credentials",
    connection.MESSAGE_TOO_BIG: "a message is too large, or has too many fragments",
    connection.SERVICE_RESTART: "the service is stopping: connect again",
    connection.TRY_AGAIN_LATER: "the client reads too slowly, or the edge lost its place on the bus: connect again",
    connection.TOKEN_EXPIRED: "the access token has expired, or its session or API key has ended",
    connection.IDLE_TIMEOUT: "no message from the client for too long, or no sign of it",
}
"""Each close code and its reason."""
REFUSALS = {
    401: "INVALID_TOKEN or INVALID_CREDENTIAL",
    403: "INSUFFICIENT_SCOPE: the API key lacks `read`",
    429: "TOO_MANY_REQUESTS: this address opens connections too fast; Retry-After says when to come back",
    431: "the head of the request is too large",
    503: "TOO_MANY_CONNECTIONS, BUS_UNAVAILABLE or STOPPING; Retry-After says when to come back",
}
"""Each HTTP status with which the edge refuses a connection before the upgrade. The body is `ErrorBody`."""

SYMBOL, ORDER, USER = "BTC-USD", "2Q9XKfDYhaZ7bw3P", "8sVbnC4kQxT2mWpL"
TIME_MS, TIME = 1_767_322_800_000, "2026-01-02T03:00:00.000Z"
LEVELS = {"bids": [("64999.5", "0.25")], "asks": [("65000.5", "0.1")]}
DATA: dict[str, msgspec.Struct] = {
    "ticker": TickerEvent(
        symbol=SYMBOL, last_price="65000", bid_price="64999.5", bid_quantity="0.25", ask_price="65000.5",
        ask_quantity="0.1", open_price="64000", high_price="65500", low_price="63800", volume="12.5",
        quote_volume="810000", price_change="1000", price_change_percent="1.5625", timestamp=TIME_MS, seq=7341,
    ),
    "orderbook": OrderBookEvent(
        symbol=SYMBOL, type="snapshot", seq=7341, prev_seq=None, timestamp=TIME_MS, checksum=1186093526, **LEVELS
    ),
    "trades": MarketTradeEvent(
        symbol=SYMBOL, seq=7341, prev_seq=7302, trade_id="1-7341", price="65000", quantity="0.1", side="buy",
        timestamp=TIME_MS,
    ),
    "aggTrades": AggregateTradeEvent(
        first_trade_id="1-7338", last_trade_id="1-7341", symbol=SYMBOL, price="65000", quantity="0.4", side="buy",
        trades=4, timestamp=TIME_MS, first_sequence=7338, last_sequence=7341, seq=7341, prev_seq=7302,
    ),
    "candles": MarketCandle(
        symbol=SYMBOL, interval="1m", timestamp=TIME_MS, open="64990", high="65010", low="64980", close="65000",
        volume="0.75", trades=9,
    ),
    "bbo": BestPrices(
        symbol=SYMBOL, bid_price="64999.5", bid_quantity="0.25", ask_price="65000.5", ask_quantity="0.1", seq=7341,
        timestamp=TIME_MS,
    ),
    "orders": OrderRecord(
        order_id=ORDER, client_order_id="my-order-1", user_id=USER, symbol=SYMBOL, side="buy", type="limit",
        time_in_force="gtc", margin_mode=None, price="65000", quantity="0.1", filled_quantity="0",
        remaining_quantity="0.1", average_price=None, fee="0", fee_currency="USD", status="open", reject_reason=None,
        created_at=TIME, updated_at=TIME,
    ),
    "balances": BalanceUpdated(
        user_id=USER, asset="USD", available="3500", locked="6500", transaction_id="5f0c", timestamp=TIME_MS, version=3
    ),
    "notifications": UserNotification(
        id="withdrawal-1", kind="withdrawal", title="Withdrawal sent", text="Your withdrawal is on its way.",
        created_at=TIME_MS,
    ),
}  # fmt: skip
"""What a push of each channel carries, as an example."""
CHANNELS = {
    "ticker": ("ticker:{symbol}", "Begins with the last ticker. `seq` is the newest engine event in it."),
    "orderbook": (
        "orderbook:{symbol}",
        "Begins with a snapshot; then what changed. With `?depth={depth}` behind the symbol only the best levels: "
        f"{', '.join(map(str, DEPTHS))}. `seq` is the newest engine event in it.",
    ),
    "trades": (
        "trades:{symbol}",
        "Each trade, with the `prevSeq` of the one before. `seq` is the trade's engine event.",
    ),
    "candles": (
        "candles:{symbol}:{interval}",
        "Begins with the newest candle; then the candle whenever it changed. `seq` is how many trades it has.",
    ),
    "bbo": (
        "bbo:{symbol}",
        "Complete rules: best bid and ask with their quantities, first and whenever one of them changed. `seq` is the "
        "engine event that changed them.",
    ),
    "aggTrades": (
        "agg-trades:{symbol}",
        "Complete rules: what each order took at one price, as one trade. A later push with the same `firstTradeId` "
        "replaces it. `seq` is its last engine event, `prevSeq` that of the market's trade before its first.",
    ),
    "orders": ("orders", "The user's orders. `seq` is the engine event, 0 if the order never reached the engine."),
    "balances": ("balances", "The user's balances. `seq` counts the user's pushes from 1."),
    "notifications": ("notifications", "The user's notifications, by a token only. `seq` counts them from 1."),
}
EVENTS = {
    "orders": sorted(ORDER_EVENTS.values()),
    "balances": [BALANCE_EVENT],
    "notifications": [NOTIFICATION_EVENT],
}
"""The values of `event` on the channels of users."""
ADDRESSES = {
    "ticker": rf"^ticker:{SYMBOL_TEXT.pattern}$",
    "orderbook": rf"^orderbook:{SYMBOL_TEXT.pattern}(\?depth=({'|'.join(map(str, DEPTHS))}))?$",
    "trades": rf"^trades:{SYMBOL_TEXT.pattern}$",
    "aggTrades": rf"^agg-trades:{SYMBOL_TEXT.pattern}$",
    "bbo": rf"^bbo:{SYMBOL_TEXT.pattern}$",
    "candles": rf"^candles:{SYMBOL_TEXT.pattern}:({'|'.join(Interval)})$",
}
"""The pattern of each market channel's name."""
PARAMETERS = {
    "symbol": {"description": "The market", "examples": [SYMBOL]},
    "interval": {"description": "The interval of a candle", "enum": list(Interval)},
}

ID = {
    "description": "The reply repeats it",
    "oneOf": [{"type": "string", "maxLength": ID_LENGTH_MAX}, {"type": "integer"}],
}
WHOLE = {"type": "integer", "minimum": 0}


def closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def requests() -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Summary, schema and example of each message that a client sends."""
    channel = {"type": "string", "maxLength": CHANNEL_LENGTH_MAX}
    text = {"type": "string", "maxLength": ID_LENGTH_MAX}

    def of(action: Action, needed: dict[str, Any]) -> dict[str, Any]:
        schema = closed({"action": {"const": action.value}, **needed, "id": ID}, ["action", *needed])
        return schema | {"additionalProperties": True}

    signature = {"type": "string", "maxLength": SIGNATURE_LENGTH_MAX}
    signed = {"apiKey": text, "timestamp": {"oneOf": [text, {"type": "integer"}]}, "signature": signature}
    token = {"token": {"type": "string", "maxLength": TOKEN_LENGTH_MAX}}
    ticker = f"ticker:{SYMBOL}"
    return {
        "subscribe": ("Follow a channel", of(Action.SUBSCRIBE, {"channel": channel}),
                      {"action": "subscribe", "channel": ticker, "id": 1}),
        "unsubscribe": ("Stop following a channel", of(Action.UNSUBSCRIBE, {"channel": channel}),
                        {"action": "unsubscribe", "channel": ticker, "id": 2}),
        "ping": ("Show that the program behind the connection works", of(Action.PING, {}), {"action": "ping", "id": 3}),
        "authenticate": ("Become a user by access token, or renew it", of(Action.AUTHENTICATE, token),
                         {"action": "authenticate", "token": "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl", "id": 4}),
        "authenticateByKey": (
            "Become a user by an API key: the signature is over timestamp, `GET` and `/`",
            of(Action.AUTHENTICATE, signed),
            {"action": "authenticate", "apiKey": "k1", "timestamp": str(TIME_MS), "signature": "9f86d081", "id": 5},
        ),
    }  # fmt: skip


ANSWERS: dict[str, tuple[str, type[msgspec.Struct], msgspec.Struct]] = {
    "subscribed": ("The reply to subscribe", Subscribed, Subscribed(f"ticker:{SYMBOL}", 1)),
    "unsubscribed": ("The reply to unsubscribe", Unsubscribed, Unsubscribed(f"ticker:{SYMBOL}", 2)),
    "pong": ("The reply to ping", Pong, Pong(TIME_MS, 3)),
    "authenticated": ("The reply to authenticate", Authenticated, Authenticated(USER, 1_767_323_700, 4)),
    "error": ("A message is refused, or a subscribed channel has a fault; the connection stays open", ErrorReply,
              ErrorReply(ErrorCode.UNKNOWN_CHANNEL, "no such channel", 1)),
    "notice": ("An announcement to all clients: the connection is closed after `closesInMs`", Notice,
               Notice("SERVICE_STOPS", "the service stops: connect again", 2000)),
}  # fmt: skip
REPLIES = {
    "subscribe": "subscribed",
    "unsubscribe": "unsubscribed",
    "ping": "pong",
    "authenticate": "authenticated",
    "authenticateByKey": "authenticated",
}


def push_schema(name: str) -> dict[str, Any]:
    """The schema of a push of one channel."""
    channel = {"type": "string", "pattern": ADDRESSES[name]} if name in ADDRESSES else {"const": name}
    properties = {"channel": channel, "type": {"type": "string", "enum": ["snapshot", "update"]}}
    if name in EVENTS:
        properties |= {"type": {"const": "update"}, "event": {"type": "string", "enum": EVENTS[name]}}
    data = {"$ref": f"#/components/schemas/{type(DATA[name]).__name__}"}
    properties |= {"seq": WHOLE, "ts": WHOLE, "data": data}
    return closed(properties, list(properties))


def push_example(name: str) -> dict[str, Any]:
    """A push of one channel."""
    address = CHANNELS[name][0].format(symbol=SYMBOL, interval="1m")
    event = {"event": EVENTS[name][0]} if name in EVENTS else {}
    stamps: dict[str, Any] = {"seq": 1 if name in EVENTS else 7341, "ts": TIME_MS}
    if name == "candles":
        stamps["seq"] = 9
    kind = "snapshot" if name == "orderbook" else "update"
    return {"channel": address, "type": kind} | event | stamps | {"data": msgspec.to_builtins(DATA[name])}


def answer_schemas() -> dict[str, Any]:
    """The schema of each message that answers or tells, without what it leaves out."""
    _, components = msgspec.json.schema_components(
        [kind for _, kind, _ in ANSWERS.values()], ref_template="#/components/schemas/{name}"
    )
    for schema in components.values():
        for of_property in schema.get("properties", {}).values():
            of_property.pop("default", None)
    return components


def message(name: str, summary: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """A message of the document."""
    return {"name": name, "title": name, "summary": summary, "payload": schema, "examples": [{"payload": example}]}


def messages() -> dict[str, dict[str, Any]]:
    """Every message by its name."""
    found = {name: message(name, *parts) for name, parts in requests().items()}
    for name, (summary, kind, example) in ANSWERS.items():
        schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
        found[name] = message(name, summary, schema, msgspec.to_builtins(example))
    for name, (address, _) in CHANNELS.items():
        found[f"{name}Push"] = message(f"{name}Push", f"A push of {address}", push_schema(name), push_example(name))
    return found


def references(channel: str, names: list[str]) -> list[dict[str, str]]:
    """References to messages of a channel."""
    return [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in names]


def document() -> dict[str, Any]:
    """The whole document."""
    _, records = schemas_of([type(data) for data in DATA.values()])
    channels: dict[str, Any] = {
        "connection": {
            "address": "/",
            "description": "The connection: requests of the client, and their replies",
            "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in (*requests(), *ANSWERS)},
            "bindings": {
                "ws": {
                    "method": "GET",
                    "query": {"type": "object", "properties": {"token": {"type": "string"}}},
                    "bindingVersion": "0.1.0",
                }
            },
        }
    }
    operations: dict[str, Any] = {}
    for name, answer in REPLIES.items():
        operations[name] = {
            "action": "receive",
            "channel": {"$ref": "#/channels/connection"},
            "summary": requests()[name][0],
            "messages": references("connection", [name]),
            "reply": {
                "channel": {"$ref": "#/channels/connection"},
                "messages": references("connection", [answer, "error"]),
            },
        }
    operations["tell"] = {
        "action": "send",
        "channel": {"$ref": "#/channels/connection"},
        "summary": "Tell a client of a fault of a subscribed channel, or of a stop",
        "messages": references("connection", ["error", "notice"]),
    }
    for name, (address, description) in CHANNELS.items():
        push = f"{name}Push"
        channels[name] = {
            "address": address,
            "description": description,
            "messages": {push: {"$ref": f"#/components/messages/{push}"}},
        }
        parameters = {key: PARAMETERS[key] for key in PARAMETERS if f"{{{key}}}" in address}
        if parameters:
            channels[name]["parameters"] = parameters
        operations[f"{name}Pushes"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": f"Push what happens on {address}",
            "messages": references(name, [push]),
        }
    schemas = records | answer_schemas()
    schemas["ErrorBody"] = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "OpenSpot WebSocket edge",
            "version": __version__,
            "description": DESCRIPTION,
            "license": {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
            "contact": {"name": "The operator of this exchange"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "local": {
                "host": "127.0.0.1:3002",
                "protocol": "ws",
                "description": "The edge where `openspot up` runs; anonymous connections get market data",
                "security": [
                    {"$ref": "#/components/securitySchemes/accessToken"},
                    {"$ref": "#/components/securitySchemes/apiKey"},
                ],
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": messages(),
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "accessToken": {
                    "type": "httpApiKey",
                    "in": "query",
                    "name": "token",
                    "description": "An access token of POST /api/v1/auth/login",
                },
                "apiKey": {
                    "type": "httpApiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "With X-API-Timestamp and X-API-Signature, as for GET /",
                },
            },
        },
        "x-close-codes": {str(code): reason for code, reason in sorted(CLOSES.items())},
        "x-handshake-refusals": {str(status): reason for status, reason in REFUSALS.items()},
    }


def main() -> int:
    """Write the file; with --check return 1 if it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = json.dumps(document(), indent=1) + "\n"
    if parser.parse_args().check:
        if PAGE.exists() and PAGE.read_text("utf-8") == text:
            return 0
        print("docs/protocol/asyncapi/ws-edge.json is out of date: run `make protocol`", file=sys.stderr)
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
