"""A replacement: the first order ends and the second is placed, with nothing between; else nothing is placed.

Of the two at most one is open afterwards. Neither is only if the second was refused, of which its REJECT tells.
"""

from typing import NamedTuple

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import FLAG_ALLOW_FAILURE, Command, CommandKind, CreateSymbol, Event, EventType
from tests.simulation.rules.story import Rule, Story, is_listed

_REASONS = (ResultCode.CANCELLED_BY_USER, ResultCode.LIST_EXIT_ENDED)
"""Why a replaced order ends. The second is of an exit that its entry has not armed."""
_OF_A_LIST = (EventType.LIST_ENDED, EventType.UNARMED)
"""Events that name a list where others name an order."""


class _Replacing(NamedTuple):
    """A REPLACE whose PLACE has not come yet. `may_end` says whether the order that it names is one to be cancelled."""

    command: Command
    may_end: bool


class ReplacementRule(Rule):
    """Follows each REPLACE up to its PLACE."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self._open: dict[int, tuple[int, int]] = {}
        """Open orders and planned exits → (account, symbol)."""
        self._command: Command | None = None
        self._replacing: _Replacing | None = None
        self._is_cancelled = False
        self._outcome: Event | None = None
        """What became of the PLACE."""

    def begin(self, command: Command) -> None:
        """Nothing comes between a REPLACE and its PLACE but that one's TERMS."""
        self._command = command
        if command.kind == CommandKind.REPLACE:
            self.demand(self._replacing is None, "a REPLACE follows another one")
            may_end = self._open.get(command.order_id) == (command.account, command.symbol)
            self._replacing, self._is_cancelled = _Replacing(command, may_end), False
        elif self._replacing is not None:
            first = self._replacing.command
            is_its_own = command.kind in (CommandKind.TERMS, CommandKind.PLACE)
            self.demand(is_its_own, f"a command of kind {command.kind} follows the REPLACE of {first.order_id}")
        if command.kind == CommandKind.PLACE:
            self._outcome = None

    def take(self, event: Event) -> None:
        """Follow what is open."""
        command = self._command
        is_its = command is not None and command.order_id == event.order_id and event.type not in _OF_A_LIST
        if command is not None and command.kind == CommandKind.REPLACE and is_its:
            self._cancel(event, command)
        match event.type:
            case EventType.LISTED:
                self._open[event.order_id] = event.account, event.symbol
            case EventType.ACCEPTED | EventType.WAITING | EventType.REJECT:
                if command is not None and command.order_id == event.order_id:
                    self._outcome = event
                if event.type != EventType.REJECT:
                    self.demand(is_listed(event) or event.order_id not in self._open, f"{event.order_id} opened twice")
                    self._open[event.order_id] = event.account, event.symbol
            case EventType.TRADE:
                self._leave(event.order_id, event.remaining)
                self._leave(event.maker_order_id, event.maker_remaining)
            case EventType.REDUCE:
                self._leave(event.order_id, event.remaining)

    def end(self, number: int) -> None:
        """Judge both halves."""
        command = self.story.commands[number - 1]
        if isinstance(command, CreateSymbol):
            return
        replacing, outcome = self._replacing, self._outcome
        if command.kind == CommandKind.REPLACE and replacing is not None:
            is_right = self._is_cancelled == replacing.may_end
            self.demand(is_right, f"REPLACE of {command.order_id} cancelled it: {self._is_cancelled}, which is wrong")
        if command.kind != CommandKind.PLACE or outcome is None:
            return
        stands = outcome.type != EventType.REJECT
        was_stopped = outcome.code == ResultCode.REPLACEMENT_NOT_ATTEMPTED
        name = f"order {command.order_id}"
        if replacing is None:
            self.demand(not was_stopped, f"{name} was not attempted, and replaces nothing")
            return
        first, self._replacing = replacing.command, None
        name = f"{name}, which replaces {first.order_id},"
        is_same = (first.account, first.symbol) == (command.account, command.symbol)
        self.demand(is_same, f"{name} is of another account or symbol")
        must_stop = not self._is_cancelled and not first.flags & FLAG_ALLOW_FAILURE
        self.demand(must_stop == was_stopped, f"{name} has the outcome {outcome.code} after {self._is_cancelled}")
        first_is_open = self._open.get(first.order_id) == (first.account, first.symbol)
        self.demand(not (stands and first_is_open), f"{name} stands, and so does the first")

    def finish(self, time_ns: int) -> None:
        """No REPLACE is left alone."""
        self.demand(self._replacing is None, "a REPLACE has no PLACE")

    def _cancel(self, event: Event, command: Command) -> None:
        is_end = event.type == EventType.REDUCE and not event.remaining
        is_own = event.code in _REASONS
        name = f"order {command.order_id}, which was to be replaced,"
        self.demand(is_end and is_own, f"{name} has an event of type {event.type} and code {event.code}")
        self.demand(event.account == command.account, f"{name} was cancelled by {command.account}")
        self._is_cancelled = self._is_cancelled or is_end

    def _leave(self, order_id: int, remaining: int) -> None:
        if not remaining:
            self._open.pop(order_id, None)
