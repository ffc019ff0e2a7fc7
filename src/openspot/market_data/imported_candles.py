"""Candles of another venue: reading them from CSV, and making the larger intervals of them. Rules without IO."""

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from openspot.domain.candles import Interval, begin_of
from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_scaled

REQUIRED = ("symbol", "time", "open", "high", "low", "close", "volume")
COLUMNS = (*REQUIRED, "interval")
ROWS_MAX = 500_000
"""Candles of one file. All of them are in memory, together with the larger ones."""
LINE_MAX = 1000
"""Characters of one line."""
NUMBER_MAX = Decimal(10) ** 18
"""Prices and volumes are below it. So the products have room in the table."""


class CandleFileError(ValueError):
    """The file cannot be imported. The message names the line, the column and the reason."""


@dataclass(frozen=True, slots=True)
class ImportedCandle:
    """A candle of another venue. It began at `begins_at`, a begin of its interval."""

    symbol: str
    interval: Interval
    begins_at: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal


def read_candles(lines: Iterable[str], symbols: Collection[str], now: datetime) -> list[ImportedCandle]:
    """The candles of a CSV file with a header. Without the column `interval` they are of one minute.

    Raises CandleFileError at the first line that is wrong.
    """
    reader = csv.reader(_bounded(lines), strict=True)
    header: list[str] | None = None
    found: dict[tuple[str, Interval, datetime], ImportedCandle] = {}
    try:
        for row in reader:
            if not row:
                continue
            if header is None:
                header = _header(row)
                continue
            if len(row) != len(header):
                raise CandleFileError(
                    f"line {reader.line_num}: has {len(row)} columns, and the header has {len(header)}"
                )
            candle = _candle(dict(zip(header, row, strict=True)), symbols, now, reader.line_num)
            key = (candle.symbol, candle.interval, candle.begins_at)
            if key in found:
                raise CandleFileError(f"line {reader.line_num}: time: the file has this candle twice")
            if len(found) == ROWS_MAX:
                raise CandleFileError(f"line {reader.line_num}: a file has at most {ROWS_MAX} candles; split it")
            found[key] = candle
    except csv.Error as error:
        raise CandleFileError(f"line {reader.line_num}: {error}") from error
    if not found:
        raise CandleFileError("the file has no candle")
    return list(found.values())


def with_larger(candles: Iterable[ImportedCandle]) -> list[ImportedCandle]:
    """`candles`, and those of each larger interval. A candle that is given wins over one that is made."""
    given: dict[Interval, list[ImportedCandle]] = {interval: [] for interval in Interval}
    for candle in candles:
        given[candle.interval].append(candle)
    all_of_them: list[ImportedCandle] = []
    smaller: list[ImportedCandle] = []
    for interval in Interval:
        found = {(candle.symbol, candle.begins_at): candle for candle in _made(smaller, interval)}
        found |= {(candle.symbol, candle.begins_at): candle for candle in given[interval]}
        smaller = sorted(found.values(), key=lambda candle: (candle.symbol, candle.begins_at))
        all_of_them += smaller
    return all_of_them


def finest(candles: Iterable[tuple[Interval, int]]) -> list[tuple[Interval, int]]:
    """Of candles as (interval, minute since 1970) the shortest ones, which cover each time once, in their order."""
    covered: set[int] = set()
    found = []
    for interval, number in sorted(candles, key=lambda candle: (candle[0].length, candle[1])):
        minutes = range(number, number + interval.length // Interval.M1.length)
        if covered.isdisjoint(minutes):
            covered.update(minutes)
            found.append((interval, number))
    return sorted(found, key=lambda candle: candle[1])


def _made(ordered: Iterable[ImportedCandle], interval: Interval) -> list[ImportedCandle]:
    """Candles of `interval` from those of the next smaller one, which are ordered by symbol and time."""
    parts: dict[tuple[str, datetime], list[ImportedCandle]] = {}
    for candle in ordered:
        parts.setdefault((candle.symbol, begin_of(interval, candle.begins_at)), []).append(candle)
    return [
        ImportedCandle(
            symbol,
            interval,
            begins_at,
            found[0].open,
            max(candle.high for candle in found),
            min(candle.low for candle in found),
            found[-1].close,
            sum((candle.volume for candle in found), Decimal(0)),
        )
        for (symbol, begins_at), found in parts.items()
    ]


def _bounded(lines: Iterable[str]) -> Iterable[str]:
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_MAX:
            raise CandleFileError(f"line {number}: is longer than {LINE_MAX} characters")
        yield line.removeprefix("\ufeff") if number == 1 else line


def _header(row: list[str]) -> list[str]:
    names = [name.strip().lower() for name in row]
    if missing := [name for name in REQUIRED if name not in names]:
        raise CandleFileError(f"line 1: the header lacks {', '.join(missing)}; it names {', '.join(COLUMNS)}")
    if unknown := [name for name in names if name not in COLUMNS]:
        raise CandleFileError(f"line 1: no column is called {unknown[0]!r}; known are {', '.join(COLUMNS)}")
    if len(set(names)) != len(names):
        raise CandleFileError("line 1: the header names a column twice")
    return names


def _candle(row: Mapping[str, str], symbols: Collection[str], now: datetime, line: int) -> ImportedCandle:
    def refuse(column: str, reason: str) -> CandleFileError:
        return CandleFileError(f"line {line}: {column}: {reason}")

    symbol = row["symbol"].strip()
    if symbol not in symbols:
        raise refuse("symbol", f"there is no market {symbol[:40]!r}")
    text = row.get("interval", "").strip() or Interval.M1.value
    if text not in set(Interval):
        raise refuse("interval", f"{text[:40]!r} is none of {', '.join(Interval)}")
    interval = Interval(text)
    begins_at = _time(row["time"].strip())
    if begins_at is None:
        raise refuse("time", "is neither milliseconds since 1970 nor a time with its zone, as 2026-01-31T09:30:00Z")
    if begin_of(interval, begins_at) != begins_at:
        raise refuse("time", f"no interval of {interval} begins then (UTC; weeks begin on Monday)")
    if begins_at + interval.length > now:
        raise refuse("time", "the interval has not ended yet")
    numbers = {}
    for column in ("open", "high", "low", "close", "volume"):
        try:
            numbers[column] = number = parse_decimal(row[column].strip())
            to_scaled(number, AMOUNT_SCALE)
        except MoneyError as error:
            raise refuse(column, str(error)) from error
        if number < 0 or (number == 0 and column != "volume"):
            raise refuse(column, "is not positive")
        if number >= NUMBER_MAX:
            raise refuse(column, "is too large")
    if numbers["high"] < max(numbers["open"], numbers["low"], numbers["close"]):
        raise refuse("high", "is not the highest price")
    if numbers["low"] > min(numbers["open"], numbers["high"], numbers["close"]):
        raise refuse("low", "is not the lowest price")
    return ImportedCandle(symbol, interval, begins_at, **numbers)


def _time(text: str) -> datetime | None:
    try:
        if text.isascii() and text.isdigit():
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return None if time.tzinfo is None else time.astimezone(UTC)
