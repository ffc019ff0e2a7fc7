"""Pages of a sorted list, and the places at which they begin."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from pydantic import BaseModel
from starlette.responses import Response

from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.http.responses import body_of, page_response

Row = TypeVar("Row")
Entry = TypeVar("Entry", bound=BaseModel)
Place = list[str | int]
"""What a cursor holds: the values by which the list is sorted."""

SERIAL_MAX = 2**63 - 1
SerialNumber = Annotated[int, msgspec.Meta(ge=0, le=SERIAL_MAX)]
"""A row's serial number, within the range of the database. A list that is sorted by it has it in its cursors."""
_MICROSECONDS = 1_000_000
_MICROSECONDS_MAX = 4_102_444_800 * _MICROSECONDS
"""The year 2100."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """Entries, and the cursor of the next page if there is one."""

    entries: list[Entry]
    next_cursor: str | None


def page_of(
    rows: Sequence[Row], limit: int, place: Callable[[Row], Place], entry: Callable[[Row], Entry]
) -> Page[Entry]:
    """The first `limit` of `rows` as a page. One row more in `rows` says that another page follows."""
    cursor = encode_cursor(place(rows[limit - 1])) if len(rows) > limit else None
    return Page([entry(row) for row in rows[:limit]], cursor)


def respond_with_page(page: Page[Any]) -> Response:
    """The response of a list."""
    return page_response([body_of(entry) for entry in page.entries], page.next_cursor)


def serial_of(cursor: str | None) -> int:
    """The serial number in a cursor. The page holds the rows below it, newest first; without a cursor, the newest rows.

    Raises HttpError (400) for a cursor that no list gave.
    """
    if cursor is None:
        return SERIAL_MAX
    return decode_cursor(cursor, tuple[SerialNumber])[0]


def time_place(time: datetime, row_id: str) -> Place:
    """The place of a row in a list by time and id."""
    return [round(time.timestamp() * _MICROSECONDS), row_id]


def time_and_id_of(cursor: str | None) -> tuple[datetime, str] | None:
    """The time and the id in a cursor. The page begins behind them; None without a cursor.

    Raises HttpError (400) for a cursor that no list gave.
    """
    if cursor is None:
        return None
    microseconds, last_id = decode_cursor(cursor, tuple[int, str])
    if not 0 <= microseconds <= _MICROSECONDS_MAX or "\x00" in last_id:
        raise unknown_cursor()
    seconds, rest = divmod(microseconds, _MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest), last_id
