"""Every call of the client against the OpenAPI document of the REST edge."""

import inspect
import json
import re
import typing
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import openspot.client
from openspot.client import Beneficiary, MfaChallenge, OpenSpotClient, Session
from openspot.client.calls import Number, exact, iso_time, milliseconds
from openspot.client.gen import records
from openspot.client.transport import Answer

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs/protocol/openapi/rest-edge.json").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
NOT_FOR_USERS = {
    "POST /kyc/webhook",
    "POST /payments/callback",
    "GET /payments/development/{id}",
    "GET /downloads/{ticket}",
    "PUT /users/{userId}/role",
    "GET /health",
    "GET /health/live",
    "GET /health/ready",
    "GET /metrics",
}
"""Routes of providers, operators, administrators, links to files and the development provider."""
TIME = "2026-01-02T03:04:05.678Z"


def routes() -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }


ROUTES = routes()


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    return schema


def example(schema: dict[str, Any]) -> Any:
    """A value of this shape, with every property."""
    schema = resolved(schema)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return example(schema[choice][0])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: example(value) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        if "prefixItems" in schema:
            return [example(item) for item in schema["prefixItems"]]
        count = schema.get("minItems", 1)
        return [example(schema.get("items", {}))] * count
    if kind == "string":
        return {"date": TIME[:10], "date-time": TIME}.get(schema.get("format", ""), "1")
    return {"integer": 1, "number": 1, "boolean": True}.get(str(kind), {})


class FakeTransport:
    """Checks each request against the document, and replies with an example of the route's shape."""

    def __init__(self) -> None:
        self.used: list[str] = []

    async def send(self, method: str, path: str, **parts: Any) -> Answer:
        route = self._route(method, path)
        self.used.append(route)
        operation = ROUTES[route]
        parameters = {entry["name"]: entry for entry in operation.get("parameters", [])}
        query = parts.get("query") or {}
        assert query.keys() <= {name for name, entry in parameters.items() if entry["in"] == "query"}, route
        needed = {name for name, entry in parameters.items() if entry["in"] == "query" and entry.get("required")}
        assert needed <= query.keys(), route
        assert (parts.get("idempotency_key") is None) or "Idempotency-Key" in parameters, route
        self._check_body(route, operation, parts.get("body"))
        reply = next(entry for code, entry in operation["responses"].items() if code.startswith("2"))
        shape = next(iter(reply["content"].values()))["schema"]
        return Answer(json.dumps(example(shape)).encode(), {})

    def _route(self, method: str, path: str) -> str:
        for route in sorted(ROUTES, key=lambda known: known.count("{")):
            known_method, _, template = route.partition(" ")
            if known_method == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                return route
        raise AssertionError(f"the REST edge has no {method} {path}")

    def _check_body(self, route: str, operation: dict[str, Any], body: Any) -> None:
        if "requestBody" not in operation:
            assert body is None, route
            return
        if body is None:
            assert not operation["requestBody"].get("required"), route
            return
        shape = resolved(next(iter(operation["requestBody"]["content"].values()))["schema"])
        if shape.get("format") == "binary":
            assert isinstance(body.content, bytes), route
            return
        shape = resolved(shape["anyOf"][0]) if "anyOf" in shape else shape
        body = msgspec.to_builtins(body)
        assert body.keys() <= shape["properties"].keys(), (route, body.keys() - shape["properties"].keys())
        assert set(shape.get("required", ())) <= body.keys(), (route, body)


def calls() -> Iterator[tuple[str, Any]]:
    for name, method in inspect.getmembers(OpenSpotClient, inspect.iscoroutinefunction):
        if not name.startswith("_") and name not in ("close",):
            yield name, method


def argument(name: str, kind: Any) -> Any:
    """An argument of this type."""
    options = [option for option in typing.get_args(kind) if option is not type(None)]
    if name == "orders":
        return [{"symbol": "BTC-USD"}]
    if name == "put":
        return [{"id": "a", "kind": "text", "points": [{"time": 1, "price": "1"}], "text": "a"}]
    if name in ("old", "new"):
        return {"endpoint": "https://push.example.com/1", "p256dh": "a", "auth": "b"}
    if name == "panels":
        return [{"id": "chart", "x": 0, "w": 12, "h": 20}]
    if name == "order":
        return {"symbol": "BTC-USD", "side": "buy", "type": "limit"}
    if kind is bytes:
        return b"content"
    if kind == Number or Decimal in options:
        return Decimal("1.5")
    if typing.get_origin(kind) is list or (options and typing.get_origin(options[0]) is list):
        return ["1"]
    kinds = {bool: True, int: 7, str: "a/b c", date: date(2000, 1, 2), datetime: datetime(2026, 1, 2, tzinfo=UTC)}
    kinds[MfaChallenge] = MfaChallenge("token", ["totp"], datetime.now(UTC))  # type: ignore[index]
    kinds[Beneficiary] = Beneficiary("Ada", "GB", "v")  # type: ignore[index]
    return kinds[options[0] if options else kind]


async def call(client: OpenSpotClient, name: str, method: Any, *, all_arguments: bool) -> Any:
    hints = typing.get_type_hints(method)
    given = {
        parameter.name: argument(parameter.name, hints[parameter.name])
        for parameter in list(inspect.signature(method).parameters.values())[1:]
        if all_arguments or parameter.default is inspect.Parameter.empty
    }
    return await getattr(client, name)(**given)


@pytest.mark.parametrize("all_arguments", [False, True], ids=["needed arguments", "all arguments"])
async def test_every_call_fits_its_route_and_every_route_for_users_has_a_call(all_arguments: bool) -> None:
    client, transport = OpenSpotClient(), FakeTransport()
    client._transport = transport  # type: ignore[assignment]
    for name, method in calls():
        client.resume(Session("a", "r", 900, "u1"))
        result = await call(client, name, method, all_arguments=all_arguments)
        hints = typing.get_type_hints(method)
        assert hints["return"] is type(None) or result is not None, name
    client.resume(Session("a", "r", 900, "u1"))
    await client._renew(Session("a", "r", 900, "u1"))
    await client._fresh_token("a")
    assert {name for name in ROUTES if " /operator/" not in name} - set(transport.used) == NOT_FOR_USERS


async def test_every_property_of_a_reply_is_in_its_record() -> None:
    """Decode each reply of the document strictly: a property that the record lacks is an error."""
    client, transport = OpenSpotClient(), FakeTransport()
    client._transport = transport  # type: ignore[assignment]
    for name, method in calls():
        before = len(transport.used)
        client.resume(Session("a", "r", 900, "u1"))
        result = await call(client, name, method, all_arguments=False)
        record = result[0] if isinstance(result, list) and result else result
        record = record.entries[0] if hasattr(record, "entries") else record
        if not isinstance(record, msgspec.Struct):
            continue
        operation = ROUTES[transport.used[before]]
        reply = next(entry for code, entry in operation["responses"].items() if code.startswith("2"))
        shape = resolved(next(iter(reply["content"].values()))["schema"])
        shape = resolved(shape["items"]) if shape.get("type") == "array" else shape
        shape = resolved(shape["anyOf"][0]) if "anyOf" in shape else shape
        known = {field.encode_name for field in msgspec.structs.fields(record)}
        assert shape["properties"].keys() - known <= {"tokenType", "mfaRequired"}, name


def test_programs_can_name_every_record_that_a_call_returns() -> None:
    written = {name for name, found in vars(records).items() if getattr(found, "__module__", "") == records.__name__}
    assert written - {*openspot.client.__all__} == set()


def test_numbers_and_times_are_sent_exactly() -> None:
    assert (exact(Decimal("1E+3"), "x"), exact("0.10", "x"), exact(5, "x"), exact(None, "x")) == (
        "1000",
        "0.10",
        "5",
        None,
    )
    for value in (0.1, True):
        with pytest.raises(TypeError, match="price must be"):
            exact(value, "price")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="since must have a time zone"):
        iso_time(datetime(2026, 1, 2), "since")  # noqa: DTZ001
    with pytest.raises(ValueError, match="until must have a time zone"):
        milliseconds(datetime(2026, 1, 2), "until")  # noqa: DTZ001
    assert milliseconds(datetime(2026, 1, 2, tzinfo=UTC), "since") == 1_767_312_000_000
