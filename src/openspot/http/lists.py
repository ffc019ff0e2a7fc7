"""Lists: a plain array, `?limit` and `?cursor`, the next cursor in `X-Next-Cursor` (fact B4.1-10)."""

import base64
import binascii
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import msgspec
from fastapi import Query

from openspot.http.errors import validation_error

Position = TypeVar("Position")

LIMIT_DEFAULT = 100
LIMIT_MAX = 1000
NEXT_CURSOR = "X-Next-Cursor"
CURSOR_LENGTH_MAX = 512

Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="How many entries at most")]
Cursor = Annotated[
    str | None,
    Query(max_length=CURSOR_LENGTH_MAX, description=f"Where to go on: `{NEXT_CURSOR}` of the page before"),
]

NEXT_CURSOR_HEADER = {
    NEXT_CURSOR: {"description": "Cursor of the next page; absent on the last", "schema": {"type": "string"}}
}


def encode_cursor(position: list[str | int]) -> str:
    """An opaque text for a position in a list."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def decode_cursor(cursor: str, shape: type[Position]) -> Position:
    """The position that `cursor` stands for. Raises HttpError (400) if this list did not give that cursor."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=shape)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise unknown_cursor() from error


def utc_of_cursor(time: datetime) -> datetime:
    """A time in a cursor, in UTC. Raises HttpError (400) for one that no list gave: without a zone, or out of range.

    The first and the last day that can be written have times in other zones that are on no day in UTC.
    """
    try:
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except OverflowError as error:
        raise unknown_cursor() from error
    raise unknown_cursor()


def unknown_cursor() -> Exception:
    """The refusal of a cursor that the list did not give."""
    return validation_error(["cursor is not one that this list gave"])
