"""OpenAPI schemas of records: the msgspec types that a service sends as they are, on the bus and over HTTP."""

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any, get_args

import msgspec

_CAPITAL = re.compile("[A-Z]")
_NONE = re.compile(r"\bNone\b")


def is_made_of_records(kind: Any) -> bool:
    """Whether a type is a record, or holds one: `Candle`, `list[Candle]`."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return True
    return any(is_made_of_records(part) for part in get_args(kind))


def schemas_of(kinds: Iterable[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The schema of each type, and the components that the schemas refer to, by the names of the records.

    A record is sent with all its fields, so every property is required, but for one that may be UNSET. The docstring
    of a record is its description, with the names that its fields have on the wire, and `null` for None. Raises
    TypeError for a type without a schema.
    """
    schemas, components = msgspec.json.schema_components(list(kinds), ref_template="#/components/schemas/{name}")
    for schema in components.values():
        schema["description"] = _on_the_wire(cleandoc(schema["description"]), schema["properties"])
        schema["required"] = [
            name
            for name, of_property in schema["properties"].items()
            if name in schema.get("required", ()) or "default" in of_property
        ]
        schema["additionalProperties"] = False
        for of_property in schema["properties"].values():
            of_property.pop("default", None)
            _complete(of_property)
    return list(schemas), components


def _on_the_wire(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace(f"`{_CAPITAL.sub(_with_underscore, name)}`", f"`{name}`")
    return _NONE.sub("null", text)


def _with_underscore(capital: re.Match[str]) -> str:
    return f"_{capital[0].lower()}"


def _complete(schema: dict[str, Any]) -> None:
    """Say the type of an enumeration of texts, which msgspec leaves out, and call a tuple of equal parts a list.

    Some tools of OpenAPI read no `prefixItems`; `minItems` and `maxItems` say how long the tuple is.
    """
    parts = schema.get("prefixItems")
    if parts and all(part == parts[0] for part in parts):
        schema["items"] = schema.pop("prefixItems")[0]
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        schema["type"] = "string"
    for part in (*schema.get("anyOf", ()), schema.get("items")):
        if isinstance(part, dict):
            _complete(part)
