"""docs/protocol/asyncapi/order-connection.json: the order connection in AsyncAPI, from its actions and message types.

The bodies are those of the routes, from docs/protocol/openapi/rest-edge.json, which is written before.

`--check` writes nothing and fails if the file is out of date.
"""

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from openspot import __version__
from openspot.contracts.order_actions import IN_FLIGHT_MAX, ORDER_ACTIONS, ORDER_CONNECTION_PATH, OrderAction
from openspot.rest_edge.app import PREFIX
from openspot.rest_edge.orders.connection_schemas import (
    AUTHENTICATE,
    PING,
    TEXT_LENGTH_MAX,
    Authenticated,
    MessageRefused,
    Pong,
)
from openspot.rest_edge.orders.connections import IDLE_TIMEOUT, TOO_MANY_FAULTS

PROTOCOL = Path(__file__).resolve().parent.parent / "docs/protocol"
PAGE = PROTOCOL / "asyncapi/order-connection.json"
ROUTES = PROTOCOL / "openapi/rest-edge.json"

DESCRIPTION = f"""Orders of an OpenSpot exchange over one connection, under the complete rules of orders.

Each action is a route of the REST edge: `body` is the body of its request, and the reply has its status and its body.
A connection has at most {IN_FLIGHT_MAX} requests under way.
docs/protocol/order-connection.md says in which order they are carried out, and what to do when it breaks."""
CLOSES = {
    1007: "a text is not UTF-8",
    TOO_MANY_FAULTS: "too many messages that could not be carried out",
    1009: "a message is too large",
    1012: "the service is stopping: connect again",
    IDLE_TIMEOUT: "no message from the client for too long",
}
"""Each close code and its reason."""
BODIES: dict[str, Any] = {
    "placeOrder": {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "65000.5", "quantity": "0.01"},
    "placeOrders": {"orders": [{"symbol": "BTC-USD", "side": "sell", "type": "market", "quantity": "0.01"}]},
    "placeOrderList": {
        "type": "oco",
        "orders": [
            {"symbol": "BTC-USD", "side": "sell", "type": "limit", "price": "66000", "quantity": "0.01"},
            {"symbol": "BTC-USD", "side": "sell", "type": "stop_market", "stopPrice": "64000", "quantity": "0.01"},
        ],
    },
    "amendOrder": {"price": "65001.5"},
    "amendOrderByClientId": {"quantity": "0.02"},
    "amendOrders": {"orders": [{"orderId": "2Q9XKfDYhaZ7bw3P", "price": "65001.5"}]},
    "replaceOrder": {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "65002", "quantity": "0.01"},
    "cancelOrders": {"symbol": "BTC-USD"},
    "cancelAllAfter": {"timeoutSeconds": 60},
}
PARAMETERS = {"orderId": "2Q9XKfDYhaZ7bw3P", "clientOrderId": "my-order-1", "listId": "7mWpLQxT28sVbnC4"}
SCHEMAS = "#/components/schemas/"
ID = {
    "description": "The reply repeats it",
    "oneOf": [{"type": "string", "maxLength": TEXT_LENGTH_MAX}, {"type": "integer"}],
}


def message(name: str, properties: dict[str, Any], optional: tuple[str, ...], example: Any) -> dict[str, Any]:
    """A message that a client sends."""
    schema = {
        "type": "object",
        "properties": {"id": ID, "action": {"const": name}} | properties,
        "required": ["id", "action", *(key for key in properties if key not in optional)],
        "additionalProperties": False,
    }
    payload = {"id": 7, "action": name} | example
    return {"name": name, "title": name, "payload": schema, "examples": [{"payload": payload}]}


def route_of(action: OrderAction) -> dict[str, Any]:
    """The route of an action, as the document of the REST edge describes it."""
    route: dict[str, Any] = routes()["paths"][PREFIX + action.path][action.method.lower()]
    return route


@cache
def routes() -> dict[str, Any]:
    """The document of the REST edge."""
    found: dict[str, Any] = json.loads(ROUTES.read_text("utf-8"))
    return found


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body of a request or response."""
    schema: dict[str, Any] = body["content"]["application/json"]["schema"]
    return schema


def replies() -> list[dict[str, Any]]:
    """The schemas of all bodies that a reply may have."""
    found: dict[str, dict[str, Any]] = {}
    for action in ORDER_ACTIONS.values():
        for response in route_of(action)["responses"].values():
            if "content" in response:
                schema = schema_of(response)
                found.setdefault(json.dumps(schema), schema)
    return list(found.values())


def schemas_in(part: Any) -> dict[str, Any]:
    """The schemas of the REST edge that a part of this document names, and those that these name."""
    found: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)} if reference.startswith(SCHEMAS):
                name = reference.removeprefix(SCHEMAS)
                if name not in found:
                    found[name] = routes()["components"]["schemas"][name]
                    waiting.append(found[name])
            case dict(values):
                waiting += values.values()
            case list(values):
                waiting += values
    return dict(sorted(found.items()))


def requests() -> dict[str, dict[str, Any]]:
    """Each message that a client sends."""
    found = {
        PING: message(PING, {}, (), {}),
        AUTHENTICATE: message(
            AUTHENTICATE, {"token": {"type": "string"}}, (), {"token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"}
        ),
    }
    for name, action in ORDER_ACTIONS.items():
        properties: dict[str, Any] = {}
        example: dict[str, Any] = {}
        if action.parameter:
            properties[action.parameter] = {"type": "string", "maxLength": TEXT_LENGTH_MAX, "pattern": "^[^/]+$"}
            example[action.parameter] = PARAMETERS[action.parameter]
        body = route_of(action).get("requestBody")
        if body is not None:
            properties["body"] = schema_of(body)
            example["body"] = BODIES[name]
        if action.method != "DELETE" and name != "cancelAllAfter":
            properties["idempotencyKey"] = {"type": "string", "pattern": r"^[\x21-\x7e]{1,255}$"}
        found[name] = message(
            name, properties, ("idempotencyKey", *(["body"] if name == "cancelOrders" else [])), example
        )
    return found


def answers() -> dict[str, dict[str, Any]]:
    """Each message that the edge sends."""
    reply = {
        "type": "object",
        "properties": {
            "type": {"const": "reply"},
            "id": ID,
            "status": {"type": "integer", "description": "The HTTP status of the route"},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "body": {"description": "The body of the response of the action's route", "anyOf": replies()},
        },
        "required": ["type", "id", "status", "headers", "body"],
        "additionalProperties": False,
    }
    example = {
        "type": "reply",
        "id": 7,
        "status": 200,
        "headers": {"x-request-id": "k3-1f"},
        "body": {"cancelled": [], "failed": []},
    }
    found = {"reply": {"name": "reply", "title": "reply", "payload": reply, "examples": [{"payload": example}]}}
    refused = MessageRefused(7, "TOO_MANY_IN_FLIGHT", f"a connection has at most {IN_FLIGHT_MAX} requests under way")
    for name, given in (("pong", Pong(7)), ("authenticated", Authenticated(7, 1_767_323_700)), ("error", refused)):
        (schema,), components = msgspec.json.schema_components(
            [type(given)], ref_template="#/components/schemas/{name}"
        )
        payload = components[schema["$ref"].rpartition("/")[2]]
        found[name] = {
            "name": name,
            "title": name,
            "payload": payload,
            "examples": [{"payload": msgspec.to_builtins(given)}],
        }
    return found


def document() -> dict[str, Any]:
    """The whole document."""
    messages = requests() | answers()
    operations = {
        name: {
            "action": "receive",
            "channel": {"$ref": "#/channels/orders"},
            "messages": [{"$ref": f"#/channels/orders/messages/{name}"}],
            "reply": {
                "channel": {"$ref": "#/channels/orders"},
                "messages": [
                    {"$ref": f"#/channels/orders/messages/{answer}"}
                    for answer in ({PING: "pong", AUTHENTICATE: "authenticated"}.get(name, "reply"), "error")
                ],
            },
        }
        for name in requests()
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "OpenSpot order connection",
            "version": __version__,
            "description": DESCRIPTION,
            "license": {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"local": {"host": "127.0.0.1:3001", "protocol": "ws"}},
        "channels": {
            "orders": {
                "address": PREFIX + ORDER_CONNECTION_PATH,
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {
                    "ws": {
                        "method": "GET",
                        "query": {"type": "object", "properties": {"cancelOnDisconnect": {"enum": ["true", "false"]}}},
                        "bindingVersion": "0.1.0",
                    }
                },
            }
        },
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas_in(messages)},
        "x-close-codes": {str(code): reason for code, reason in sorted(CLOSES.items())},
    }


def main() -> int:
    """Write the file; with --check return 1 if it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = json.dumps(document(), indent=1) + "\n"
    if parser.parse_args().check:
        if PAGE.exists() and PAGE.read_text("utf-8") == text:
            return 0
        print("docs/protocol/asyncapi/order-connection.json is out of date: run `make protocol`", file=sys.stderr)
        return 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
