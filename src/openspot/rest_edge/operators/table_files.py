"""Tables that leave the platform as files: CSV or Apache Parquet, streamed page by page.

Both have the same columns and rows. In a CSV file every cell is text, and a spreadsheet computes none of them. In a
Parquet file an amount is decimal(38, 18), a time is a timestamp in UTC, and a cell without a value is null.
"""

import asyncio
from collections.abc import AsyncIterator, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from fastapi import Query
from starlette.responses import Response, StreamingResponse

from openspot.http.errors import validation_error
from openspot.http.validation import ResponseBody
from openspot.kit.csv_lines import csv_line
from openspot.kit.parquet_rows import Column, ColumnType, ParquetRows, has_parquet

Rows = Sequence[Mapping[str, Any]]
ROWS_AT_A_TIME = 1000


class FileFormat(StrEnum):
    """What a file of a table is written as."""

    CSV = "csv"
    PARQUET = "parquet"


FormatQuery = Annotated[FileFormat, Query(alias="format", description="What the file is written as")]
_MEDIA_TYPES = {FileFormat.CSV: "text/csv", FileFormat.PARQUET: "application/vnd.apache.parquet"}
TABLE_FILE: dict[int | str, Any] = {
    200: {
        "content": {
            _MEDIA_TYPES[FileFormat.CSV]: {"schema": {"type": "string"}},
            _MEDIA_TYPES[FileFormat.PARQUET]: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}
"""The documented response of a route that gives such a file."""

_KINDS = {"decimal": ColumnType.DECIMAL, "date-time": ColumnType.TIME}
_KINDS_BY_TYPE = {"integer": ColumnType.COUNT, "boolean": ColumnType.FLAG}


def columns_of(row: type[ResponseBody] | type[msgspec.Struct], without: Container[str] = ()) -> tuple[Column, ...]:
    """The columns for the rows that `row` documents, by the names of its fields, but for those of `without`."""
    properties = _record_fields(row) if issubclass(row, msgspec.Struct) else _body_fields(row)
    return tuple(Column(name, _kind_of(schema)) for name, schema in properties.items() if name not in without)


def _body_fields(row: type[ResponseBody]) -> dict[str, Any]:
    fields: dict[str, Any] = row.model_json_schema(by_alias=False, mode="serialization")["properties"]
    return fields


def _record_fields(row: type[msgspec.Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([row])
    properties = components[row.__name__]["properties"]
    return {field.name: properties[field.encode_name] for field in msgspec.structs.fields(row)}


def _kind_of(schema: dict[str, Any]) -> ColumnType:
    given = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
    by_type = _KINDS_BY_TYPE.get(given.get("type", ""), ColumnType.TEXT)
    return _KINDS.get(given.get("format", ""), by_type)


def require_writable(wanted: FileFormat) -> None:
    """Raises HttpError (400) if this server has no library for the format."""
    if wanted is FileFormat.PARQUET and not has_parquet():
        raise validation_error(["format must be csv: Parquet needs pyarrow on this server, install openspot[parquet]"])


def file_response(name: str, wanted: FileFormat, columns: Sequence[Column], pages: AsyncIterator[Rows]) -> Response:
    """The file `name`, with the format's ending. If a page cannot be read, the response ends broken, not short."""
    pieces = csv_pieces(columns, pages) if wanted is FileFormat.CSV else parquet_pieces(columns, pages)
    header = f'attachment; filename="{name}.{wanted}"'
    return StreamingResponse(pieces, media_type=_MEDIA_TYPES[wanted], headers={"Content-Disposition": header})


async def in_pages(rows: Rows) -> AsyncIterator[Rows]:
    """Rows that are there already, in pages."""
    for first in range(0, len(rows), ROWS_AT_A_TIME):
        yield rows[first : first + ROWS_AT_A_TIME]


async def csv_pieces(columns: Iterable[Column], pages: AsyncIterator[Rows]) -> AsyncIterator[bytes]:
    """A CSV file in pieces, one for each page."""
    names = [column.name for column in columns]
    yield csv_line(names).encode()
    async for page in pages:
        yield "".join(csv_line([_text(row[name]) for name in names]) for row in page).encode()


async def parquet_pieces(columns: Iterable[Column], pages: AsyncIterator[Rows]) -> AsyncIterator[bytes]:
    """A Parquet file in pieces. Raises ValueError or ArithmeticError for a value that its column cannot hold."""
    file = await asyncio.to_thread(ParquetRows, columns)
    async for page in pages:
        if piece := await asyncio.to_thread(file.add, page):
            yield piece
    yield await asyncio.to_thread(file.end)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
