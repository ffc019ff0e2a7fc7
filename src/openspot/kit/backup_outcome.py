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
LOCK = "backup.lock"
"""Is held by whoever makes a backup."""
REASON_LENGTH_MAX = 1000


class BackupOutcome(NamedTuple):
    """`made_at` is when the last good backup was made, `failed_at` when an attempt after it failed, and `reason` why.

    Each is None or empty if there was none. `new_bytes` of the `stored_bytes` of the last good one were stored for it:
    the others it shares with earlier ones. Both are None if that is not known.
    """

    made_at: float | None = None
    failed_at: float | None = None
    reason: str = ""
    stored_bytes: int | None = None
    new_bytes: int | None = None

    @property
    def age_s(self) -> float | None:
        """The seconds since the last good backup; None if none was made."""
        return None if self.made_at is None else max(0.0, time.time() - self.made_at)


def note_backup(
    data_dir: Path, name: str, taken_at: str, stored_bytes: int | None = None, new_bytes: int | None = None
) -> None:
    """Note a good backup. Raises OSError."""
    sizes = {"storedBytes": stored_bytes, "newBytes": new_bytes}
    _write(data_dir / LAST, {"name": name, "takenAt": taken_at, "time": time.time(), **sizes})
    (data_dir / FAILURE).unlink(missing_ok=True)


def note_failure(data_dir: Path, reason: str) -> None:
    """Note that no backup was made. Raises OSError."""
    _write(data_dir / FAILURE, {"time": time.time(), "reason": reason[:REASON_LENGTH_MAX]})


def backup_outcome(data_dir: Path) -> BackupOutcome:
    """What the files of a data directory say. One that is missing or damaged says nothing."""
    made, failed = _read(data_dir / LAST), _read(data_dir / FAILURE)
    return BackupOutcome(
        made_at=_time_of(made),
        failed_at=_time_of(failed),
        reason=str(failed.get("reason", "")) if failed else "",
        stored_bytes=_size_of(made, "storedBytes"),
        new_bytes=_size_of(made, "newBytes"),
    )


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


def _size_of(content: dict[str, Any], name: str) -> int | None:
    value = content.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _time_of(content: dict[str, Any]) -> float | None:
    value = content.get("time")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
