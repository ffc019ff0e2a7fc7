"""Records are documented as they are sent: every field, its values, its format."""

from typing import Annotated, Literal

import msgspec

from openspot.contracts.messages.message import DayText, DecimalText, Message, TimeText, listed
from openspot.http.record_schemas import is_made_of_records, schemas_of
from openspot.http.validation import ResponseBody


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


def test_a_field_that_may_be_unset_is_not_required() -> None:
    class Open(Message, frozen=True):
        """What it is."""

        name: str
        count: int = 0
        note: str | msgspec.UnsetType = msgspec.UNSET

    _, components = schemas_of([Open])
    assert components["Open"]["required"] == ["name", "count"]
    assert components["Open"]["properties"]["note"] == {"type": "string"}


def test_a_value_that_the_schema_does_not_list_is_decoded() -> None:
    assert msgspec.json.decode(b'{"status": "paused"}', type=Whole).status == "paused"


def test_a_response_body_names_the_formats_of_its_texts_and_sends_them_as_they_are() -> None:
    class Priced(ResponseBody):
        price: DecimalText | None
        paid_at: TimeText
        day: DayText

    assert Priced.model_json_schema()["properties"] == {
        "price": {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "null"}], "title": "Price"},
        "paidAt": {"type": "string", "format": "date-time", "title": "Paidat"},
        "day": {"type": "string", "format": "date", "title": "Day"},
    }
    priced = Priced(price="1.50", paid_at="2026-01-02T03:04:05.678Z", day="2026-01-02")
    assert priced.model_dump_json(by_alias=True) == (
        '{"price":"1.50","paidAt":"2026-01-02T03:04:05.678Z","day":"2026-01-02"}'
    )


class Level(Message, frozen=True):
    """A level."""

    price: DecimalText


class Shapes(Message, frozen=True):
    """Of each shape one; `None` stays in `quotes`, and `first_level` is renamed.

    Nonetheless a word stays.
    """

    first_level: Level
    pairs: list[tuple[DecimalText, DecimalText]]
    maybe_pair: tuple[str, str] | None
    mixed: tuple[str, int]
    statuses: list[Literal["open", "closed"]]
    number: Literal[1, 2]
    status: Literal["open", "closed"] | None = None


def test_lists_tuples_and_enumerations_are_described_at_any_depth() -> None:
    (schema, other), components = schemas_of([Shapes, list[Level]])
    assert schema == {"$ref": "#/components/schemas/Shapes"}
    assert other == {"type": "array", "items": {"$ref": "#/components/schemas/Level"}}
    decimal = {"type": "string", "format": "decimal"}
    assert components == {
        "Level": {
            "title": "Level", "description": "A level.", "type": "object", "properties": {"price": decimal},
            "required": ["price"], "additionalProperties": False,
        },
        "Shapes": {
            "title": "Shapes",
            "description": "Of each shape one; `null` stays in `quotes`, and `firstLevel` is renamed.\n\n"
            "Nonetheless a word stays.",
            "type": "object",
            "properties": {
                "firstLevel": {"$ref": "#/components/schemas/Level"},
                "pairs": {
                    "type": "array",
                    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": decimal},
                },
                "maybePair": {
                    "anyOf": [
                        {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
                        {"type": "null"},
                    ]
                },
                "mixed": {
                    "type": "array", "minItems": 2, "maxItems": 2, "items": False,
                    "prefixItems": [{"type": "string"}, {"type": "integer"}],
                },
                "statuses": {"type": "array", "items": {"type": "string", "enum": ["closed", "open"]}},
                "number": {"enum": [1, 2]},
                "status": {"anyOf": [{"type": "string", "enum": ["closed", "open"]}, {"type": "null"}]},
            },
            "required": ["firstLevel", "pairs", "maybePair", "mixed", "statuses", "number", "status"],
            "additionalProperties": False,
        },
    }  # fmt: skip
