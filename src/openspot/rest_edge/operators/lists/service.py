"""Reads lists in pages, and writes them as files, which are read in pages, too."""

from collections.abc import AsyncIterator
from typing import Any

from openspot.http.lists import encode_cursor
from openspot.http.paging import time_and_id_of, time_place
from openspot.kit.database import Pool
from openspot.rest_edge.operators.exports import WantedFile, note_export
from openspot.rest_edge.operators.lists.listings import ListFilter, Listing, ListPosition
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.table_files import ROWS_AT_A_TIME, Rows


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

    async def note_export(self, listing: Listing, wanted: ListFilter, file: WantedFile) -> None:
        """Write into the trail that the list leaves the platform, before it does."""
        filters = {"user": wanted.user_id, "asset": wanted.asset, "state": wanted.state}
        if listing.has_assignees:
            filters["assignee"] = wanted.assignee
        await note_export(self._pool, listing.name, file, filters | Span(wanted.since, wanted.until).texts())

    async def pages(self, listing: Listing, wanted: ListFilter) -> AsyncIterator[Rows]:
        """All rows, newest first, page by page."""
        after: ListPosition | None = None
        while True:
            rows, after = await listing.page(self._pool, wanted, after, ROWS_AT_A_TIME)
            yield rows
            if after is None:
                return
