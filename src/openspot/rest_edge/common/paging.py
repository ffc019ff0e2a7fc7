"""Pages of a list that is sorted by time and id, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from pydantic import BaseModel
from starlette.responses import Response

from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.http.responses import page_response

Row = TypeVar("Row")
Entry = TypeVar("Entry", bound=BaseModel)

RowNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""The number of a row, in the cursor of a list that is sorted by it: what the database takes as one."""

_MICROSECONDS = 1_000_000
_MICROSECONDS_MAX = 4_102_444_800 * _MICROSECONDS
"""The year 2100."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """Entries, and the cursor of the next page if there is one."""

    entries: list[Entry]
    next_cursor: str | None


def position_of(cursor: str | None) -> tuple[datetime, str] | None:
    """The position after which a page begins. Raises HttpError (400) if no list gave the cursor."""
    if cursor is None:
        return None
    microseconds, last_id = decode_cursor(cursor, tuple[int, str])
    if not 0 <= microseconds <= _MICROSECONDS_MAX or "\x00" in last_id:
        raise unknown_cursor()
    seconds, rest = divmod(microseconds, _MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest), last_id


def page_of(
    rows: Sequence[Row], limit: int, place: Callable[[Row], tuple[datetime, str]], shown: Callable[[Row], Entry]
) -> Page[Entry]:
    """The page of `rows`, of which there is one more than `limit` if another page follows."""
    page = rows[:limit]
    cursor = None
    if len(rows) > limit:
        time, last_id = place(page[-1])
        cursor = encode_cursor([round(time.timestamp() * _MICROSECONDS), last_id])
    return Page([shown(row) for row in page], cursor)


def respond_with_page(page: Page[Any]) -> Response:
    """The response of a list."""
    return page_response([body_of(entry) for entry in page.entries], page.next_cursor)


def body_of(entry: BaseModel) -> dict[str, Any]:
    """A documented response as JSON has it."""
    return entry.model_dump(by_alias=True, mode="json")
