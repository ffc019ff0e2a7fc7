"""What became of the newest backups, in two files of the data directory: the last good one, and a failure since then.

`openspot backup` writes them; `openspot status`, metrics, health and the timetable read them. Times are in seconds
since 1970.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

LAST = "last-backup.json"
"""Says when the last good backup was made."""
FAILURE = "last-backup-failure.json"
"""Says why the newest attempt failed. A good backup removes it."""
REASON_LENGTH_MAX = 1000


class BackupOutcome(NamedTuple):
    """`made_at` is when the last good backup was made, `failed_at` when an attempt after it failed, and `reason` why.

    Each is None or empty if there was none.
    """

    made_at: float | None = None
    failed_at: float | None = None
    reason: str = ""

    @property
    def age_s(self) -> float | None:
        """The seconds since the last good backup; None if none was made."""
        return None if self.made_at is None else max(0.0, time.time() - self.made_at)


def note_backup(data_dir: Path, name: str, taken_at: str) -> None:
    """Note a good backup. Raises OSError."""
    _write(data_dir / LAST, {"name": name, "takenAt": taken_at, "time": time.time()})
    (data_dir / FAILURE).unlink(missing_ok=True)


def note_failure(data_dir: Path, reason: str) -> None:
    """Note that no backup was made. Raises OSError."""
    _write(data_dir / FAILURE, {"time": time.time(), "reason": reason[:REASON_LENGTH_MAX]})


def backup_outcome(data_dir: Path) -> BackupOutcome:
    """What the files of a data directory say. One that is missing or damaged says nothing."""
    made, failed = _read(data_dir / LAST), _read(data_dir / FAILURE)
    return BackupOutcome(_time_of(made), _time_of(failed), str(failed.get("reason", "")) if failed else "")


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.draft")
    draft.write_text(json.dumps(content), "utf-8")
    draft.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _time_of(content: dict[str, Any]) -> float | None:
    value = content.get("time")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
