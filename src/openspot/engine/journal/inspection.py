"""`openspot engine verify` and `openspot engine export`: read a journal from its beginning.

Both are read-only, may run while an engine writes, and see the journal as it was when they started.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import msgspec

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Command, CommandKind, Result, decode_commands, decode_results
from openspot.engine.core.selection import make_core
from openspot.engine.journal.journal import JournalReader
from openspot.engine.journal.recovery import joined
from openspot.engine.journal.rows import Batch, JournalDamagedError
from openspot.engine.journal.snapshots import FOLDER, SnapshotError, read_snapshot, snapshot_paths
from openspot.engine.state.directory import DESCRIBE_CURRENCY, LIST_MARKET, NOTE_ACTION, Note
from openspot.engine.state.participants import REVOKE_TOKEN
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_render import EventRenderer

_BEFORE_PASSWORD_HASH = 3
_KINDS: dict[int, str] = {kind: kind.name for kind in CommandKind} | {
    DESCRIBE_CURRENCY: "DESCRIBE_CURRENCY",
    LIST_MARKET: "LIST_MARKET",
    NOTE_ACTION: "NOTE_ACTION",
    REVOKE_TOKEN: "REVOKE_TOKEN",
}


class VerifyReport(msgspec.Struct, rename="camel", frozen=True):
    """The result of verifying a journal. `state_hash` is the core's after a replay of all intact commands.

    `problems` is empty if every checksum is right and every snapshot equals the replay at its command.
    """

    path: str
    epoch: str
    core: str
    batches: int
    commands: int
    events: int
    state_hash: str
    snapshots: int
    seconds: float
    problems: list[str]

    @property
    def sound(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def verify(journal_path: Path, core: str = "auto") -> VerifyReport:
    """Verify every batch of a journal, replay it from the beginning, and compare the snapshots with the replay.

    Raises FileNotFoundError if there is no journal, JournalDamagedError if the file is not a journal,
    CoreUnavailableError.
    """
    started = time.perf_counter()
    problems: list[str] = []
    snapshots: dict[int, str] = {}
    batches = 0
    with closing(JournalReader(journal_path)) as reader:
        for path in snapshot_paths(journal_path.with_name(FOLDER)):
            try:
                header = read_snapshot(path, reader.epoch).header
                snapshots[header.command_sequence] = header.state_hash
            except SnapshotError as error:
                problems.append(f"snapshot {path.name}: {error}")
        replica = make_core(core)

        def counted() -> Iterator[Batch]:
            nonlocal batches
            try:
                for batch in reader.read():
                    batches += 1
                    yield batch
            except JournalDamagedError as error:
                problems.append(str(error))

        for commands, _ in joined(counted(), frozenset(snapshots)):
            replica.apply(commands)
            expected = snapshots.pop(replica.command_sequence, None)
            if expected is not None and replica.state_hash() != expected:
                problems.append(f"the snapshot at command {replica.command_sequence} differs from the replay")
        problems += [f"a snapshot was taken at command {sequence}, but no batch ends there" for sequence in snapshots]
        return VerifyReport(
            path=str(journal_path),
            epoch=reader.epoch,
            core=replica.name,
            batches=batches,
            commands=replica.command_sequence,
            events=replica.event_sequence,
            state_hash=replica.state_hash(),
            snapshots=len(snapshot_paths(journal_path.with_name(FOLDER))),
            seconds=time.perf_counter() - started,
            problems=problems,
        )


def export(journal_path: Path, out: TextIO, core: str = "auto") -> int:
    """Write every command with its result, followed by its events, as JSON lines. Returns the number of lines.

    A command is `{"type": "command", "sequence", "kind", "timestamp" (ns), …its fields, "note", "resultCode"}`,
    an event is the message of `/ws/events`. Writes everything before the first damage, then raises. Raises OSError,
    FileNotFoundError, JournalDamagedError, CoreUnavailableError.
    """
    lines = 0
    with closing(JournalReader(journal_path)) as reader:
        machine = StateMachine(make_core(core), 0)
        renderer = EventRenderer(machine.directory, reader.epoch)
        encode = msgspec.json.Encoder().encode
        for batch in reader.read():
            machine.register(batch.commands, batch.notes)
            applied = machine.apply(batch.commands, batch.notes)
            events = iter(renderer.messages(applied.events))
            rows = zip(decode_commands(batch.commands), batch.notes, decode_results(applied.results), strict=True)
            for number, (command, note, result) in enumerate(rows):
                out.write(encode(command_line(batch.first_sequence + number, command, note, result)).decode() + "\n")
                for _ in range(result.events):
                    out.write(next(events).decode() + "\n")
                lines += 1 + result.events
    return lines


def command_line(sequence: int, command: Any, note: Note, result: Result | None = None) -> dict[str, Any]:
    """A command as an export shows it. `result` is None for a command that was not applied."""
    fields = command._asdict()
    kind = fields.pop("kind") if isinstance(command, Command) else CommandKind.CREATE_SYMBOL
    # A 128-bit number exceeds what many JSON readers take as an integer.
    if "amount" in fields:
        fields["amount"] = str(fields["amount"])
    return {
        "type": "command",
        "sequence": sequence,
        "kind": _KINDS.get(kind, str(kind)),
        **fields,
        # Exports are passed on to others, so they leave out password hashes.
        "note": note[:_BEFORE_PASSWORD_HASH] if kind == CommandKind.CREATE_ACCOUNT else note,
        "resultCode": None if result is None else ResultCode(result.code).name,
    }
