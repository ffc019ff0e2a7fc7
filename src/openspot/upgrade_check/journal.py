"""Replays the journal of the old release with the new one, and compares states.

An engine that runs lets others read its journal. If none runs, a copy is read: even reading leaves files beside it.

What the old release thought its state was stands in its snapshots: each has the state hash after a command.
"""

import shutil
from contextlib import closing
from pathlib import Path

from openspot.engine.core.selection import CoreUnavailableError
from openspot.engine.journal.inspection import verify
from openspot.engine.journal.journal import read_only
from openspot.engine.journal.rows import UNREADABLE, JournalDamagedError, meta_of
from openspot.engine.journal.snapshots import FOLDER, snapshot_paths
from openspot.upgrade_check.report import JournalChecked


def copy_journal(path: Path, folder: Path) -> Path:
    """Copy a journal that no engine writes, with its snapshots, into a new folder. Returns the copy. Raises OSError."""
    folder.mkdir(mode=0o700)
    for each in sorted(path.parent.glob(f"{path.name}*")):
        shutil.copy2(each, folder / each.name)
    if (snapshots := path.with_name(FOLDER)).is_dir():
        shutil.copytree(snapshots, folder / FOLDER)
    return folder / path.name


def check_journal(path: Path, core: str) -> tuple[JournalChecked | None, list[str]]:
    """(what was replayed, problems). There is nothing to replay before the first start."""
    if not path.exists():
        return None, []
    try:
        report = verify(path, core)
        with closing(read_only(path)) as connection:
            meta = meta_of(connection, path)
    except (JournalDamagedError, CoreUnavailableError, ImportError, ValueError, *UNREADABLE) as error:
        return None, [f"this release cannot replay the journal {path}: {error}"]
    snapshots = [int(each.stem) for each in snapshot_paths(path.with_name(FOLDER)) if each.stem.isdigit()]
    compared = [sequence for sequence in snapshots if 0 < sequence <= report.commands]
    checked = JournalChecked(
        format=meta[0] if meta else "",
        commands=report.commands,
        events=report.events,
        state_hash=report.state_hash,
        compared=len(compared),
        compared_command=max(compared, default=0),
        seconds=round(report.seconds, 1),
    )
    return checked, report.problems
