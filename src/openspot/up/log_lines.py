"""Reads the platform's log, which all processes write to: its newest lines, and what comes after them.

Services write a JSON object a line. NATS, PostgreSQL and the output of a crash are plain text there; the first two are
known by their form. Every read has a bound, however large the log is, and nothing is shown before it was redacted.
"""

import json
import re
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from openspot.kit.supervision import LogLine, LogPage
from openspot.up.redaction import SECRET_LENGTH_MAX, Redactor

LOG_NAME = "openspot.log"
LEVELS = ("debug", "info", "warning", "error")
"""From the least."""
LINES_MAX = 500
TEXT_LENGTH_MAX = 2000
REDACTED_LENGTH_MAX = 16_000
"""So much of a line is searched for secrets; what comes after it is not shown."""
PAGE_CHARACTERS_MAX = 300_000
SCAN_BYTES_MAX = 8 << 20
"""So much of the log is read for one page."""
BLOCK_BYTES = 1 << 16
LINE_BYTES_MAX = 1 << 20
"""A line beyond this is passed over in parts."""
_OWN_FIELDS = ("timestamp", "level", "service", "module", "event")
_NATS = re.compile(r"\[\d+\] (\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d\.\d+) \[([A-Z]{3})\] (.*)", re.DOTALL)
_NATS_LEVELS = {"INF": "info", "WRN": "warning", "ERR": "error", "FTL": "error", "DBG": "debug", "TRC": "debug"}
_POSTGRES = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d+) UTC \[\d+\] ([A-Z]+):\s+(.*)", re.DOTALL)
_POSTGRES_LEVELS = {"WARNING": "warning", "ERROR": "error", "FATAL": "error", "PANIC": "error"}
NATS, POSTGRES = "nats", "postgresql"
_LINE_ENDS = re.compile(rb"(?<=\n)")


class LogCursorError(ValueError):
    """The cursor is none that this log has given out."""


def read_page(
    path: Path,
    redactor: Redactor,
    *,
    services: Collection[str] = (),
    level: str = "",
    after: str = "",
    limit: int = 100,
) -> LogPage:
    """Lines of these services (of all without any) that have at least this level: the newest, or those after a cursor.

    Lines that name nobody, such as a traceback, belong to every service, as warnings. Raises LogCursorError; OSError if
    the log cannot be read.
    """
    wanted = _Wanted(redactor, frozenset(services), LEVELS.index(level) if level else 0)
    count = max(1, min(limit, LINES_MAX))
    with path.open("rb") as file:
        size, identity = file.seek(0, 2), path.stat().st_ino
        start = _position(after, identity, size)
        if start is None:
            return _newest(file, wanted, count, identity, size)
        return _following(file, wanted, count, identity, start)


class _Wanted:
    """Which lines are shown, and how."""

    def __init__(self, redactor: Redactor, services: frozenset[str], least: int) -> None:
        self._redactor = redactor
        self._services = services
        self._least = least

    def line(self, raw: bytes) -> LogLine | None:
        """The line as it is shown; None if it is not asked for."""
        found = parsed(raw.decode("utf-8", "replace").rstrip("\r\n"), self._redactor)
        if not found.text or LEVELS.index(found.level) < self._least:
            return None
        if self._services and found.service and found.service not in self._services:
            return None
        return found


def parsed(text: str, redactor: Redactor) -> LogLine:
    """A line of the log, with secrets hidden and cut to TEXT_LENGTH_MAX characters."""
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError:
            fields = None
        if isinstance(fields, dict):
            return _of_service(fields, redactor)
    if (found := _NATS.fullmatch(text)) is not None:
        at = f"{found[1]}-{found[2]}-{found[3]}T{found[4]}Z"
        return LogLine(at, NATS, _NATS_LEVELS.get(found[5], "info"), _shown(found[6].strip(), redactor))
    if (found := _POSTGRES.fullmatch(text)) is not None:
        said = found[4] if found[3] in ("LOG", *_POSTGRES_LEVELS) else f"{found[3]}: {found[4]}"
        level = _POSTGRES_LEVELS.get(found[3], "info")
        return LogLine(f"{found[1]}T{found[2]}Z", POSTGRES, level, _shown(said, redactor))
    return LogLine("", "", "warning", _shown(text, redactor))


def _of_service(fields: dict[str, Any], redactor: Redactor) -> LogLine:
    hidden = redactor.values(fields)
    level = str(hidden.get("level", "")).lower()
    module = f"{hidden['module']}: " if hidden.get("module") else ""
    more = "".join(f" {name}={_text(value)}" for name, value in hidden.items() if name not in _OWN_FIELDS)
    return LogLine(
        at=str(hidden.get("timestamp", ""))[:40],
        service=str(hidden.get("service", ""))[:64],
        level=level if level in LEVELS else "error" if level in ("critical", "exception") else "info",
        text=_shown(f"{module}{hidden.get('event', '')}{more}", redactor),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _shown(text: str, redactor: Redactor) -> str:
    # Redact first: a secret that is cut in two would not be known any more.
    is_long = len(text) > REDACTED_LENGTH_MAX
    shown = redactor(text[:REDACTED_LENGTH_MAX])[: -SECRET_LENGTH_MAX if is_long else None]
    return shown if len(shown) <= TEXT_LENGTH_MAX else f"{shown[: TEXT_LENGTH_MAX - 1]}…"


def _position(cursor: str, identity: int, size: int) -> int | None:
    """Where to go on; None for the newest lines: without a cursor, or if the log has begun anew since."""
    if not cursor:
        return None
    found = re.fullmatch(r"([0-9]{1,20})-([0-9]{1,20})", cursor)
    if found is None:
        raise LogCursorError("the cursor is none that this log has given out")
    return int(found[2]) if int(found[1]) == identity and int(found[2]) <= size else None


def _newest(file: BinaryIO, wanted: _Wanted, count: int, identity: int, size: int) -> LogPage:
    lines: deque[LogLine] = deque()
    characters, end, is_cut = 0, None, False
    for offset, raw in _backwards(file, size):
        if end is None:
            # What has no end yet is still being written: the next page has it.
            end = offset + len(raw) if raw.endswith(b"\n") else offset
            if not raw.endswith(b"\n"):
                continue
        line = wanted.line(raw)
        if line is None:
            continue
        characters += len(line.text)
        if len(lines) == count or characters > PAGE_CHARACTERS_MAX:
            is_cut = True
            break
        lines.appendleft(line)
    else:
        is_cut = size > SCAN_BYTES_MAX
    return LogPage(list(lines), f"{identity}-{size if end is None else end}", is_cut)


def _backwards(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """The lines of the end of the file, newest first, each with its offset."""
    position, rest = size, b""
    least = max(0, size - SCAN_BYTES_MAX)
    while position > least:
        begin = max(least, position - BLOCK_BYTES)
        file.seek(begin)
        block = file.read(position - begin) + rest
        lines = [line for line in _LINE_ENDS.split(block) if line]
        # The first one may have begun before this block.
        rest = lines.pop(0) if lines and begin > least and len(lines[0]) < LINE_BYTES_MAX else b""
        offset = begin + len(block)
        for line in reversed(lines):
            offset -= len(line)
            if not (begin == least and least > 0 and offset == begin):
                yield offset, line
        position = begin


def _following(file: BinaryIO, wanted: _Wanted, count: int, identity: int, start: int) -> LogPage:
    lines: list[LogLine] = []
    characters, position = 0, start
    file.seek(start)
    while len(lines) < count and characters < PAGE_CHARACTERS_MAX and position - start < SCAN_BYTES_MAX:
        raw = file.readline(LINE_BYTES_MAX)
        if not raw.endswith(b"\n") and len(raw) < LINE_BYTES_MAX:
            break
        position += len(raw)
        if (line := wanted.line(raw)) is not None:
            lines.append(line)
            characters += len(line.text)
    return LogPage(lines, f"{identity}-{position}")


def last_lines(path: Path, redactor: Redactor, services: Collection[str], count: int, length_max: int) -> list[str]:
    """The last lines of these services as short texts, oldest first, from the end of the log. Raises OSError."""
    page = read_page(path, redactor, services=services, limit=count)
    return [f"{line.at} {line.level} {line.text}".strip()[:length_max] for line in page.lines]
