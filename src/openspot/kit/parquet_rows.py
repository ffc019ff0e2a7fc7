"""Writes rows as an Apache Parquet file, in pieces: what is held is one group of rows and the file's index.

The library, pyarrow, is the extra `openspot[parquet]`. It is loaded by the first file: it takes a quarter of a second
and some 40 MB, which no process pays that writes none.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from importlib.util import find_spec
from typing import Any, NamedTuple

from openspot.domain.money import AMOUNT_PLACES

ROWS_IN_A_GROUP = 16_000
DECIMAL_DIGITS = 38
"""The most that 128 bits hold, which every reader of Parquet knows. No amount of the platform has more."""


class ColumnType(StrEnum):
    """What a column holds. Every cell may be missing."""

    TEXT = "text"
    DECIMAL = "decimal"
    """An exact decimal as plain text. In the file it is decimal128(38, 18)."""
    TIME = "time"
    """A time in ISO 8601. In the file it is a timestamp in UTC, in microseconds."""
    COUNT = "count"
    FLAG = "flag"


class Column(NamedTuple):
    """A column of a table, and the field of its rows."""

    name: str
    kind: ColumnType


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


class ParquetRows:
    """One file that is being written. Its methods take processor time: call them in a thread."""

    def __init__(self, columns: Iterable[Column]) -> None:
        """Raises ImportError if pyarrow is not installed."""
        import pyarrow
        import pyarrow.parquet

        self._columns = tuple(columns)
        self._arrow = pyarrow
        self._types = {
            ColumnType.TEXT: pyarrow.string(),
            ColumnType.DECIMAL: pyarrow.decimal128(DECIMAL_DIGITS, AMOUNT_PLACES),
            ColumnType.TIME: pyarrow.timestamp("us", tz="UTC"),
            ColumnType.COUNT: pyarrow.int64(),
            ColumnType.FLAG: pyarrow.bool_(),
        }
        self._schema = pyarrow.schema([(name, self._types[kind]) for name, kind in self._columns])
        self._written = _Written()
        self._writer = pyarrow.parquet.ParquetWriter(
            pyarrow.PythonFile(self._written, mode="w"), self._schema, compression="zstd"
        )
        self._waiting: list[Any] = []
        self._rows = 0

    def add(self, rows: Iterable[Mapping[str, Any]]) -> bytes:
        """The bytes of the file that `rows` complete; most often none.

        Raises ValueError or ArithmeticError for a value that its column cannot hold exactly: the file must end there.
        """
        values = list(rows)
        if values:
            arrays = [
                self._arrow.array([_CELLS[kind](row[name]) for row in values], self._types[kind])
                for name, kind in self._columns
            ]
            self._waiting.append(self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema))
            self._rows += len(values)
        if self._rows >= ROWS_IN_A_GROUP:
            self._write_group()
        return self._written.taken()

    def end(self) -> bytes:
        """The last bytes of the file, its index among them."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        return self._written.taken()

    def _write_group(self) -> None:
        self._writer.write_table(self._arrow.Table.from_batches(self._waiting), row_group_size=self._rows)
        self._waiting, self._rows = [], 0


class _Written:
    """A file for pyarrow that keeps what was written until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._place = 0

    def write(self, data: bytes) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._place += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _as_is(value: Any) -> Any:
    return value


def _decimal(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


_CELLS = {
    ColumnType.TEXT: _as_is,
    ColumnType.DECIMAL: _decimal,
    ColumnType.TIME: _time,
    ColumnType.COUNT: _as_is,
    ColumnType.FLAG: _as_is,
}
