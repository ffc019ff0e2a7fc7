"""Lists that leave the platform as files. The trail notes a file before its first row is read.

A file is read in pages, each by itself: nothing is held between them, however slowly the client reads. So a row that
is added meanwhile is not in it, and one that changes is in it as it is when its page is read.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import msgspec
from fastapi import Depends, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.paging import Page
from openspot.http.policy import Permission
from openspot.kit.database import Pool
from openspot.kit.parquet_rows import Column
from openspot.rest_edge.operators.acting import Acting, acting, record, require_permission
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.table_files import (
    ROWS_AT_A_TIME,
    FileFormat,
    FormatQuery,
    Rows,
    file_response,
    require_writable,
)

ReasonQuery = Annotated[Reason, Query(description="Why the file is made; the trail keeps it")]
Filters: TypeAlias = Mapping[str, str | None]
Entry: TypeAlias = BaseModel | msgspec.Struct
PageReader: TypeAlias = Callable[[int, str | None], Awaitable[Page[Any] | tuple[Sequence[Entry], str | None]]]
"""Reads a page of so many rows, behind a cursor, with the cursor of the next. None is the beginning and the end."""


@dataclass(frozen=True, slots=True)
class WantedFile:
    """Who asks for a file, why, and what it is to be written as."""

    acting: Acting
    written_as: FileFormat


async def _wanted(request: Request, reason: ReasonQuery, written_as: FormatQuery = FileFormat.CSV) -> WantedFile:
    require_writable(written_as)
    return WantedFile(acting(request, reason), written_as)


WantedFileQuery = Annotated[WantedFile, Depends(_wanted)]
"""The parameters of a route that gives a file. Raises HttpError (400) for a format that cannot be written here."""


async def note_export(pool: Pool, name: str, wanted: WantedFile, filters: Filters) -> None:
    """Write into the trail that the list leaves the platform."""
    async with pool.acquire() as connection, connection.transaction():
        await record(
            connection, wanted.acting, f"{name}.exported", "list", name, {},
            {**filters, "format": wanted.written_as.value},
        )  # fmt: skip


class Exports:
    """Files of lists whose pages have cursors."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note(self, name: str, wanted: WantedFile, filters: Filters) -> None:
        """Write into the trail that a list leaves the platform whose pages are read elsewhere."""
        await note_export(self._pool, name, wanted, filters)

    async def file(
        self,
        name: str,
        columns: Sequence[Column],
        wanted: WantedFile,
        filters: Filters,
        read: PageReader,
        *,
        needs: Permission,
    ) -> Response:
        """The list as the file `name`. Whoever may export and may not read it (`needs`) is refused: 403.

        Raises what `read` raises for the first page: a refusal is then the response, not a file that ends broken.
        """
        require_permission(wanted.acting.operator, needs)
        await self.note(name, wanted, filters)
        first = await _page(read, None)
        return file_response(name, wanted.written_as, columns, _pages(read, first))


async def _page(read: PageReader, cursor: str | None) -> tuple[Rows, str | None]:
    page = await read(ROWS_AT_A_TIME, cursor)
    entries, following = (page.entries, page.next_cursor) if isinstance(page, Page) else page
    return [_row(entry) for entry in entries], following


async def _pages(read: PageReader, page: tuple[Rows, str | None]) -> AsyncIterator[Rows]:
    while True:
        rows, cursor = page
        yield rows
        if cursor is None:
            return
        page = await _page(read, cursor)


def _row(entry: Entry) -> dict[str, Any]:
    fields = msgspec.structs.asdict(entry) if isinstance(entry, msgspec.Struct) else entry.model_dump(mode="json")
    return {name: _cell(value) for name, value in fields.items()}


def _cell(value: Any) -> Any:
    """A list as its texts, what has names as JSON: a cell holds one value."""
    if value is msgspec.UNSET:
        return None
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value
