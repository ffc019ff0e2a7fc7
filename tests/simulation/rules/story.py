"""The engine's commands and events as the rules look at them: open orders, and what each was asked to be.

Plain integers in the symbol's units, amounts at 18 places. Nothing here comes from a core: only the records of its
journal and its events are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from openspot.engine.core.records import (
    EVENT_LISTED,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    decode_commands,
)
from tests.simulation.engine import Committed

ONE = 10**18
POST_ONLY = 5
"""The number of the engine's order type that never takes."""


class Market(NamedTuple):
    """A symbol: its assets by number, the amount of a unit of quantity, and of price × quantity."""

    base: int
    quote: int
    tick: int
    base_unit: int
    quote_unit: int


class Asked(NamedTuple):
    """A PLACE or LIST_ORDER as it was sent: the terms directly before it, if any, and the client order id."""

    command: Command
    terms: Command | None
    client_order_id: str


@dataclass(slots=True)
class LiveOrder:
    """An open order. `limit` is the price with which it would match, `reserve` the one at which a buy holds funds."""

    order_id: int
    account: int
    symbol: int
    is_buy: bool
    order_type: int
    limit: int
    reserve: int
    remaining: int
    worst_fee_bps: int
    expiry: int
    waits: bool


class Story:
    """The state of the story before the event that comes next."""

    def __init__(self, journal: Sequence[Committed]) -> None:
        self.commands = [command for batch in journal for command in decode_commands(batch.commands)]
        notes = [note for batch in journal for note in batch.notes]
        self.markets: dict[int, Market] = {}
        self.asked: dict[int, Asked] = {}
        """By the engine's order id."""
        before: Command | CreateSymbol | None = None
        for command, note in zip(self.commands, notes, strict=True):
            if isinstance(command, CreateSymbol):
                scales = command.base_scale_k, command.base_scale_k * command.quote_scale_k
                self.markets[command.symbol] = Market(
                    command.base, command.quote, command.tick, ONE // scales[0], ONE // scales[1]
                )
            elif command.kind in (CommandKind.PLACE, CommandKind.LIST_ORDER):
                is_terms = isinstance(before, Command) and before.kind == CommandKind.TERMS
                terms = before if is_terms and before is not None and before.order_id == command.order_id else None
                assert not isinstance(terms, CreateSymbol)
                # Names that the engine does not know come before the client order id; here all are known.
                self.asked[command.order_id] = Asked(command, terms, note[2] if len(note) > 2 else "")
            before = command
        self.live: dict[int, LiveOrder] = {}
        self.amended_plans: dict[int, tuple[int, int]] = {}
        """Exit that is planned → the limit and, unless 0, the trigger that its owner has given it since."""

    def take(self, event: Event) -> None:
        """Go on to the state after an event."""
        match event.type:
            case EventType.ACCEPTED | EventType.WAITING:
                self._open(event)
            case EventType.TRADE:
                self._leave(event.order_id, event.remaining)
                self._leave(event.maker_order_id, event.maker_remaining)
            case EventType.REDUCE:
                self._leave(event.order_id, event.remaining)
            case EventType.MOVED:
                self._move(event)
            case EventType.TRIGGERED:
                order = self.live.get(event.order_id)
                if order is not None:
                    order.waits, order.limit = False, event.price

    def _open(self, event: Event) -> None:
        asked = self.asked[event.order_id].command
        # An order that slid holds funds at the price to which it slid.
        is_as_asked = event.price == asked.price and event.order_id not in self.amended_plans
        reserve = asked.amount if is_as_asked else event.price
        self.live[event.order_id] = LiveOrder(
            event.order_id,
            event.account,
            event.symbol,
            event.side == 1,
            event.order_type,
            event.price,
            reserve,
            event.remaining,
            max(event.fee_bps, event.maker_fee_bps, 0),
            event.amount,
            event.type == EventType.WAITING,
        )

    def _leave(self, order_id: int, remaining: int) -> None:
        # A REDUCE may be about an exit that was never placed.
        if not remaining:
            self.live.pop(order_id, None)
        elif order_id in self.live:
            self.live[order_id].remaining = remaining

    def _move(self, event: Event) -> None:
        order = self.live.get(event.order_id)
        if order is None:
            _, trigger = self.amended_plans.get(event.order_id, (0, 0))
            self.amended_plans[event.order_id] = event.price, event.maker_remaining or trigger
            return
        order.remaining = event.remaining
        if is_change_by_owner(self.commands[event.command_sequence - 1], event):
            order.limit = order.reserve = event.price


def is_change_by_owner(command: Command | CreateSymbol, event: Event) -> bool:
    """Whether a MOVED comes from a command about its order. Otherwise an exit of a list got more quantity."""
    kinds = (CommandKind.MOVE, CommandKind.AMEND)
    return isinstance(command, Command) and command.kind in kinds and command.order_id == event.order_id


class Rule:
    """One part of the rules. `findings` lists the breaches. All methods look at the state before what they are told."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.findings: list[str] = []

    def begin(self, command: Command) -> None:
        """A command is applied."""

    def take(self, event: Event) -> None:
        """The command has this event."""

    def end(self, number: int) -> None:
        """The command with this sequence is done."""

    def finish(self, time_ns: int) -> None:
        """The engine has come to rest at this time, with nothing left to do."""

    def demand(self, holds: bool, finding: str) -> None:
        """Note a finding unless something holds."""
        if not holds:
            self.findings.append(finding)


@dataclass(slots=True)
class ListStory:
    """A list of orders: the engine's ids of its entry (0 for an OCO) and its exits, and how much each has filled."""

    quantity: int
    entry: int = 0
    exits: list[int] = field(default_factory=list)
    filled: dict[int, int] = field(default_factory=dict)
    raised: int = 0
    """By how much its owner made its orders larger after its end."""
    is_ended: bool = False


def list_of(lists: dict[int, ListStory], event: Event) -> ListStory:
    """The list that a LISTED event names, with its order added."""
    list_type, place = event.currency % 256, event.currency // 256
    found = lists.setdefault(event.maker_amount, ListStory(event.quantity))
    if list_type != 1 and place == 1:
        found.entry = event.order_id
    else:
        found.exits.append(event.order_id)
    return found


def is_listed(event: Event) -> bool:
    """Whether the order of an ACCEPTED or WAITING is one of a list."""
    return bool(event.flags & EVENT_LISTED)
