"""Lists of several accounts of one user, read as one. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Row = TypeVar("Row")
Place = TypeVar("Place", bound=tuple[Any, ...])


def merged(
    pages: Sequence[tuple[Sequence[Row], Place | None]], limit: int, place_of: Callable[[Row], Place]
) -> tuple[list[Row], Place | None]:
    """A page of all accounts out of a page of each, the largest place first, and where the next begins.

    Each page comes with the place behind which its account goes on, None if nothing follows. What lies behind the
    first of these places waits for the next page: rows of that account may come before it.
    """
    end = max((place for _, place in pages if place is not None), default=None)
    # Of the page that ends there all rows count: a database may sort texts of one moment otherwise than Python.
    rows = [row for page, own in pages for row in page if end in (None, own) or place_of(row) >= end]
    rows.sort(key=place_of, reverse=True)
    if len(rows) > limit:
        return rows[:limit], place_of(rows[limit - 1])
    return rows, end
