"""Reads lists in pages, and writes them as files.

A file is read in pages too, each in a statement of its own: nothing is held between them, however slowly the client
reads, and the memory does not grow with the file. So a row that is added meanwhile is not in it, and one that changes
is in it as it is when its page is read.
"""

from collections.abc import AsyncIterator
from typing import Any

from openspot.http.lists import encode_cursor
from openspot.http.paging import time_and_id_of, time_place
from openspot.kit.database import Pool
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.lists.listings import ListFilter, Listing, ListPosition
from openspot.rest_edge.operators.table_files import ROWS_AT_A_TIME, FileFormat, Rows


class Lists:
    """Lists over all users."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self, listing: Listing, wanted: ListFilter, limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page, newest first, and the cursor of the next. Raises HttpError (400) for a cursor that no list gave."""
        found = time_and_id_of(cursor)
        rows, following = await listing.page(self._pool, wanted, ListPosition(*found) if found else None, limit)
        return rows, None if following is None else encode_cursor(time_place(*following))

    async def note_export(self, listing: Listing, wanted: ListFilter, written_as: FileFormat, acting: Acting) -> None:
        """Write into the trail that the list leaves the platform, before it does."""
        times = {"from": wanted.since, "to": wanted.until}
        filters = {"user": wanted.user_id, "asset": wanted.asset, "state": wanted.state, "format": written_as.value}
        if listing.has_assignees:
            filters["assignee"] = wanted.assignee
        async with self._pool.acquire() as connection, connection.transaction():
            await record(
                connection, acting, f"{listing.name}.exported", "list", listing.name, {},
                filters | {name: None if time is None else time.isoformat() for name, time in times.items()},
            )  # fmt: skip

    async def pages(self, listing: Listing, wanted: ListFilter) -> AsyncIterator[Rows]:
        """All rows, newest first, page by page."""
        after: ListPosition | None = None
        while True:
            rows, after = await listing.page(self._pool, wanted, after, ROWS_AT_A_TIME)
            yield rows
            if after is None:
                return
