"""Notes of what operators did, as they pass through the journal.

The note of an action follows the commands that carry it out, in the same commit. The journal keeps the note, but not
whether the core carried out the commands. So this module remembers which actions were refused, in every snapshot; that
is rare, because most faults are found before a command is submitted. It also keeps the newest notes, so that a reader
that keeps up never reads the journal.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import COMMAND_SIZE, Command, decode_commands, decode_results
from openspot.engine.state.directory import DESCRIBING_KINDS, NOTE_ACTION, Note

RECENT_MAX = 1000
REFUSED_MAX = 10_000


class NotedAction(NamedTuple):
    """An action that was carried out: the sequence of its note, the time in ns since 1970, JSON of an EngineAction."""

    sequence: int
    time_ns: int
    text: str
    is_certain: bool = True


class OperatorActions:
    """Which actions were refused, and the newest of the others."""

    def __init__(self, refused: Sequence[int] = (), forgotten: int = 0, floor: int = 0) -> None:
        """`floor` is the last command that is not followed here."""
        self._refused = dict.fromkeys(refused)
        self.forgotten = forgotten
        """The newest action of which it is forgotten whether it was refused; 0 if there is none."""
        self.floor = floor
        """Every action after this command is among `recent`."""
        self.recent: deque[NotedAction] = deque()

    @property
    def refused(self) -> list[int]:
        """The notes of actions that were refused, oldest first."""
        return list(self._refused)

    def follow(self, commands: bytes, notes: Sequence[Note], results: bytes, first_sequence: int) -> None:
        """Follow durable commands, the first of which has the sequence `first_sequence`."""
        codes = [result.code for result in decode_results(results)]
        kinds = commands[::COMMAND_SIZE]
        for place, command in enumerate(decode_commands(commands)):
            if not isinstance(command, Command) or command.kind != NOTE_ACTION:
                continue
            count = command.order_id
            about = range(place - count, place)
            if any(codes[each] == ResultCode.SUCCESS or kinds[each] in DESCRIBING_KINDS for each in about):
                self._keep(NotedAction(first_sequence + place, command.timestamp, notes[place][0]))
            else:
                self._refuse(first_sequence + place)

    def _keep(self, action: NotedAction) -> None:
        self.recent.append(action)
        if len(self.recent) > RECENT_MAX:
            self.floor = self.recent.popleft().sequence

    def _refuse(self, sequence: int) -> None:
        self._refused[sequence] = None
        if len(self._refused) > REFUSED_MAX:
            self.forgotten = next(iter(self._refused))
            del self._refused[self.forgotten]

    def outcome(self, sequence: int) -> bool | None:
        """Whether the action with this note was carried out; None if that is forgotten."""
        if sequence in self._refused:
            return False
        return None if sequence <= self.forgotten else True
