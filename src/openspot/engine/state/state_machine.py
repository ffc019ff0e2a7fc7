"""The engine's state: core, directory, participants, order memory, recent trades and totals.

Only `apply` changes it, and only with durable commands, so the state is a function of the journal. The live
engine, recovery after a crash and `openspot engine export` all run this code over the same commands.

There is one exception. The command intake adds names and the ids of orders to the directory and the order memory as
soon as a command arrives, before it is durable: a second command with the same id must be refused at once. A replay
does the same with `register`, just before it applies the commands.
"""

import struct
from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from openspot.domain.order import EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT, MatchingCore
from openspot.engine.core.records import (
    COMMAND_SIZE,
    EVENT_AUCTION,
    EVENT_LISTED,
    EVENT_MAKER_COMPLETED,
    EVENT_SIZE,
    EVENT_TAKER_COMPLETED,
    CommandKind,
    CreateSymbol,
    EventType,
    decode_commands,
    decode_events,
    decode_results,
)
from openspot.engine.state.client_order_ids import ClientOrderIds, HeldId
from openspot.engine.state.directory import (
    DESCRIBING_KINDS,
    NAMING_KINDS,
    NOTE_ACTION,
    PARTICIPANT_KINDS,
    Directory,
    Note,
    client_order_id_of,
    listed_texts,
    place_of,
)
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.state.interruptions import PHASE_KINDS, Interruption, Interruptions
from openspot.engine.state.operator_actions import OperatorActions
from openspot.engine.state.order_memory import (
    CANCELLED,
    FILLED_END,
    HAS_LIMIT,
    HAS_LIMIT_NOTE,
    ORDER_ID,
    PRICE,
    REJECTED,
    WAITS,
    OrderMemory,
)
from openspot.engine.state.participants import FOLLOWED_KINDS, Participants
from openspot.engine.state.totals import Totals

RECENT_TRADES_MAX = 1000
"""How many trades of one symbol GetRecentTrades can return."""

# Plain integers: comparing with enum members would take most of the time of the loops below.
_PLACE, _TRANSFER = int(CommandKind.PLACE), int(CommandKind.TRANSFER)
_ACCEPTED, _TRADE, _REDUCE = int(EventType.ACCEPTED), int(EventType.TRADE), int(EventType.REDUCE)
_REJECT, _MOVED = int(EventType.REJECT), int(EventType.MOVED)
_ADAPTED_TYPES = frozenset({int(EngineOrderType.IOC), int(EngineOrderType.POST_ONLY)})
"""Orders of these types may be accepted with another limit or quantity than they were sent with."""
_LIST_ORDER, _PLACE_LIST = int(CommandKind.LIST_ORDER), int(CommandKind.PLACE_LIST)
_PLACING = frozenset({_PLACE, _LIST_ORDER})
_LISTED, _LIST_EVENTS = int(EventType.LISTED), frozenset({int(EventType.LIST_ENDED), int(EventType.UNARMED)})
_SHOWN = int(EventType.SHOWN)
_WAITING, _TRIGGERED, _TERMS = int(EventType.WAITING), int(EventType.TRIGGERED), int(CommandKind.TERMS)

_EVENT_HEAD = struct.Struct("<BxBBxxxxI20xQQQ16xqq56x")
"""Fields of an event: type, order_type, flags, symbol, command_sequence, order_id, maker_order_id, price, quantity."""
assert _EVENT_HEAD.size == EVENT_SIZE
_CHANGE = struct.Struct("<112xq24x")
"""Field of a MOVED event: the change of the ordered quantity, which is an amount that fits 64 bits."""
assert _CHANGE.size == EVENT_SIZE
_COMMAND_HEAD = struct.Struct("<BBBxIQQQqq16x")
"""Fields of a command: kind, side, order_type, symbol, timestamp, order_id, account, price, quantity."""
assert _COMMAND_HEAD.size == COMMAND_SIZE
_KIND_AND_ORDER_ID = struct.Struct("<B15xQ40x")
assert _KIND_AND_ORDER_ID.size == COMMAND_SIZE
_KIND_AND_ACCOUNT = struct.Struct("<B23xQ32x")
assert _KIND_AND_ACCOUNT.size == COMMAND_SIZE


class AppliedBatch(NamedTuple):
    """The outcome of a batch of commands: one result record a command, and the events."""

    results: bytes
    events: EventBatch


class _Snapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    directory: bytes
    orders: bytes
    trades: dict[int, list[bytes]]
    accounts: int
    participants: bytes
    totals: bytes
    client_ids: list[HeldId] = []
    """Left out while there are none, as in snapshots of before."""
    interruptions: list[Interruption] = []
    """Left out while there are none."""
    refused_actions: list[int] = []
    forgotten_actions: int = 0
    """Left out while no action of an operator was refused."""


class StateMachine:
    """The state of one engine."""

    def __init__(self, core: MatchingCore, orders_remembered: int) -> None:
        self.core = core
        self.directory = Directory()
        self.participants = Participants()
        self.orders = OrderMemory(orders_remembered)
        self.totals = Totals()
        self.interruptions = Interruptions()
        self.actions = OperatorActions()
        self.trades: dict[int, deque[bytes]] = {}
        """Newest TRADE records by symbol number, oldest first."""
        self._last_durable_account = FEE_ACCOUNT

    def register(self, commands: bytes, notes: Sequence[Note]) -> None:
        """Add the names and the ids of orders of journalled commands, as the command intake did when they arrived."""
        register, orders, entries = self.directory.register, self.orders, self.orders.entries
        orders.drop_index()
        waits = 0
        for (kind, side, order_type, symbol, time_ns, engine_order_id, account, price, quantity), note in zip(
            _COMMAND_HEAD.iter_unpack(commands), notes, strict=True
        ):
            if kind in _PLACING:
                if engine_order_id in entries:
                    orders.make_room(engine_order_id)
                kept_type = order_type | waits
                entries[engine_order_id] = (note[0], account, symbol, side, kept_type, price, quantity, time_ns)
                client_order_id = client_order_id_of(note)
                if client_order_id:
                    orders.client_ids.hold(account, client_order_id, engine_order_id)
            elif kind in PARTICIPANT_KINDS:
                number = register(note[0], account)
                assert number == account, "a replay gives every participant the same account number"
            waits = 0
            if kind == _TERMS and side:
                waits = WAITS | HAS_LIMIT if note == HAS_LIMIT_NOTE else WAITS

    def apply(self, commands: bytes, notes: Sequence[Note], known_events: int = 0) -> AppliedBatch:
        """Apply durable commands whose names and ids are already registered.

        A replay passes the last event that is already stored as `known_events`. A batch that emits nothing newer
        is returned without events, which saves the time of collecting their texts.
        """
        commands_before = self.core.command_sequence
        first_sequence = self.core.event_sequence + 1
        results, records = self.core.apply(commands)
        texts: list[Note] | None = [] if self.core.event_sequence > known_events else None
        self._follow_events(records, commands, notes, commands_before + 1, texts)
        kinds = commands[::COMMAND_SIZE]
        if not NAMING_KINDS.isdisjoint(kinds):
            self._follow_names(commands, notes, results)
        if not PARTICIPANT_KINDS.isdisjoint(kinds):
            places = (
                place_of(number)
                for kind, number in _KIND_AND_ACCOUNT.iter_unpack(commands)
                if kind in PARTICIPANT_KINDS
            )
            self._last_durable_account = max(self._last_durable_account, *places)
        if not FOLLOWED_KINDS.isdisjoint(kinds):
            receivers = _receivers(records, commands_before + 1) if _TRANSFER in kinds else {}
            self.participants.follow(commands, notes, results, receivers)
        if NOTE_ACTION in kinds:
            self.actions.follow(commands, notes, results, commands_before + 1)
        if self.core.tracks_prices and not PHASE_KINDS.isdisjoint(kinds):
            self.interruptions.follow(commands, notes, results)
        events = EventBatch(first_sequence, b"", []) if texts is None else EventBatch(first_sequence, records, texts)
        return AppliedBatch(results, events)

    def _follow_events(
        self, records: bytes, commands: bytes, notes: Sequence[Note], first_command: int, texts: list[Note] | None
    ) -> None:
        """Update orders, trades and totals, and append the texts of each event to `texts` unless it is None."""
        orders, entries, ended = self.orders, self.orders.entries, self.orders.ended.append
        totals, tallies, trades = self.totals, self.totals.tallies, self.trades
        add = None if texts is None else texts.append
        position = placed = cancelled = 0
        for (
            kind,
            order_type,
            flags,
            symbol,
            command,
            engine_order_id,
            maker_id,
            price,
            quantity,
        ) in _EVENT_HEAD.iter_unpack(records):
            if kind == _ACCEPTED:
                is_listed = flags & EVENT_LISTED
                if add:
                    # Another command may have placed an order of a list. What its sender said stands in its LISTED.
                    add((entries[engine_order_id][ORDER_ID], "") if is_listed else notes[command - first_command])
                placed += 1
                if is_listed or order_type in _ADAPTED_TYPES:
                    orders.accept(engine_order_id, price, quantity)
            elif kind == _TRADE:
                if add:
                    taker, maker = entries[engine_order_id], entries[maker_id]
                    # The price of an auction says nothing about the limits, which books need.
                    limits = (str(taker[PRICE]), str(maker[PRICE])) if flags & EVENT_AUCTION else ()
                    add((taker[ORDER_ID], maker[ORDER_ID], *limits))
                if symbol not in trades:
                    trades[symbol] = deque(maxlen=RECENT_TRADES_MAX)
                trades[symbol].append(records[position : position + EVENT_SIZE])
                tally = tallies.get(symbol) or totals.new_tally(symbol)
                tally.trades += 1
                tally.quantity += quantity
                tally.notional += price * quantity
                # Same as OrderMemory.end, inlined for speed.
                if flags & EVENT_TAKER_COMPLETED:
                    entries[engine_order_id] += FILLED_END
                    ended(engine_order_id)
                if flags & EVENT_MAKER_COMPLETED:
                    entries[maker_id] += FILLED_END
                    ended(maker_id)
            elif kind == _REDUCE:
                entry = entries[engine_order_id]
                if add:
                    add((entry[ORDER_ID],))
                if flags & EVENT_TAKER_COMPLETED:
                    # Unpacking would first build a list and take half as long again.
                    entries[engine_order_id] = entry + (CANCELLED, quantity)  # noqa: RUF005
                    ended(engine_order_id)
                    cancelled += 1
                else:
                    orders.reduce(engine_order_id, quantity)
            elif kind == _REJECT:
                note = notes[command - first_command]
                if add:
                    is_of_list = commands[(command - first_command) * COMMAND_SIZE] == _PLACE_LIST
                    add(listed_texts(note, entries[engine_order_id][ORDER_ID]) if is_of_list else note)
                orders.end(engine_order_id, REJECTED, quantity)
                totals.rejected += 1
            elif kind == _MOVED:
                if add:
                    add((entries[engine_order_id][ORDER_ID],))
                orders.move(engine_order_id, price, _CHANGE.unpack_from(records, position)[0])
            elif kind == _WAITING:
                is_listed = flags & EVENT_LISTED
                if add:
                    add((entries[engine_order_id][ORDER_ID], "") if is_listed else notes[command - first_command])
                placed += 1
                if is_listed:
                    orders.accept(engine_order_id, price, quantity)
            elif kind == _LISTED:
                if add:
                    add(listed_texts(notes[command - first_command], entries[engine_order_id][ORDER_ID])[:2])
            elif kind in _LIST_EVENTS:
                if add:
                    add(())
            elif kind == _TRIGGERED:
                if add:
                    add((entries[engine_order_id][ORDER_ID],))
                orders.move(engine_order_id, price, 0)
            elif kind == _SHOWN:
                if add:
                    add((entries[engine_order_id][ORDER_ID],))
            elif add:
                add(notes[command - first_command])
            position += EVENT_SIZE
        totals.placed += placed
        totals.cancelled += cancelled
        orders.trim()

    def _follow_names(self, commands: bytes, notes: Sequence[Note], results: bytes) -> None:
        for command, note, result in zip(decode_commands(commands), notes, decode_results(results), strict=True):
            kind = CommandKind.CREATE_SYMBOL if isinstance(command, CreateSymbol) else command.kind
            if kind in NAMING_KINDS and (result.code == ResultCode.SUCCESS or kind in DESCRIBING_KINDS):
                self.directory.apply(command, note)

    def snapshot(self, pending: Collection[int] = ()) -> tuple[bytes, bytes]:
        """(core, everything else) in canonical bytes: equal states give equal bytes.

        Leaves out what is not durable yet. `pending` are the engine order ids that are registered but not applied.
        """
        rest = _Snapshot(
            self.directory.snapshot(self._last_durable_account),
            self.orders.snapshot(pending),
            {symbol: list(trades) for symbol, trades in sorted(self.trades.items())},
            self._last_durable_account,
            self.participants.snapshot(),
            self.totals.snapshot(),
            self.orders.client_ids.snapshot(pending),
            self.interruptions.snapshot(),
            self.actions.refused,
            self.actions.forgotten,
        )
        return self.core.snapshot(), msgspec.msgpack.encode(rest)

    def restore(self, core: bytes, rest: bytes) -> None:
        """Replace the state. Raises ValueError unless both parts come from `snapshot`."""
        try:
            content = msgspec.msgpack.decode(rest, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the engine: {error}") from error
        self.core.restore(core)
        self.directory.restore(content.directory)
        self.orders.restore(content.orders)
        self.orders.client_ids = ClientOrderIds(content.client_ids)
        self.trades = {symbol: deque(trades, RECENT_TRADES_MAX) for symbol, trades in content.trades.items()}
        self._last_durable_account = content.accounts
        self.participants.restore(content.participants)
        self.totals.restore(content.totals)
        self.interruptions = Interruptions(content.interruptions)
        self.actions = OperatorActions(content.refused_actions, content.forgotten_actions, self.core.command_sequence)


def _receivers(records: bytes, first_command: int) -> dict[int, list[int]]:
    """The accounts that each TRANSFER has credited, by its place after the command `first_command`."""
    receivers: dict[int, list[int]] = {}
    for event in decode_events(records):
        if event.type == EventType.TRANSFER:
            receivers.setdefault(event.command_sequence - first_command, []).append(event.maker_account)
    return receivers


def has_command(commands: bytes, kind: CommandKind, symbol: int) -> bool:
    """Whether a command of this kind and symbol is among `commands`."""
    return kind in commands[::COMMAND_SIZE] and any(
        head[0] == kind and head[3] == symbol for head in _COMMAND_HEAD.iter_unpack(commands)
    )


def placed_engine_order_ids(commands: bytes) -> list[int]:
    """The engine order ids of the PLACE and LIST_ORDER commands in `commands`."""
    return [engine_order_id for kind, engine_order_id in _KIND_AND_ORDER_ID.iter_unpack(commands) if kind in _PLACING]
