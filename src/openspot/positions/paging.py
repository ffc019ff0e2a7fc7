"""Pages of lists whose rows have a serial number, newest first."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.http.responses import json_response, page_response

Row = TypeVar("Row")
SERIAL_MAX = 2**63 - 1


def serial_of(cursor: str | None) -> int:
    """Rows with a lower serial follow. Raises HttpError (400) for a cursor that no list gave."""
    if cursor is None:
        return SERIAL_MAX
    [serial] = decode_cursor(cursor, tuple[int])
    if not 0 <= serial <= SERIAL_MAX:
        raise unknown_cursor()
    return serial


def page(
    rows: Sequence[Row], limit: int, place: Callable[[Row], list[str | int]], entry: Callable[[Row], BaseModel]
) -> Response:
    """The page of `rows`, of which there is one more than `limit` if another page follows."""
    following = encode_cursor(place(rows[limit - 1])) if len(rows) > limit else None
    return page_response([body_of(entry(row)) for row in rows[:limit]], following)


def body_of(entry: BaseModel) -> Any:
    """A documented response as JSON has it."""
    return entry.model_dump(by_alias=True, mode="json")


def respond(entry: BaseModel, status: int = 200) -> Response:
    """A response with that body."""
    return json_response(body_of(entry), status)
