"""The commands by which the engine itself moves markets on: the end of a phase, the rest of an uncross, and the
extension of a volatility auction."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from openspot.domain.market_phase import MarketPhase, PhaseCause
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.intake.sequencer import Sequencer
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import StateMachine
from openspot.kit.clock import NANOSECONDS_PER_MS

SLEEP_MAX_S = 60.0


class Sender(Protocol):
    """Sends the engine its own commands."""

    def may_send(self) -> bool:
        """Whether commands are accepted now. If that passes, PhaseUpkeep.note is called once they may be."""
        ...

    def send(self, commands: list[Command], then: Callable[[], None], note: Note = ()) -> None:
        """Submit commands with a note each, and call `then` once they are applied."""
        ...


class PhaseUpkeep:
    """Sends ADVANCE_PHASE for each market that is due. Belongs to the engine's event loop.

    One is under way for each market at most, so commands of others come between two parts of an uncross.
    """

    def __init__(
        self, machine: StateMachine, sequencer: Sequencer, sender: Sender, volatility: VolatilityGuard | None = None
    ) -> None:
        self._machine = machine
        self._sequencer = sequencer
        self._sender = sender
        self._volatility = volatility
        self._under_way: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def note(self) -> None:
        """Something was applied: advance what is due, and wait for what comes next."""
        self.close()
        rows = [row for row in self._machine.core.phases() if row.active and row.symbol not in self._under_way]
        if not rows:
            return
        now = self._sequencer.now()
        over = [row for row in rows if row.phase == MarketPhase.UNCROSSING or 0 < row.ends_ns <= now]
        due = {row.symbol for row in over}
        if due and self._sender.may_send():
            self._under_way |= due
            self._extend_or_advance(over)
        ends = [row.ends_ns for row in rows if row.symbol not in due and row.ends_ns]
        if ends:
            wait_s = (min(ends) - now) / NANOSECONDS_PER_MS / 1000
            self._timer = asyncio.get_running_loop().call_later(min(wait_s, SLEEP_MAX_S), self.note)

    def close(self) -> None:
        """Wait for nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _extend_or_advance(self, over: list[SymbolPhase]) -> None:
        extensions: list[Command] = []
        if self._volatility is not None:
            extensions = [command for command in map(self._volatility.extension, over) if command is not None]
        extended = {command.symbol for command in extensions}
        ended = {row.symbol for row in over} - extended
        if extended:
            self._sender.send(extensions, lambda: self._advanced(extended), (PhaseCause.VOLATILITY_EXTENSION.value,))
        if ended:
            commands = [Command(CommandKind.ADVANCE_PHASE, symbol=symbol) for symbol in sorted(ended)]
            self._sender.send(commands, lambda: self._advanced(ended))

    def _advanced(self, symbols: set[int]) -> None:
        self._under_way -= symbols
        self.note()
