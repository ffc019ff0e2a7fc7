"""The commands that the engine sends itself: it activates fired orders, ends orders whose time is over, and moves
markets from phase to phase (phase_upkeep.py).

All go through the journal as every other command, so a replay gives the same state without this. A batch of them is
bounded, and commands of others come between two batches. While the disk refuses commands, nothing is taken for sent:
what is due is looked at again until there is space.
"""

import asyncio
import heapq
from collections.abc import Callable

from openspot.engine.core.records import Command, CommandKind, EventType, decode_events
from openspot.engine.intake.phase_upkeep import PhaseUpkeep
from openspot.engine.intake.sequencer import CommandOutcome, EngineStoppedError, Sequencer
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine
from openspot.kit.clock import NANOSECONDS_PER_MS

ACTIVATES_MAX = 16
"""ACTIVATE commands of one symbol in a batch."""
EXPIRIES_MAX = 500
"""EXPIRE commands in a batch."""
SLEEP_MAX_S = 60.0
RETRY_S = 0.5
"""After a refusal that passes, what is due is looked at again in this time."""


class Upkeep:
    """Looks after the waiting and the expiring orders of one engine. Belongs to its event loop."""

    def __init__(self, machine: StateMachine, sequencer: Sequencer, volatility: VolatilityGuard | None = None) -> None:
        self._machine = machine
        self._sequencer = sequencer
        self._expiries = [(expiry.time_ns, expiry.order_id) for expiry in machine.core.expiries()]
        heapq.heapify(self._expiries)
        self._activating = False
        self._phases = PhaseUpkeep(machine, sequencer, self, volatility)
        self._timer: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin with what the journal left to do, or go on after a refusal."""
        self._retry = None
        self._activate()
        self._phases.note()
        self._set_timer()

    def note(self, applied: AppliedBatch) -> None:
        """Take note of a batch that was applied."""
        if self._machine.core.tracks_prices:
            self._note_expiries(applied)
            self._activate()
            self._phases.note()

    def close(self) -> None:
        """Send nothing more."""
        self._phases.close()
        for timer in (self._timer, self._retry):
            if timer is not None:
                timer.cancel()

    def may_send(self) -> bool:
        """Whether commands are accepted now. Ask before state is changed: if not, all is looked at again soon.

        After the end of the engine nothing is looked at again.
        """
        try:
            self._sequencer.check()
        except EngineStoppedError:
            if self._retry is None and not self._sequencer.has_ended:
                self._retry = asyncio.get_running_loop().call_later(RETRY_S, self.start)
            return False
        return True

    def send(self, commands: list[Command], then: Callable[[], None], note: Note = ()) -> None:
        """Submit commands, whatever the queue's bound is: they only end what is there. Go on once they are applied."""
        time_ns = self._sequencer.now()
        records = b"".join(command._replace(timestamp=time_ns).encode() for command in commands)
        future = self._sequencer.submit(records, [note] * len(commands))

        def done(outcome: asyncio.Future[CommandOutcome]) -> None:
            if not outcome.cancelled() and outcome.exception() is None:
                then()

        future.add_done_callback(done)

    def _note_expiries(self, applied: AppliedBatch) -> None:
        soonest = self._expiries[0] if self._expiries else None
        for event in decode_events(applied.events.records):
            if event.type in (EventType.ACCEPTED, EventType.WAITING) and event.amount:
                heapq.heappush(self._expiries, (event.amount, event.order_id))
        if self._expiries and self._expiries[0] != soonest:
            self._set_timer()

    def _activate(self) -> None:
        """Send ACTIVATEs, unless some are on their way. Their own batch calls this again."""
        due = [] if self._activating else self._machine.core.activations_due()
        if due and self.may_send():
            self._activating = True
            commands = [Command(CommandKind.ACTIVATE, symbol=symbol) for symbol in due for _ in range(ACTIVATES_MAX)]
            self.send(commands, self._activated)

    def _activated(self) -> None:
        self._activating = False
        self._activate()

    def _expire(self) -> None:
        """Send EXPIREs for the orders whose time is over and that are still open."""
        self._timer = None
        if not self.may_send():
            return
        now, core = self._sequencer.now(), self._machine.core
        over: list[int] = []
        while self._expiries and self._expiries[0][0] <= now and len(over) < EXPIRIES_MAX:
            _, order_id = heapq.heappop(self._expiries)
            if core.order(order_id) is not None:
                over.append(order_id)
        if over:
            self.send([Command(CommandKind.EXPIRE, order_id=order_id) for order_id in over], self._set_timer)
        else:
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._expiries:
            wait_s = (self._expiries[0][0] - self._sequencer.now()) / NANOSECONDS_PER_MS / 1000
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(min(max(wait_s, 0.0), SLEEP_MAX_S), self._expire)
