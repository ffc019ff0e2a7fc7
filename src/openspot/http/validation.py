"""Types of incoming data: strict bodies, exact decimals, and error messages that name the field and the reason.

Unknown properties are refused and values are transformed to the declared types (fact A1.3-01). A decimal may come
as plain text ("0.015") or as a JSON number. A JSON number may have an exponent, because many languages write small
numbers so; a text may not have an exponent or a sign.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import AMOUNT_MAX, AMOUNT_PLACES, AMOUNT_SCALE, MoneyError, decimal_to_text, to_amount
from openspot.domain.symbol import CURRENCY_TEXT, SYMBOL_TEXT

_TEXT_LENGTH_MAX = 80
_PLAIN_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DECIMAL_PATTERN = rf"^[0-9]{{1,19}}(\.[0-9]{{1,{AMOUNT_PLACES}}})?$"
_DECIMAL_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": rf"^(?=.*[1-9])[0-9]+(\.[0-9]{{1,{AMOUNT_PLACES}}})?$"},
        {"type": "number", "minimum": 1 / AMOUNT_SCALE, "maximum": AMOUNT_MAX // AMOUNT_SCALE},
    ],
    "examples": ["0.015"],
}


def _exact_number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise PydanticCustomError("decimal", "must be a decimal number, as text or as a JSON number")
    if isinstance(value, str):
        if len(value) > _TEXT_LENGTH_MAX:
            raise PydanticCustomError("decimal", "is too long for a number")
        if not _PLAIN_DECIMAL.fullmatch(value):
            raise PydanticCustomError("decimal", "is not a plain decimal number such as 0.015")
    return Decimal(value)


def _within_range(number: Decimal) -> Decimal:
    try:
        if number.adjusted() < -AMOUNT_PLACES:
            raise MoneyError("decimal places")
        to_amount(number)
    except MoneyError as error:
        raise PydanticCustomError("decimal", "{reason}", {"reason": _reason(str(error))}) from error
    return number


def _positive_decimal(value: object) -> Decimal:
    number = _exact_number(value)
    if number <= 0:
        raise PydanticCustomError("decimal", "must be greater than 0")
    return _within_range(number)


def non_negative_decimal(value: object) -> Decimal:
    """Read a decimal of at least 0 with at most 18 places, for a validator. Raises PydanticCustomError."""
    number = _exact_number(value)
    if number < 0:
        raise PydanticCustomError("decimal", "must be at least 0")
    return _within_range(number)


def signed_decimal(value: object) -> Decimal:
    """Read a decimal of any sign with at most 18 places, for a validator. Raises PydanticCustomError."""
    return _within_range(_exact_number(value))


def _reason(text: str) -> str:
    return f"must have at most {AMOUNT_PLACES} decimal places" if "decimal places" in text else text


def _positive_decimal_text(value: object) -> str:
    return decimal_to_text(_positive_decimal(value))


def _any_decimal_text(value: object) -> str:
    return decimal_to_text(signed_decimal(value))


def _non_negative_decimal_text(value: object) -> str:
    return decimal_to_text(non_negative_decimal(value))


PositiveDecimal = Annotated[str, BeforeValidator(_positive_decimal_text), WithJsonSchema(_DECIMAL_SCHEMA)]
"""A decimal above 0 with at most 18 places, as plain text without trailing zeros."""

NonNegativeDecimal = Annotated[
    str,
    BeforeValidator(_non_negative_decimal_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": _DECIMAL_PATTERN},
                {"type": "number", "minimum": 0, "maximum": AMOUNT_MAX // AMOUNT_SCALE},
            ],
            "examples": ["0.015"],
        }
    ),
]
"""A decimal of at least 0 with at most 18 places, as plain text without trailing zeros."""

SignedDecimal = Annotated[
    str,
    BeforeValidator(_any_decimal_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": f"^-?{_DECIMAL_PATTERN[1:]}"},
                {"type": "number", "minimum": -(AMOUNT_MAX // AMOUNT_SCALE), "maximum": AMOUNT_MAX // AMOUNT_SCALE},
            ],
            "examples": ["-0.015"],
        }
    ),
]
"""A decimal of any sign with at most 18 places, as plain text without trailing zeros."""

ExactPositiveDecimal = Annotated[Decimal, BeforeValidator(_positive_decimal), WithJsonSchema(_DECIMAL_SCHEMA)]
"""A decimal above 0 with at most 18 places, as a `Decimal` with the trailing zeros of the request."""


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


def _currency(value: object) -> object:
    if not isinstance(value, str) or not CURRENCY_TEXT.fullmatch(value):
        raise PydanticCustomError("currency", "must be 2 to 10 capital letters or digits, for example BTC")
    return value


Currency = Annotated[
    str,
    BeforeValidator(_currency),
    WithJsonSchema({"type": "string", "pattern": f"^{CURRENCY_TEXT.pattern}$", "examples": ["BTC"]}),
]
"""A currency in the platform's format; whether it exists is not checked here."""


def _participant_id(value: object) -> object:
    if not isinstance(value, str) or not PARTICIPANT_ID_TEXT.fullmatch(value):
        raise PydanticCustomError("participant", "must be 1 to 64 letters, digits or _ : -")
    return value


ParticipantId = Annotated[
    str,
    BeforeValidator(_participant_id),
    WithJsonSchema({"type": "string", "pattern": f"^{PARTICIPANT_ID_TEXT.pattern}$"}),
]
"""A participant's id in the engine's format, which is also a user's id; whether it exists is not checked here."""


def _not_a_bool(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "must be a whole number")
    return value


NoBoolean = BeforeValidator(_not_a_bool)
"""Refuses true and false, which Python takes for numbers. It stands after the bounds, which OpenAPI then shows."""
WholeNumber = Annotated[int, NoBoolean]
"""A whole number, as text or as a JSON number. True and false are refused."""


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME_MS_MAX = 253_402_300_799_999
_TIME_MIN = datetime(1970, 1, 1, tzinfo=UTC)


def _utc_datetime(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("utc_datetime", "must be a text")
    if value.isascii() and value.isdigit() and len(value) <= len(str(_TIME_MS_MAX)):
        milliseconds = int(value)
        if milliseconds <= _TIME_MS_MAX:
            return _TIME_MIN + timedelta(milliseconds=milliseconds)
    try:
        # A plus sign that was not percent-encoded arrives as a space.
        read = datetime.fromisoformat(value.replace(" ", "+"))
        if read.tzinfo is not None and read >= _TIME_MIN:
            return read.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("utc_datetime", "must be ISO 8601 with an offset, or milliseconds since 1970")


UtcDatetime = Annotated[
    datetime,
    BeforeValidator(_utc_datetime),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"type": "string", "pattern": r"^[0-9]{1,14}$"},
            ],
            "examples": ["2026-01-02T03:04:05.678Z", "1767323045678"],
        }
    ),
]
"""A time, as ISO 8601 with an offset or as milliseconds since 1970; read as UTC."""


def _day(value: object) -> date:
    # Pydantic itself would read a number as seconds or milliseconds since 1970.
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise PydanticCustomError("day", "must be a date such as 1990-12-10")


Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
"""A date as ISO 8601: year, month, day."""


def _iso_utc_datetime(value: object) -> object:
    try:
        if isinstance(value, str) and not value.isdigit():
            return _utc_datetime(value)
    except PydanticCustomError:
        pass
    raise PydanticCustomError("iso_utc_datetime", "must be ISO 8601 with an offset")


IsoUtcDatetime = Annotated[
    datetime,
    BeforeValidator(_iso_utc_datetime),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-01-02T03:04:05.678Z"]}),
]
"""A time as ISO 8601 with an offset, read as UTC."""


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


LowerCase = BeforeValidator(_lower)
"""Turns a text of any letter case into lower case."""

PrintableText = StringConstraints(pattern=r"^[\x20-\x7e]+$")


class Body(BaseModel):
    """Base of request bodies: camelCase. Unknown properties are refused, plain values are transformed."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=False, coerce_numbers_to_str=True
    )


def example(fields: dict[str, Any]) -> ConfigDict:
    """Configuration of a body whose OpenAPI schema shows `fields` as its example."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class ResponseBody(BaseModel):
    """Base of documented responses: camelCase. It takes exactly the declared fields."""

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
    """One text for each of pydantic's `errors`, in their order."""
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
    """The error of a broken rule between fields; `message` itself names the fields."""
    return PydanticCustomError("rule", "{message}", {"message": message})
