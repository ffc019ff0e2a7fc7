"""Import files as streams of rows: CSV and JSON, each row with its line.

Both readers take the text in pieces, cut anywhere, and return rows one by one. So a file of any length needs the memory
of a few rows. A row that cannot be read is refused with its line and the reason, and reading goes on with the next row.
In a JSON array, however, nothing shows where the next row begins, so reading ends there. Numbers stay text: none
becomes a float.
"""

import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from openspot.positions.import_layouts import Layout, LayoutError, Record, normalise, recognise

RECORD_MAX = 65_536
"""Characters of the longest row."""

HEADER_LINES_MAX = 10
"""The header must be among the first rows. Some exports begin with a title and the user's name."""

_DELIMITERS = (",", ";", "\t")
_BLANK = re.compile(r"\s*")
_PIECE_MIN = 4096


class Reason(NamedTuple):
    """Why a row is refused. `field` is empty if the whole row is wrong."""

    field: str
    text: str


class Refused(NamedTuple):
    """A refused row. `line` is its line; in a JSON array, its place from 1. The external id may be unknown."""

    line: int
    external_id: str | None
    reasons: tuple[Reason, ...]


class Row(NamedTuple):
    """A row that was read: a mapping from normalised header to text."""

    line: int
    record: Record


def refusal(line: int, reason: str) -> Refused:
    """A row that is refused as a whole."""
    return Refused(line, None, (Reason("", reason),))


def split_lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that arrives in pieces. A line that is longer than RECORD_MAX is cut one character after."""
    held = ""
    for piece in pieces:
        *lines, rest = (held + piece).split("\n")
        yield from (line[: RECORD_MAX + 1] for line in lines)
        held = rest[: RECORD_MAX + 1]
    if held:
        yield held


def read_csv(pieces: Iterable[str], layout: Layout | None = None) -> tuple[Layout, Iterator[Row | Refused]]:
    """The layout of a CSV file and its rows. Quoted cells may hold line breaks.

    The delimiter is comma, semicolon or tab: the one with which a header is found. Without `layout` the layout is
    recognised. Raises LayoutError if none of the first rows is a header of this layout or of a known one.
    """
    source = _Lines(split_lines(pieces))
    first_seen: list[str] | None = None
    for _ in range(HEADER_LINES_MAX):
        if (taken := source.take()) is None:
            break
        for delimiter in _DELIMITERS:
            headers = [normalise(cell) for cell in _cells(taken[1], delimiter) or []]
            found = recognise(headers) if layout is None else layout
            if found is not None and found.headers <= set(headers):
                repeated = {header for header in headers if header and headers.count(header) > 1}
                if repeated:
                    raise LayoutError(f"header names a column twice: {', '.join(sorted(repeated))}")
                return found, _csv_rows(source, headers, delimiter)
            if first_seen is None and len(headers) > 1:
                first_seen = headers
    if layout is not None:
        raise LayoutError(f"file has no header with the columns {', '.join(sorted(layout.headers))}")
    raise LayoutError(
        f"header is of no known layout: {', '.join(first_seen or ['file has no columns'])}; give a mapping"
    )


class _Lines:
    """Physical lines with their numbers. A caller can put lines back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, start=1)
        self._back: deque[tuple[int, str]] = deque()

    def take(self) -> tuple[int, str] | None:
        return self._back.popleft() if self._back else next(self._lines, None)

    def put_back(self, lines: list[tuple[int, str]]) -> None:
        self._back.extendleft(reversed(lines))


def _csv_rows(source: _Lines, headers: list[str], delimiter: str) -> Iterator[Row | Refused]:
    while (first := source.take()) is not None:
        number, text = first
        if not text.strip():
            continue
        group, closed = _quoted_group(source, first)
        cells = _cells("\n".join(line for _, line in group), delimiter) if closed else None
        if cells is not None and len(cells) == len(headers) and not _holds_a_row(group, len(headers), delimiter):
            yield Row(number, dict(zip(headers, cells, strict=True)))
            continue
        # Only the line with the stray quote is refused. The lines after it are read again.
        source.put_back(group[1:])
        if len(text) > RECORD_MAX:
            yield refusal(number, f"is longer than {RECORD_MAX} characters")
        elif len(group) > 1 or not closed:
            yield refusal(number, "has a quote that is not closed")
        elif cells is None:
            yield refusal(number, "is not valid CSV")
        else:
            yield refusal(number, f"has {len(cells)} columns, the header has {len(headers)}")


def _quoted_group(source: _Lines, first: tuple[int, str]) -> tuple[list[tuple[int, str]], bool]:
    """The physical lines of one row, and whether its quotes close within RECORD_MAX characters."""
    group, size = [first], len(first[1])
    is_open = first[1].count('"') % 2 == 1
    while is_open and size <= RECORD_MAX:
        following = source.take()
        if following is None:
            break
        group.append(following)
        size += len(following[1])
        is_open ^= following[1].count('"') % 2 == 1
    return group, not is_open and size <= RECORD_MAX


def _holds_a_row(group: list[tuple[int, str]], columns: int, delimiter: str) -> bool:
    """Whether a later line of a quoted cell is a whole row. Then a quote is missing, and the cell has no end."""
    return any(line.count(delimiter) == columns - 1 for _, line in group[1:])


def _cells(text: str, delimiter: str) -> list[str] | None:
    """The cells of one row; None if it is not valid CSV."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def read_json(pieces: Iterable[str], layout: Layout | None = None) -> tuple[Layout, Iterator[Row | Refused]]:
    """The layout of a JSON file and its rows. The file is an array of objects, or has one object per line.

    `pieces` are parts of the text, cut anywhere. Without `layout`, the layout is recognised from the keys of the first
    object. Raises LayoutError if the file does not begin with an object, or if no known layout has its keys.
    """
    rows = _json_rows(_Text(pieces))
    if layout is not None:
        return layout, rows
    seen: list[Row | Refused] = []
    for row in rows:
        seen.append(row)
        if isinstance(row, Row):
            found = recognise(row.record)
            if found is None:
                raise LayoutError(f"keys are of no known layout: {', '.join(row.record)}; give a mapping")
            return found, chain(seen, rows)
        if len(seen) == HEADER_LINES_MAX:
            break
    reason = seen[0].reasons[0].text if seen and isinstance(seen[0], Refused) else "it is empty"
    raise LayoutError(f"file does not begin with an object: {reason}")


class _Text:
    """A text that arrives in pieces. `text[at:]` has not been read yet."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self.text = ""
        self.at = 0
        self.lines_passed = 0
        """The number of line ends among the blanks that `peek` skipped."""

    def more(self) -> bool:
        """Fetch the next pieces. Returns False at the end."""
        fetched: list[str] = []
        size = 0
        while size < _PIECE_MIN and (piece := next(self._pieces, None)) is not None:
            fetched.append(piece)
            size += len(piece)
        self.text = self.text[self.at :] + "".join(fetched)
        self.at = 0
        return bool(fetched)

    def peek(self) -> str:
        """The next character that is not blank; an empty text at the end."""
        while True:
            blank = _BLANK.match(self.text, self.at)
            assert blank is not None
            self.lines_passed += blank.group().count("\n")
            self.at = blank.end()
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def rest(self) -> Iterator[str]:
        """The unread rest of the text."""
        yield self.text[self.at :]
        yield from self._pieces


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=tuple)


def _json_rows(source: _Text) -> Iterator[Row | Refused]:
    if source.peek() == "\ufeff":
        source.at += 1
    if source.peek() == "[":
        source.at += 1
        return _array_rows(source)
    return _line_rows(source)


def _array_rows(source: _Text) -> Iterator[Row | Refused]:
    """The elements of an array. It ends with the first that is not valid JSON, because the next cannot be found."""
    place = 0
    if source.peek() == "]":
        source.at += 1
    else:
        while True:
            place += 1
            value = _decode_element(source)
            if isinstance(value, str):
                yield refusal(place, f"{value}; nothing after it was read")
                return
            yield _row(place, value)
            delimiter = source.peek()
            source.at += 1
            if delimiter == "]":
                break
            if delimiter != ",":
                yield refusal(place + 1, "does not follow a comma; nothing after it was read")
                return
    if source.peek():
        yield refusal(place + 1, "follows the end of the array and was not read")


def _decode_element(source: _Text) -> tuple[tuple[str, object], ...] | str:
    """The (key, value) pairs of the object that begins here, or the reason why there is none."""
    if source.peek() != "{":
        return "is not an object"
    while True:
        try:
            value, source.at = _DECODER.raw_decode(source.text, source.at)
        except RecursionError:
            return "is nested too deeply"
        except json.JSONDecodeError as error:
            if len(source.text) - source.at > RECORD_MAX:
                return f"is not valid JSON or longer than {RECORD_MAX} characters"
            if not source.more():
                return f"is not valid JSON: {error.msg}"
        else:
            pairs: tuple[tuple[str, object], ...] = value
            return pairs


def _line_rows(source: _Text) -> Iterator[Row | Refused]:
    """The rows of a text with one object per line."""
    for number, line in enumerate(split_lines(source.rest()), start=source.lines_passed + 1):
        if len(line) > RECORD_MAX:
            yield refusal(number, f"is longer than {RECORD_MAX} characters")
        elif line.strip():
            yield _line_row(number, line.strip())


def _line_row(number: int, line: str) -> Row | Refused:
    try:
        value, end = _DECODER.raw_decode(line)
    except json.JSONDecodeError as error:
        return refusal(number, f"is not valid JSON: {error.msg}")
    except RecursionError:
        return refusal(number, "is nested too deeply")
    if not line.startswith("{") or end != len(line):
        return refusal(number, "is not one object")
    return _row(number, value)


def _row(line: int, pairs: tuple[tuple[str, object], ...]) -> Row | Refused:
    record: dict[str, str] = {}
    for name, value in pairs:
        key = normalise(name)
        if key in record:
            return Refused(line, None, (Reason(name, "is given twice"),))
        if value is None:
            continue
        if not isinstance(value, str):
            return Refused(line, None, (Reason(name, "must be a text or a number"),))
        record[key] = value
    return Row(line, record)
