"""What the files beside a journal prove about it.

The event store, the snapshots and the mark all follow the journal. So each of them proves that the journal once held
at least the commands that it knows. A journal that holds fewer has lost commands that were acknowledged.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from openspot.engine.journal.mark import MARK, read_mark
from openspot.engine.journal.rows import UNREADABLE, JournalDamagedError
from openspot.engine.journal.snapshots import FOLDER, snapshot_paths
from openspot.engine.stream.event_store import EVENTS, last_intact_event
from openspot.kit.log import get_logger

log = get_logger("journal")


class Proof(NamedTuple):
    """A file that proves commands of the journal with this epoch, up to `command_sequence`, and events likewise.

    Of a snapshot only the presence is known here: recovery reads it. Its epoch is empty and its sequences are 0.
    """

    path: Path
    epoch: str
    command_sequence: int
    event_sequence: int

    @property
    def is_snapshot(self) -> bool:
        """Whether the file is a snapshot."""
        return not self.epoch


def proofs_beside(journal: Path) -> list[Proof]:
    """The proofs in the folder of a journal. Files that cannot be read prove nothing and are named in the log."""
    found = [Proof(path, "", 0, 0) for path in snapshot_paths(journal.with_name(FOLDER))]
    mark_path = journal.with_name(MARK)
    mark = read_mark(mark_path)
    if mark is not None and mark.command_sequence:
        found.append(Proof(mark_path, mark.epoch, mark.command_sequence, mark.event_sequence))
    found.extend(_of_events(journal.with_name(EVENTS)))
    return found


def _of_events(path: Path) -> Iterator[Proof]:
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            epoch = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
            newest = last_intact_event(connection)
    except (*UNREADABLE, TypeError, ValueError) as error:
        log.warning("the event store proves nothing: it cannot be read", path=str(path), reason=str(error))
        return
    if newest is not None and epoch is not None and isinstance(epoch[0], str):
        yield Proof(path, epoch[0], newest.command_sequence, newest.sequence)


def require_no_other_journal(path: Path, proofs: list[Proof]) -> None:
    """Raise JournalDamagedError if files are there that belong to a journal, though `path` holds none."""
    if not proofs:
        return
    names = ", ".join(sorted({str(proof.path) for proof in proofs}))
    raise JournalDamagedError(
        f"the journal {path} is missing or empty, but files that belong to a journal are there: {names}. The "
        "engine does not begin an empty exchange beside them. Nothing was changed. Restore "
        f"{path.name} and {path.name}-wal from a backup. Only if you want an empty exchange: move the whole folder "
        f"{path.parent} away"
    )


def require_same_epoch(path: Path, epoch: str, proofs: list[Proof]) -> None:
    """Raise JournalDamagedError if a file beside the journal belongs to a journal with another epoch.

    Snapshots are not compared here. Recovery skips those of other journals.
    """
    for proof in proofs:
        if not proof.is_snapshot and proof.epoch != epoch:
            raise JournalDamagedError(
                f"the journal {path} has the epoch {epoch}, but {proof.path} belongs to a journal with the epoch "
                f"{proof.epoch}: they do not belong together, or one of them is damaged. Nothing was changed. Restore "
                f"the folder {path.parent} from a backup. Only if you know that this journal is the right one: move "
                f"{proof.path} away, and the next start makes it again"
            )


def strongest(proofs: list[Proof]) -> Proof | None:
    """The proof of the highest command, or None without any."""
    return max(proofs, key=lambda proof: proof.command_sequence, default=None)


def lost(path: Path, last_command: int, proof: Proof, reason: str, held: int = 0) -> JournalDamagedError:
    """The error for a journal that has lost acknowledged commands, with what to do.

    `held` is the last command of a damaged batch.
    """
    count = max(proof.command_sequence, held) - last_command
    return JournalDamagedError(
        f"the journal {path} is damaged: {reason}. It is intact up to command {last_command}, but {proof.path} proves "
        f"that commands up to {proof.command_sequence} were acknowledged: {count} commands are lost. Nothing was "
        f"changed. Restore the folder {path.parent} from a backup. `openspot engine verify` checks a journal. Only "
        f"without a backup: `openspot engine recover --accept-loss {count}` gives these commands up, keeps what it "
        "drops in a file, and says what to reconcile",
        reason,
    )
