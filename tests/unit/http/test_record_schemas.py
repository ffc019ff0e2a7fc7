"""Records are documented as they are sent: every field, its values, its format."""

from typing import Annotated, Literal

import msgspec

from openspot.contracts.messages.message import DecimalText, Message, listed
from openspot.http.record_schemas import is_made_of_records, schemas_of


class Part(Message, frozen=True):
    """A part."""

    pair: Annotated[tuple[str, str], msgspec.Meta(description="[price, quantity]")]


class Whole(Message, frozen=True):
    """What it is.

    `full_price` is None without trades.
    """

    full_price: DecimalText | None = None
    side: Literal["buy", "sell"] = "buy"
    status: Annotated[str, listed("open", "closed")] = "open"
    parts: list[Part] | None = None


def test_a_record_or_a_list_of_records_is_told_from_other_types() -> None:
    assert is_made_of_records(Whole)
    assert is_made_of_records(list[Part])
    assert not is_made_of_records(list[str])
    assert not is_made_of_records(None)


def test_a_schema_names_every_field_as_required_with_its_format_and_values() -> None:
    (schema,), components = schemas_of([list[Whole]])
    assert schema == {"type": "array", "items": {"$ref": "#/components/schemas/Whole"}}
    assert components["Whole"] == {
        "title": "Whole",
        "description": "What it is.\n\n`fullPrice` is null without trades.",
        "type": "object",
        "properties": {
            "fullPrice": {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "null"}]},
            "side": {"type": "string", "enum": ["buy", "sell"]},
            "status": {"type": "string", "enum": ["open", "closed"]},
            "parts": {"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Part"}}, {"type": "null"}]},
        },
        "required": ["fullPrice", "side", "status", "parts"],
        "additionalProperties": False,
    }
    assert components["Part"]["properties"]["pair"]["description"] == "[price, quantity]"


def test_a_value_that_the_schema_does_not_list_is_decoded() -> None:
    assert msgspec.json.decode(b'{"status": "paused"}', type=Whole).status == "paused"
