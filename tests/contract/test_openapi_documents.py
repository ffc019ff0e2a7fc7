"""The OpenAPI documents say all that a reader and a generator of code need."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.support.http_routes import documents

DOCUMENTS = [pytest.param(document, id=name) for name, document in documents().items()]
WORDS_OF_SCHEMAS = {
    "$ref", "additionalProperties", "anyOf", "default", "description", "enum", "examples", "format", "items", "maximum",
    "maxItems", "maxLength", "minimum", "minItems", "minLength", "not", "pattern", "prefixItems", "properties",
    "required", "title", "type", "const", "exclusiveMinimum", "exclusiveMaximum", "contentMediaType",
}  # fmt: skip


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (operation for item in document["paths"].values() for operation in item.values())


def schemas_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema of a document, with those inside others."""

    def inside(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield schema
        lists = [schema.get(name, ()) for name in ("anyOf", "allOf", "oneOf", "prefixItems")]
        parts = [schema.get("items"), schema.get("additionalProperties"), *schema.get("properties", {}).values()]
        for part in (*parts, *(part for each in lists for part in each)):
            if isinstance(part, dict):
                yield from inside(part)

    for schema in document["components"]["schemas"].values():
        yield from inside(schema)
    for operation in operations(document):
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        for holder in (
            *operation.get("parameters", ()),
            *(one for c in contents for one in c.get("content", {}).values()),
        ):
            yield from inside(holder.get("schema", {}))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_says_whose_it_is_and_where_it_is_served(document: dict[str, Any]) -> None:
    assert document["info"]["license"] == {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
    assert document["info"]["description"]
    assert document["info"]["contact"]["name"]
    assert [server["url"] for server in document["servers"]] == ["/"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_operation_and_parameter_is_described_and_no_id_stands_twice(document: dict[str, Any]) -> None:
    found = list(operations(document))
    names = [operation["operationId"] for operation in found]
    assert len(set(names)) == len(names)
    for operation in found:
        assert operation["summary"], operation["operationId"]
        assert "may call it." in operation["description"], operation["operationId"]
        assert any(status >= "400" for status in operation["responses"]), operation["operationId"]
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_schemas_are_valid_and_no_title_stands_twice(document: dict[str, Any]) -> None:
    found = list(schemas_of(document))
    titles = [schema["title"] for schema in found if "title" in schema]
    assert sorted(set(titles)) == sorted(titles)
    assert set(titles) <= document["components"]["schemas"].keys()
    for schema in found:
        assert jsonschema_rs.meta.is_valid(schema)
        assert schema.keys() <= WORDS_OF_SCHEMAS, schema.keys() - WORDS_OF_SCHEMAS


def test_every_time_and_decimal_of_a_reply_names_its_format() -> None:
    """The client's records are made from the formats: a time or decimal without one would be a text there."""
    texts = [
        (service, shape, field, text.get("format"))
        for service, document in documents().items()
        for shape, schema in document["components"]["schemas"].items()
        if not shape.endswith("Body")
        for field, value in schema.get("properties", {}).items()
        if (text := value.get("anyOf", [value])[0]).get("type") == "string" and "pattern" not in text
    ]
    # A level of the treasury is an amount, one of verification a word.
    decimals = {field for _, _, field, name in texts if name == "decimal"} - {"level"}
    assert {"price", "amount", "minimum", "volume", "realisedPnl", "valueUsd", "tickSize"} <= decimals
    assert [text for text in texts if text[2].endswith("At") and text[3] != "date-time"] == []
    assert [text for text in texts if text[2] in decimals and text[3] != "decimal"] == []


def test_an_operation_names_its_callers_its_scope_and_what_is_kept() -> None:
    paths = documents()["rest-edge"]["paths"]
    assert paths["/api/v1/orders"]["post"]["description"] == (
        "Only a user may call it. An API key needs the scope `trade`. The `standard` limits count the request. "
        "The request leaves an audit record. It may be repeated under an `Idempotency-Key`."
    )
    assert paths["/api/v1/auth/logout"]["post"]["description"].startswith(
        "Only a user may call it. No API key opens it."
    )
    assert paths["/api/v1/markets"]["get"]["description"].startswith("Anybody may call it.")


@pytest.mark.spec("A1.2-09", "A1.2-10")
def test_the_order_body_says_that_stop_orders_pass_the_schema_and_are_always_refused() -> None:
    schema = documents()["rest-edge"]["components"]["schemas"]["OrderBody"]["properties"]
    assert schema["type"]["description"] == (
        "`limit` or `market`; under the complete rules also those with a trigger. Under the others the pre-trade check "
        "always refuses `stop_limit` and `stop_market`"
    )
