"""Spans in files of the data directory, one JSON object a line: enough to look at orders without a collector."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import format_trace_id

FOLDER = "traces"
SIZE_MAX = 16 * 1024 * 1024
"""A file that has grown beyond this many bytes becomes the old one, which is replaced."""


class SpanLine(NamedTuple):
    """A span as a line has it. Times are in ns since 1970."""

    trace_id: str
    """32 hexadecimal digits."""
    service: str
    name: str
    began: int
    ended: int
    attributes: dict[str, Any]


class FileExporter(SpanExporter):
    """Appends spans to the file of a process."""

    def __init__(self, data_dir: Path, name: str) -> None:
        self._path = data_dir / FOLDER / f"{name}.jsonl"

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append spans. A disk that takes none loses them, and nothing else."""
        lines = "".join(json.dumps(_line_of(span), separators=(",", ":")) + "\n" for span in spans)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > SIZE_MAX:
                self._path.replace(self._path.with_suffix(".old.jsonl"))
            # Several processes of a kind append to one file: each batch is one write.
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, lines.encode())
            finally:
                os.close(file)
        except OSError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is left to write: `export` writes at once."""


def read(data_dir: Path) -> Iterator[SpanLine]:
    """The spans of all files, in no order. A line that a kill or a full disk has cut is left out."""
    for path in sorted((data_dir / FOLDER).glob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    yield SpanLine(**json.loads(line))
                except (ValueError, TypeError):
                    continue


def _line_of(span: ReadableSpan) -> dict[str, Any]:
    line = SpanLine(
        format_trace_id(span.context.trace_id),
        str(span.resource.attributes["service.name"]),
        span.name,
        span.start_time or 0,
        span.end_time or 0,
        dict(span.attributes or {}),
    )
    return line._asdict()
