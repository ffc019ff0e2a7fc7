"""Positions in lists of orders and of order lists, and the cursors that name them."""

import re
from dataclasses import dataclass
from datetime import datetime

from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor, utc_of_cursor
from openspot.kit.clock import iso_of
from openspot.rest_edge.orders.schemas import ORDER_ID_PATTERN


@dataclass(frozen=True, slots=True)
class OrderPosition:
    """A position in a list, newest first. The page begins after this order, or this list of orders."""

    created_at: datetime
    entry_id: str

    @property
    def place(self) -> tuple[str, str]:
        """The position as a sort key of records."""
        return iso_of(self.created_at), self.entry_id


def position_of(cursor: str | None) -> OrderPosition | None:
    """The position that a cursor stands for. Raises HttpError (400) if no list of orders gave it."""
    if cursor is None:
        return None
    created_at, entry_id = decode_cursor(cursor, tuple[datetime, str])
    if not re.match(ORDER_ID_PATTERN, entry_id):
        raise unknown_cursor()
    return OrderPosition(utc_of_cursor(created_at), entry_id)


def cursor_of(following: OrderPosition | None) -> str | None:
    """The cursor of the next page; None if there is none."""
    return None if following is None else encode_cursor([following.created_at.isoformat(), following.entry_id])
