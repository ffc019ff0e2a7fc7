"""Reads level-3 files: `id,timestamp,exchange_timestamp,price,volume,action,direction`, plain, .gz or .xz."""

import csv
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TextIO

from openspot.domain.money import MoneyError, parse_decimal

ORDER_COLUMNS = ("id", "timestamp", "price", "volume", "action", "direction")
TRADE_COLUMNS = ("timestamp", "price", "amount")
ACTIONS = frozenset({"created", "changed", "deleted"})
SIDES = {"bid": "buy", "ask": "sell"}
ID_LENGTH_MAX = 64
ROW_LENGTH_MAX = 4096


class SourceError(Exception):
    """A file cannot be replayed. The message names the file, the line, the field and the reason."""


@dataclass(frozen=True, slots=True)
class BookEvent:
    """One event of a venue's book: `volume` is what remained after it. `timestamp` in milliseconds since 1970."""

    venue_id: str
    timestamp: int
    price: Decimal
    volume: Decimal
    action: str
    side: str


@dataclass(frozen=True, slots=True)
class VenueTotals:
    """What the venue itself traded."""

    trades: int
    volume: Decimal


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with _open_text(path) as file:
            yield file
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error


def _open_text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the wanted columns of each row."""
    with _opened(path) as file:
        reader = csv.reader(_bounded(path, file))
        try:
            header = next(reader, [])
            missing = [column for column in columns if column not in header]
            if missing:
                raise SourceError(f"{path}: line 1: no column {', '.join(missing)}")
            indexes = [header.index(column) for column in columns]
            for row in reader:
                if len(row) != len(header):
                    raise SourceError(f"{path}: line {reader.line_num}: {len(row)} fields instead of {len(header)}")
                yield reader.line_num, [row[index] for index in indexes]
        except csv.Error as error:
            raise SourceError(f"{path}: line {reader.line_num}: {error}") from error


def _bounded(path: Path, file: TextIO) -> Iterator[str]:
    """Yield the lines of the file. Raises SourceError for a line that is too long, before it fills the memory."""
    while line := file.readline(ROW_LENGTH_MAX):
        if len(line) == ROW_LENGTH_MAX:
            raise SourceError(f"{path}: a line is longer than {ROW_LENGTH_MAX} characters")
        yield line


def read_events(path: Path) -> Iterator[BookEvent]:
    """The events of a file in file order. Raises SourceError when it reaches a bad line."""
    for line, (venue_id, timestamp, price, volume, action, direction) in _rows(path, ORDER_COLUMNS):
        place = f"{path}: line {line}"
        if not 0 < len(venue_id) <= ID_LENGTH_MAX:
            raise SourceError(f"{place}: id must have 1 to {ID_LENGTH_MAX} characters")
        if action not in ACTIONS:
            raise SourceError(f"{place}: action must be one of {', '.join(sorted(ACTIONS))}, not {action[:20]!r}")
        if direction not in SIDES:
            raise SourceError(f"{place}: direction must be bid or ask, not {direction[:20]!r}")
        yield BookEvent(
            venue_id,
            _milliseconds(timestamp, place),
            _amount(price, f"{place}: price"),
            _amount(volume, f"{place}: volume"),
            action,
            SIDES[direction],
        )


def venue_trades_path(path: Path) -> Path | None:
    """The venue's own trades beside an orders file: `…_orders.csv.gz` has `…_trades.csv`, plain or packed."""
    stem, found, _ = path.name.rpartition("_orders.csv")
    if not found:
        return None
    candidates = (path.with_name(f"{stem}_trades.csv{ending}") for ending in (".gz", ".xz", ""))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def read_venue_totals(path: Path, until: int) -> VenueTotals:
    """Number and volume of the venue's trades up to `until` (milliseconds since 1970). Raises SourceError."""
    trades, volume = 0, Decimal(0)
    for line, (timestamp, _, amount) in _rows(path, TRADE_COLUMNS):
        place = f"{path}: line {line}"
        if _milliseconds(timestamp, place) <= until:
            trades += 1
            volume += _amount(amount, f"{place}: amount")
    return VenueTotals(trades, volume)


def _milliseconds(text: str, place: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise SourceError(f"{place}: timestamp must be milliseconds since 1970, not {text[:20]!r}")
    return int(text)


def _amount(text: str, place: str) -> Decimal:
    try:
        amount = parse_decimal(text)
    except MoneyError as error:
        raise SourceError(f"{place} {error}") from error
    if amount < 0:
        raise SourceError(f"{place} is negative")
    return amount
