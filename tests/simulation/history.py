"""What really happened: read from the engine's journal and the raw events of its core, and from nothing else.

Plain integer arithmetic, and no code of the services: amounts are at 18 places, quantities and prices in the symbol's
own units. This module states a second time, from sections A2.2 and A3.1 of docs/facts.md, the order of an order's
states and the order events that a client must see.
"""

import functools
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import (
    EVENT_LISTED,
    EVENT_WAITS,
    FLAG_BUDGET,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    decode_commands,
    decode_events,
)
from openspot.engine.state.directory import Note
from tests.simulation.engine import Committed
from tests.support.linked_owners import LinkedOwners

ONE = 10**18
HOUSE = "house:fees"
_IOC = 2
_IMMEDIATE = (_IOC, 3, 4)
_FEE_ACCOUNT = 1
_ENDED = ("filled", "cancelled", "rejected")
_OCO = 1


class Market(NamedTuple):
    """A symbol's scales and assets."""

    symbol: str
    base: str
    quote: str
    quantity_scale: int
    price_scale: int


class State(NamedTuple):
    """An order after one event. `event` is the name of the event that clients get, empty if they get none."""

    event: str
    sequence: int
    command: int
    status: str
    price: int
    filled: int
    remaining: int
    notional: int
    fee: int
    reason: str = ""
    quantity: int = 0
    """The ordered quantity, as amended."""
    triggered_ms: int = 0
    """When the order's trigger fired, in ms since 1970."""
    trigger_price: int = 0
    """The price of the order's trigger, as it was last told."""
    is_activation: bool = False
    """Whether the event is the work of an order that its command activated, of which its reply says nothing."""


class _Sent(NamedTuple):
    """A PLACE or LIST_ORDER: its order's id for clients, and what it says beyond the events."""

    order_id: str
    client_order_id: str
    own_mode: int
    """The order's own mode of self-trade prevention + 1; 0 for that of its account."""
    is_sized: bool
    replacing: int
    """The sequence of the REPLACE directly before it, or 0."""


@dataclass(slots=True)
class OrderHistory:
    """An order and all its states."""

    order_id: str
    engine_order_id: int
    user: str
    market: Market
    side: str
    quantity: int
    is_immediate: bool
    place_command: int
    placed_ms: int
    """When the engine took its command, in ms since 1970."""
    client_order_id: str
    own_mode: int
    is_sized: bool
    """Whether the engine found the quantity."""
    replacing: int = 0
    """The command of the order that this one should replace, or 0."""
    is_placed: bool = True
    """Whether the order came to the market, or was refused: not an exit that is only planned."""
    list_id: int = 0
    states: list[State] = field(default_factory=list)

    @property
    def final(self) -> State:
        """The last state."""
        return self.states[-1]

    @property
    def answered(self) -> State:
        """The state after its placement."""
        own = [state for state in self.states if state.command == self.place_command and not state.is_activation]
        return own[-1]

    @property
    def heard(self) -> list[State]:
        """The states that clients hear of, in order."""
        return [state for state in self.states if state.event]


class TradeHistory(NamedTuple):
    """A fill. Amounts are at 18 places."""

    sequence: int
    market: Market
    price: int
    quantity: int
    taker: OrderHistory
    maker: OrderHistory
    taker_fee: int
    maker_fee: int
    notional: int
    base_amount: int

    @property
    def buyer(self) -> OrderHistory:
        """The order that bought."""
        return self.taker if self.taker.side == "buy" else self.maker

    @property
    def seller(self) -> OrderHistory:
        """The order that sold."""
        return self.maker if self.taker.side == "buy" else self.taker


class MoneyMove(NamedTuple):
    """Money that entered, left or was held, according to a BALANCE event."""

    kind: str
    user: str
    asset: str
    amount: int
    reference: str


class TransferHistory(NamedTuple):
    """A transfer: its movements as (source, destination, asset, amount), and the sequence of its last event."""

    reference: str
    kind: str
    movements: tuple[tuple[str, str, str, int], ...]
    sequence: int


class History:
    """Everything that happened. Raises AssertionError if the events contradict each other."""

    def __init__(self, journal: Sequence[Committed], records: bytes) -> None:
        self.orders: dict[str, OrderHistory] = {}
        self.trades: list[TradeHistory] = []
        self.moves: list[MoneyMove] = []
        self.transfers: list[TransferHistory] = []
        self.totals: Counter[tuple[str, str]] = Counter()
        """(user, asset) → the account's total."""
        self._markets, self._assets = _configuration()
        self._commands = [command for batch in journal for command in decode_commands(batch.commands)]
        self._notes = [note for batch in journal for note in batch.notes]
        self._sent = _sent(self._commands, self._notes)
        self._activating = 0
        """The command whose events are the work of orders that it activated."""
        self._users = {_FEE_ACCOUNT: HOUSE}
        for command, note in zip(self._commands, self._notes, strict=True):
            if isinstance(command, Command) and command.kind in (CommandKind.DEPOSIT, CommandKind.MOVEMENT):
                self._users[command.account] = note[0]
        self._modes: dict[int, int] = {}
        """Account → its mode of self-trade prevention, where it is not NONE."""
        self._owners = LinkedOwners()
        """Account → the account whose user owns it, too."""
        self._decisions = [
            (number, command)
            for number, command in enumerate(self._commands, 1)
            if isinstance(command, Command) and command.kind in (CommandKind.SET_ACCOUNT, CommandKind.SET_OWNER)
        ][::-1]
        """What operators decided and is not yet in the two above, the newest first, each with its command's number."""
        self._live: dict[int, OrderHistory] = {}
        self._moved: list[tuple[str, str, str, int]] = []
        """The movements of the transfer whose events are being read."""
        for number, event in enumerate(decode_events(records), 1):
            assert event.sequence == number, "the events have a gap"
            assert not self._moved or event.type == EventType.TRANSFER, "a transfer was carried out in part"
            self._take(event)
        assert not self._moved, "a transfer was carried out in part"

    def market(self, symbol: int) -> Market:
        """The market with the engine's number."""
        return self._markets[symbol]

    def _take(self, event: Event) -> None:
        self._note_activation(event)
        match event.type:
            case EventType.LISTED:
                self._list(event)
            case EventType.LIST_ENDED:
                self._end_list(event)
            case EventType.ACCEPTED | EventType.WAITING:
                self._place(event, "open")
            case EventType.REJECT:
                self._place(event, "rejected")
            case EventType.TRADE:
                self._trade(event)
            case EventType.REDUCE:
                self._reduce(event)
            case EventType.MOVED:
                self._move(event)
            case EventType.TRIGGERED:
                order = self._live[event.order_id]
                assert order.final.remaining == event.remaining, "quantity was made or lost"
                fired = order.final._replace(
                    event="updated",
                    price=event.price,
                    triggered_ms=event.timestamp // 1_000_000,
                    trigger_price=event.maker_remaining,
                )
                self._add(order, event, fired)
            case EventType.BALANCE:
                self._money(event)
            case EventType.TRANSFER:
                self._transfer(event)

    def _note_activation(self, event: Event) -> None:
        """From the first order on that another command placed, a command's events are the work of its activations."""
        number = event.command_sequence
        command = self._commands[number - 1]
        own = not isinstance(command, CreateSymbol) and command.order_id == event.order_id
        arms = event.type in (EventType.ACCEPTED, EventType.WAITING) and self._is_armed(event)
        if (
            arms
            or event.type in (EventType.TRIGGERED, EventType.UNARMED)
            or (event.type == EventType.MOVED and not own)
        ):
            self._activating = number

    def _is_armed(self, event: Event) -> bool:
        """Whether an order comes to the market because the entry of its list was filled."""
        order = self._live.get(event.order_id)
        return order is not None and not order.is_placed and order.place_command != event.command_sequence

    def _list(self, event: Event) -> None:
        """An order of a list passed every check; it is placed now, or open as a plan until the entry is filled."""
        order = self._new(event)
        order.is_placed, order.list_id = False, event.maker_amount
        is_planned = event.currency % 256 != _OCO and event.currency // 256 > 1
        name, status = ("created", "open") if is_planned else ("", "pending")
        self._add(order, event, State(name, 0, 0, status, event.price, 0, event.quantity, 0, 0, "", event.quantity))

    def _end_list(self, event: Event) -> None:
        """What is still open goes on alone, and its owner hears of it."""
        for order in sorted(self.orders.values(), key=lambda order: order.engine_order_id):
            if order.list_id == event.order_id and order.final.status not in _ENDED:
                self._add(order, event, order.final._replace(event="updated"))

    def _new(self, event: Event) -> OrderHistory:
        sent, number = self._sent[event.order_id], event.command_sequence
        assert sent.order_id not in self.orders, f"{sent.order_id} was taken twice"
        order = OrderHistory(
            sent.order_id,
            event.order_id,
            self._users[event.account],
            self._markets[event.symbol],
            "buy" if event.side == 1 else "sell",
            event.quantity,
            # One that waits for a trigger is open meanwhile.
            event.order_type in _IMMEDIATE and not (event.type != EventType.REJECT and event.maker_order_id),
            number,
            self._commands[number - 1].timestamp // 1_000_000,
            sent.client_order_id,
            sent.own_mode,
            sent.is_sized,
            sent.replacing,
        )
        self.orders[sent.order_id] = self._live[event.order_id] = order
        return order

    def _place(self, event: Event, status: str) -> None:
        if event.type != EventType.REJECT and event.flags & EVENT_LISTED:
            order = self._live[event.order_id]
            assert not order.is_placed, f"{order.order_id} was placed twice"
            order.is_placed, order.quantity, order.place_command = True, event.quantity, event.command_sequence
        else:
            order = self._new(event)
        rejected = status == "rejected"
        reason = ResultCode(event.code).name if rejected else ""
        # Clients hear of an immediate order only after its next event has decided its outcome.
        was_planned = bool(order.states) and order.final.status == "open"
        pends = order.is_immediate and not rejected and not was_planned
        name = "rejected" if rejected else "" if pends else "updated" if was_planned else "created"
        status = "pending" if pends else status
        remaining = 0 if rejected else event.quantity
        trigger_price = event.maker_remaining if event.type == EventType.WAITING else 0
        self._add(
            order,
            event,
            State(name, 0, 0, status, event.price, 0, remaining, 0, 0, reason, event.quantity, 0, trigger_price),
        )

    def _move(self, event: Event) -> None:
        order = self._live[event.order_id]
        order.quantity += event.amount
        remaining = order.final.remaining + event.amount
        assert (event.quantity, event.remaining) == (order.quantity, remaining), "quantity was made or lost"
        moved = order.final._replace(event="updated", price=event.price, remaining=remaining, quantity=event.quantity)
        if event.flags & EVENT_WAITS and event.maker_remaining:
            moved = moved._replace(trigger_price=event.maker_remaining)
        self._add(order, event, moved)

    def _open(self, order: OrderHistory) -> None:
        """If an immediate order is still pending, record that it has been open since it was accepted."""
        if order.final.status == "pending":
            order.states[-1] = order.final._replace(event="created", status="open")

    def _decide_until(self, command_sequence: int) -> None:
        while self._decisions and self._decisions[-1][0] < command_sequence:
            _, command = self._decisions.pop()
            assert command.account in self._users, "an account that nobody has was changed"
            if command.kind == CommandKind.SET_ACCOUNT:
                self._modes[command.account] = command.order_type
            else:
                assert command.order_id in (0, *self._users), "nobody became an owner"
                self._owners.take(command)

    def _trade(self, event: Event) -> None:
        self._decide_until(event.command_sequence)
        own_mode = self._live[event.order_id].own_mode
        if own_mode - 1 if own_mode else self._modes.get(event.account, 0):
            is_one = self._owners.owner_of(event.account) == self._owners.owner_of(event.maker_account)
            assert not is_one, f"{self._users[event.account]} traded with itself"
        taker, maker = self._live[event.order_id], self._live[event.maker_order_id]
        market = taker.market
        base_amount, base_rest = divmod(event.quantity * ONE, market.quantity_scale)
        notional, rest = divmod(event.price * event.quantity * ONE, market.price_scale * market.quantity_scale)
        assert not rest and not base_rest, "a trade does not come out even"
        for fee, bps in ((event.amount, event.fee_bps), (event.maker_amount, event.maker_fee_bps)):
            assert fee * 10_000 == notional * bps, "a fee is not its share of the notional"
        fees = event.amount, event.maker_amount
        trade = TradeHistory(
            event.sequence, market, event.price, event.quantity, taker, maker, *fees, notional, base_amount
        )
        self.trades.append(trade)
        for order, remaining, fee in zip((taker, maker), (event.remaining, event.maker_remaining), fees, strict=True):
            self._open(order)
            before = order.final
            assert before.remaining - event.quantity == remaining >= 0, "quantity was made or lost"
            after = before._replace(
                event="updated" if remaining else "filled",
                status="partially_filled" if remaining else "filled",
                filled=before.filled + event.quantity,
                remaining=remaining,
                notional=before.notional + notional,
                fee=before.fee + fee,
            )
            self._add(order, event, after)
            self.totals[order.user, market.quote] -= fee
            self.totals[HOUSE, market.quote] += fee
        self.totals[trade.buyer.user, market.base] += base_amount
        self.totals[trade.seller.user, market.base] -= base_amount
        self.totals[trade.buyer.user, market.quote] -= notional
        self.totals[trade.seller.user, market.quote] += notional

    def _reduce(self, event: Event) -> None:
        order = self._live[event.order_id]
        assert order.final.remaining - event.quantity == event.remaining >= 0, "quantity was made or lost"
        reason = ResultCode(event.code).name
        is_amendment = event.code == ResultCode.AMENDED_BY_USER
        if is_amendment:
            order.quantity -= event.quantity
        if event.remaining:
            self._open(order)
            after = order.final._replace(
                event="updated",
                # The limit of a trailing order has moved.
                price=event.price if is_amendment else order.final.price,
                remaining=event.remaining,
                reason=reason,
                quantity=order.quantity,
            )
        else:
            after = order.final._replace(event="cancelled", status="cancelled", remaining=0, reason=reason)
        self._add(order, event, after)

    def _add(self, order: OrderHistory, event: Event, state: State) -> None:
        if order.states:
            assert order.final.status not in _ENDED, "an order that had ended changed"
        number = event.command_sequence
        is_activation = self._activating == number
        order.states.append(state._replace(sequence=event.sequence, command=number, is_activation=is_activation))

    def _money(self, event: Event) -> None:
        kind = CommandKind(event.order_type)
        user, asset = self._users[event.account], self._assets[event.currency]
        self.moves.append(MoneyMove(kind.name, user, asset, event.amount, self._notes[event.command_sequence - 1][1]))
        if kind not in (CommandKind.RESERVE, CommandKind.RELEASE):
            self.totals[user, asset] += event.amount
        assert event.maker_amount == self.totals[user, asset], "an account's total is not what moved in and out of it"

    def _transfer(self, event: Event) -> None:
        source, destination = self._users[event.account], self._users[event.maker_account]
        movement = source, destination, self._assets[event.currency], event.amount
        self._moved.append(movement)
        assert event.quantity - event.remaining == len(self._moved), "a transfer was carried out in part"
        number = event.command_sequence
        sent = self._commands[number - 1 - event.quantity : number - 1][len(self._moved) - 1]
        assert isinstance(sent, Command)
        assert sent.kind == CommandKind.MOVEMENT, "a movement was made up"
        asked = self._users[sent.order_id], self._users[sent.account], self._assets[sent.symbol], sent.amount
        assert movement == asked, "a movement is not the one that was asked for"
        for user, change in ((source, -event.amount), (destination, event.amount)):
            self.totals[user, movement[2]] += change
        assert self.totals[source, movement[2]] >= 0, "an account paid more than it had"
        if not event.remaining:
            kind, reference = self._notes[number - 1]
            self.transfers.append(TransferHistory(reference, kind, tuple(self._moved), event.sequence))
            self._moved = []


def _sent(commands: Sequence[Command | CreateSymbol], notes: Sequence[Note]) -> dict[int, _Sent]:
    """What was sent with each order, by the engine's id."""
    sent = {}
    terms: Command | None = None
    replacing = 0
    for number, (command, note) in enumerate(zip(commands, notes, strict=True), 1):
        if isinstance(command, Command) and command.kind in (CommandKind.PLACE, CommandKind.LIST_ORDER):
            own_mode = terms.order_type if terms is not None and terms.order_id == command.order_id else 0
            is_sized = command.order_type == _IOC and bool(command.flags & FLAG_BUDGET)
            sent[command.order_id] = _Sent(note[0], note[2] if len(note) > 2 else "", own_mode, is_sized, replacing)
        if isinstance(command, CreateSymbol) or command.kind != CommandKind.TERMS:
            is_replacement = isinstance(command, Command) and command.kind == CommandKind.REPLACE
            replacing = number if is_replacement else 0
        terms = command if isinstance(command, Command) and command.kind == CommandKind.TERMS else None
    return sent


@functools.cache
def _configuration() -> tuple[dict[int, Market], dict[int, str]]:
    document = tomllib.loads(files("openspot.domain").joinpath("markets.toml").read_text("utf-8"))
    markets = {}
    for symbol, row in document["markets"].items():
        base, quote = symbol.split("-")
        scales = 10 ** row["quantity_places"], 10 ** row["price_places"]
        markets[row["symbol_id"]] = Market(symbol, base, quote, *scales)
    return markets, {row["currency_id"]: asset for asset, row in document["assets"].items()}
