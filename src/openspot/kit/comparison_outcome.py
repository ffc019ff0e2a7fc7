"""What became of the newest comparisons, in two files of the data directory: the last report, and a failure since then.

`openspot reconcile` writes them; the console, metrics, alerts and the timetable read them. Times in the files are in
milliseconds since 1970.
"""

import os
import time
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from openspot.kit.alone import Begun

REPORT = "reconcile.json"
"""Has the newest report, who or what began it, and when."""
FAILURE = "reconcile-failure.json"
"""Says why nothing could be compared since that report. The next report removes it."""
LOCK = "reconcile.lock"
"""Is held by whoever compares."""
REASON_LENGTH_MAX = 1000
Kind = TypeVar("Kind")


class ComparisonOutcome(NamedTuple):
    """`made_at` is when the last comparison ended that could be made, `failed_at` when one after it could not, and
    `reason` why; in seconds since 1970. `differences` are those that the last one found.

    Each is None or empty if there was none.
    """

    made_at: float | None = None
    failed_at: float | None = None
    reason: str = ""
    differences: int | None = None


class _Report(msgspec.Struct):
    differences: list[msgspec.Raw]
    unnamed: int


class _Kept(msgspec.Struct):
    at: float
    # Earlier releases kept a comparison that failed in this file, with its time.
    report: _Report | None = None


class _Failed(msgspec.Struct):
    at: float
    error: str


def keep_report(data_dir: Path, report: Any, begun: Begun) -> None:
    """Keep the report of a comparison that `begun` began. Raises OSError."""
    _write(data_dir / REPORT, {"at": _now(), "startedBy": begun.by, "startedAt": begun.at, "report": report})
    (data_dir / FAILURE).unlink(missing_ok=True)


def keep_failure(data_dir: Path, reason: str, begun: Begun) -> None:
    """Keep why nothing could be compared, beside the last report: what that one found is still so. Raises OSError."""
    kept = {"at": _now(), "startedBy": begun.by, "startedAt": begun.at, "error": reason[:REASON_LENGTH_MAX]}
    _write(data_dir / FAILURE, kept)


def comparison_outcome(data_dir: Path) -> ComparisonOutcome:
    """What the files of a data directory say. One that is missing or damaged says nothing."""
    kept, failed = _read(data_dir / REPORT, _Kept), _read(data_dir / FAILURE, _Failed)
    report = kept.report if kept is not None else None
    return ComparisonOutcome(
        made_at=kept.at / 1000 if kept is not None and report is not None else None,
        failed_at=failed.at / 1000 if failed is not None else None,
        reason=failed.error if failed is not None else "",
        differences=len(report.differences) + report.unnamed if report is not None else None,
    )


def _now() -> int:
    return time.time_ns() // 1_000_000


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(msgspec.json.encode(content))
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _read(path: Path, kind: type[Kind]) -> Kind | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
