"""Shapes of what comes in: exact JSON, strict bodies, and texts that name the field and the reason.

Unknown properties are refused and values are transformed to the declared types (Document A 1.3): numbers may
come as JSON numbers or as text, and keep every digit, because a JSON number is never read as a float.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from openspot.domain.money import AMOUNT_PLACES, MoneyError, decimal_to_text, parse_decimal, to_amount
from openspot.domain.symbol import SYMBOL_TEXT

# A JSON number with a point or an exponent stays the text that it was.
_decoder = msgspec.json.Decoder(float_hook=str)
_INTEGER_MAX = 10**40


class MalformedJsonError(ValueError):
    """A body is no JSON; the message says where."""


def decode_json(body: bytes) -> Any:
    """The value that `body` writes, every number in it exact. Raises MalformedJsonError."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _decode_leniently(body, error)


def _decode_leniently(body: bytes, first: Exception) -> Any:
    """Read what only a strict parser refuses (NaN, Infinity, huge integers), so that its field can be named."""
    try:
        return json.loads(body, parse_float=str, parse_int=_integer, parse_constant=str)
    except (ValueError, RecursionError):
        raise MalformedJsonError(str(first)) from None


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= 40 else text


def _positive_decimal(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise PydanticCustomError("decimal", "must be a decimal number, as text or as a JSON number")
    if isinstance(value, int) and abs(value) >= _INTEGER_MAX:
        raise PydanticCustomError("decimal", "is too large")
    try:
        number = parse_decimal(str(value))
        if number > 0:
            to_amount(number)
    except MoneyError as error:
        raise PydanticCustomError("decimal", "{reason}", {"reason": _reason(str(error))}) from error
    if number <= 0:
        raise PydanticCustomError("decimal", "must be greater than 0")
    return decimal_to_text(number)


def _reason(text: str) -> str:
    return f"must have at most {AMOUNT_PLACES} decimal places" if "decimal places" in text else text


PositiveDecimal = Annotated[
    str,
    BeforeValidator(_positive_decimal),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "pattern": r"^\d+(\.\d{1,18})?$"}, {"type": "number", "exclusiveMinimum": 0}],
            "examples": ["0.015"],
        }
    ),
]
"""A decimal above 0 with at most 18 places, as plain text without trailing zeros."""


def _symbol(value: object) -> object:
    if not isinstance(value, str) or not SYMBOL_TEXT.fullmatch(value):
        raise PydanticCustomError("symbol", "must have the format <BASE>-<QUOTE>, for example BTC-USD")
    return value


Symbol = Annotated[
    str,
    BeforeValidator(_symbol),
    WithJsonSchema({"type": "string", "pattern": f"^{SYMBOL_TEXT.pattern}$", "examples": ["BTC-USD"]}),
]
"""A symbol in the platform's format; whether it exists is not checked here."""


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


LowerCase = BeforeValidator(_lower)
"""Any letter case in, lower case out."""

PrintableText = StringConstraints(pattern=r"^[\x20-\x7e]+$")


class Body(BaseModel):
    """Base of request bodies: camelCase, unknown properties refused, plain values transformed."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=False, coerce_numbers_to_str=True
    )


def example(fields: dict[str, Any]) -> ConfigDict:
    """Configuration of a body whose OpenAPI schema shows `fields` as its example."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class Answer(BaseModel):
    """Base of documented answers: camelCase, exactly the fields that are named."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


_REASONS = {
    "missing": "is required",
    "string_type": "must be a text",
    "string_too_long": "must be at most {max_length} characters long",
    "string_too_short": "must be at least {min_length} characters long",
    "string_pattern_mismatch": "has characters that are not allowed",
    "enum": "must be one of {expected}",
    "literal_error": "must be one of {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
}
_PLACES = frozenset({"body", "query", "path", "header"})


def messages_of(errors: Sequence[Any]) -> list[str]:
    """A text for each of pydantic's `errors`, in their order."""
    return [_message(error) for error in errors]


def _message(error: dict[str, Any]) -> str:
    place = [str(part) for part in error["loc"]]
    if len(place) > 1 and place[0] in _PLACES:
        place = place[1:]
    field = ".".join(place) or "body"
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return f"property {field} should not exist"
    if kind == "rule":
        return str(error["msg"])
    reason = _REASONS.get(kind)
    return f"{field} {reason.format(**context) if reason else error['msg']}"


def rule_broken(message: str) -> PydanticCustomError:
    """The fault of a rule between fields; `message` names the field itself."""
    return PydanticCustomError("rule", "{message}", {"message": message})
