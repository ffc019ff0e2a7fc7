"""The newest ends of processes, which the supervisor keeps in the data directory.

The web server shows them. Operators' alerts tell of those that nobody asked for.
"""

import json
import os
import signal
import threading
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FILE_NAME = "process-ends.json"
KEPT_MAX = 100
CAUSE_LENGTH_MAX = 300
LINES_MAX = 12
LINE_LENGTH_MAX = 300
_writing = threading.Lock()
"""The supervisor alone writes, in threads: several processes may end at the same moment."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """A process that ended, `at_ms` in milliseconds since 1970. `cause` is in words.

    `is_asked` says that somebody asked for a restart; otherwise it ended by itself. `lines` are the last ones that it
    wrote into the log, without secrets, oldest first.
    """

    process: str
    title: str
    at_ms: int
    cause: str
    is_asked: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The end as a sentence without a full stop."""
        at = datetime.fromtimestamp(self.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"{self.title} ended at {at}: {self.cause}"


def cause_of(return_code: int, fault: str = "") -> str:
    """The cause of an end in words: the signal or the code, and the last fault that the process logged."""
    if return_code < 0:
        try:
            name = signal.Signals(-return_code).name
        except ValueError:
            name = str(-return_code)
        return f"signal {name}"
    text = f"exit code {return_code}"
    return f"{text}: {fault[:CAUSE_LENGTH_MAX]}" if fault else text


def note_end(data_dir: Path, end: ProcessEnd) -> None:
    """Add an end. The oldest give way. Raises OSError."""
    path = data_dir / FILE_NAME
    temporary = path.with_suffix(".new")
    with _writing:
        kept = [*read_ends(data_dir), end][-KEPT_MAX:]
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump([asdict(each) for each in kept], file)
        temporary.replace(path)


def read_ends(data_dir: Path) -> list[ProcessEnd]:
    """The newest ends, oldest first. Empty if there is no such file, or if it is damaged."""
    try:
        rows = json.loads((data_dir / FILE_NAME).read_bytes())
        return [
            ProcessEnd(
                process=str(row["process"]),
                title=str(row["title"]),
                at_ms=int(row["at_ms"]),
                cause=str(row["cause"]),
                # An earlier release wrote neither.
                is_asked=bool(row.get("is_asked", False)),
                lines=[str(line) for line in row.get("lines", [])],
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []
