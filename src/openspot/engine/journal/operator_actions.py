"""Finds the notes of operators' actions in the journal, for a reader that has fallen behind the engine's memory."""

from contextlib import closing
from pathlib import Path

from openspot.engine.core.records import COMMAND_SIZE, Command, decode_commands
from openspot.engine.journal.journal import read_only
from openspot.engine.journal.rows import Batch, raw_rows
from openspot.engine.state.directory import NOTE_ACTION
from openspot.engine.state.operator_actions import NotedAction

_ROW_OF = "SELECT coalesce(max(first_sequence), 1) FROM batches WHERE first_sequence <= ?"
COMMANDS_MAX = 50_000
"""After so many commands a page ends, so that it does not keep the processor for long."""


def journalled_actions(path: Path, after: int, through: int, limit: int) -> tuple[list[NotedAction], int]:
    """About `limit` notes after the command `after` up to `through`, and up to which command these are all.

    Whether an action was refused does not stand in the journal. Raises sqlite3.Error, and msgspec.MsgspecError for
    notes that make no sense.
    """
    found: list[NotedAction] = []
    with closing(read_only(path)) as connection:
        (start,) = connection.execute(_ROW_OF, (after + 1,)).fetchone()
        for row in raw_rows(connection, start - 1):
            if row.first_sequence > through:
                break
            if NOTE_ACTION in row.commands[::COMMAND_SIZE]:
                found += _of_batch(row.batch(), after, through)
            if len(found) >= limit or row.claimed_last >= after + COMMANDS_MAX:
                return found, min(row.claimed_last, through)
    return found, through


def _of_batch(batch: Batch, after: int, through: int) -> list[NotedAction]:
    commands = zip(decode_commands(batch.commands), batch.notes, strict=True)
    return [
        NotedAction(sequence, command.timestamp, note[0])
        for sequence, (command, note) in enumerate(commands, batch.first_sequence)
        if isinstance(command, Command) and command.kind == NOTE_ACTION and after < sequence <= through
    ]
