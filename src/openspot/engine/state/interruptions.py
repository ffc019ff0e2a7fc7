"""The volatility interruptions of the markets: when each had its last one, and whether that is under way.

The core knows phases, not why a market is in one. The cause is the note of the SET_PHASE, so it is in the journal.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from openspot.domain.market_phase import PhaseCause
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Command, CommandKind, decode_commands, decode_results
from openspot.engine.state.directory import Note

PHASE_KINDS = frozenset({int(CommandKind.SET_PHASE), int(CommandKind.ADVANCE_PHASE)})


class Interruption(NamedTuple):
    """The last interruption of a symbol. `cause` is that of the auction that is under way, else empty."""

    symbol: int
    began_ns: int
    cause: str


class Interruptions:
    """The last interruption of each symbol that ever had one."""

    def __init__(self, rows: Sequence[Interruption] = ()) -> None:
        self._rows = {row.symbol: row for row in rows}

    def of(self, symbol: int) -> Interruption | None:
        """The last interruption of a symbol, or None."""
        return self._rows.get(symbol)

    def cause(self, symbol: int) -> str:
        """The cause of the auction that a symbol is in; empty if it is an operator's, or there is none."""
        row = self._rows.get(symbol)
        return row.cause if row else ""

    def follow(self, commands: bytes, notes: Sequence[Note], results: bytes) -> None:
        """Follow the commands of phases that were carried out."""
        for command, note in _carried_out(commands, notes, results):
            row, cause = self._rows.get(command.symbol), note[0] if note else ""
            if cause == PhaseCause.VOLATILITY:
                self._rows[command.symbol] = Interruption(command.symbol, command.timestamp, cause)
            elif row is not None:
                self._rows[command.symbol] = row._replace(cause=cause)

    def snapshot(self) -> list[Interruption]:
        """All of them, by symbol."""
        return [row for _, row in sorted(self._rows.items())]


def _carried_out(commands: bytes, notes: Sequence[Note], results: bytes) -> Iterator[tuple[Command, Note]]:
    for command, note, result in zip(decode_commands(commands), notes, decode_results(results), strict=True):
        if isinstance(command, Command) and command.kind in PHASE_KINDS and result.code == ResultCode.SUCCESS:
            yield command, note
