"""JSON of request bodies, read exactly: UTF-8 without a byte order mark, no property twice, every digit kept.

A number with a point or an exponent becomes a `Decimal`, never a float. NaN and Infinity, which are not JSON, become
texts, so that validation can name their field. So do numbers whose exponent is too large for a `Decimal`.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

_INTEGER_DIGITS_MAX = 40
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class MalformedJsonError(ValueError):
    """A body cannot be read exactly as JSON; the message says why."""


def decode_json(body: bytes) -> Any:
    """Return the value of a JSON body. Raises MalformedJsonError."""
    try:
        value = _decode_fast(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_exactly(body)
    # msgspec does not notice a property that is given twice. Each property has a colon. So if there are as many colons
    # as properties, no property is given twice and no object lies within another.
    if isinstance(value, dict) and body.count(b":") == len(value):
        return value
    return _decode_exactly(body)


def _decode_exactly(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJsonError("it is not UTF-8") from error
    if text.startswith("\ufeff"):
        raise MalformedJsonError("it begins with a byte order mark")
    try:
        value = _decode(text)
        if _SURROGATE_ESCAPE.search(text):
            _check_surrogates(value)
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"{error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise MalformedJsonError("it is nested too deeply") from error
    return value


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _INTEGER_DIGITS_MAX else Decimal(text)


def _fraction(text: str) -> Decimal | str:
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedJsonError(f"the property {json.dumps(twice[:64])} is given twice")
    return content


def _check_surrogates(value: Any) -> None:
    """Raise MalformedJsonError if a text holds half of a surrogate pair: no encoder could write it again."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedJsonError("a text holds half of a surrogate pair") from error


_decode_fast = msgspec.json.Decoder(float_hook=_fraction).decode
_decode = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_fraction, parse_int=_integer, parse_constant=str
).decode
