"""The reference core: the specification of matching in Python.

It is short and simple on purpose. The Rust core must return the same bytes for every command; where the two
differ, docs/protocol/matching.md decides. The rules are in reference_terms.py, reference_placement.py,
reference_triggers.py, reference_execution.py, reference_matching.py, reference_lists.py, reference_list_links.py,
reference_arming.py, reference_amendments.py, reference_phases.py, reference_auction.py, reference_transfers.py,
reference_movements.py and reference_directory.py, with one function for each kind of command over the state in
reference_state.py. This file turns records into calls and back, and answers queries.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from itertools import islice

from openspot.domain.market_phase import MarketPhase
from openspot.domain.order import TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core import reference_amendments as amendments
from openspot.engine.core import reference_directory as directory
from openspot.engine.core import reference_execution as execution
from openspot.engine.core import reference_lists as lists
from openspot.engine.core import reference_movements as movements
from openspot.engine.core import reference_phases as phases
from openspot.engine.core import reference_transfers as transfers
from openspot.engine.core.protocol import (
    AccountSettings,
    CoreBalance,
    CoreOrderList,
    DepthLevel,
    Iceberg,
    OrderExpiry,
    OwnerLink,
    ReferencePrices,
    RestingOrder,
    Symbol,
    SymbolPhase,
    WaitingOrder,
)
from openspot.engine.core.records import (
    COMMAND_SIZE,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    Result,
    ResultStatus,
    decode_commands,
    encode_event,
    encode_result,
)
from openspot.engine.core.reference_placement import place
from openspot.engine.core.reference_state import (
    BrokenInvariantError,
    CommandResult,
    CoreState,
    Emit,
    Rejected,
    require_found,
)
from openspot.engine.core.reference_terms import keep_terms
from openspot.engine.core.reference_triggers import Waiter
from openspot.engine.core.snapshot_reader import read_snapshot
from openspot.engine.core.snapshot_records import sealed
from openspot.engine.core.snapshot_writer import write_state

_HANDLERS: dict[int, Callable[[CoreState, Command, Emit], CommandResult]] = {
    CommandKind.PLACE: place,
    CommandKind.CANCEL: amendments.cancel,
    CommandKind.MOVE: amendments.move,
    CommandKind.REDUCE: amendments.reduce,
    CommandKind.AMEND: amendments.amend,
    CommandKind.REPLACE: amendments.replace_order,
    CommandKind.DEPOSIT: transfers.deposit,
    CommandKind.WITHDRAW: transfers.withdraw,
    CommandKind.RESERVE: transfers.reserve,
    CommandKind.RELEASE: transfers.release,
    CommandKind.COMMIT: transfers.commit,
    CommandKind.ADJUST: transfers.adjust,
    CommandKind.MOVEMENT: movements.add_movement,
    CommandKind.TRANSFER: movements.transfer,
    CommandKind.CREATE_CURRENCY: directory.create_currency,
    CommandKind.DELETE_CURRENCY: directory.delete_currency,
    CommandKind.UPDATE_SYMBOL: directory.update_symbol,
    CommandKind.DELETE_SYMBOL: directory.delete_symbol,
    CommandKind.CREATE_ACCOUNT: directory.create_account,
    CommandKind.SET_ACCOUNT: directory.set_account,
    CommandKind.SET_ACCOUNT_FEES: directory.set_account_fees,
    CommandKind.SET_OWNER: directory.set_owner,
    CommandKind.TERMS: keep_terms,
    CommandKind.EXPIRE: amendments.expire,
    CommandKind.SET_MARK_PRICE: execution.set_mark_price,
    CommandKind.ACTIVATE: execution.activate,
    CommandKind.LIST_ORDER: lists.add_list_order,
    CommandKind.PLACE_LIST: lists.place_list,
    CommandKind.CANCEL_LIST: lists.cancel_list,
    CommandKind.SET_PHASE: phases.set_phase,
    CommandKind.ADVANCE_PHASE: phases.advance_phase,
}
_UNUSABLE = "the core is unusable since a command found its state broken: end the process and replay"
_BLANK_EVENT = Event(*[0] * len(Event._fields))


class ReferenceCore:
    """A MatchingCore (protocol.py) made of dicts and sorted lists."""

    name = "reference"

    def __init__(self) -> None:
        self._state = CoreState()
        self._applying = False
        """Whether a command is being applied. It stays so if one fails, and the state is unusable."""

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        """Apply whole command records in order; return (results, events).

        Raises ValueError, and applies nothing, if the length is not a multiple of the record size. Raises RuntimeError
        if the state broke one of its own rules: from then on, only `restore` is possible.
        """
        self._require_usable()
        if len(commands) % COMMAND_SIZE:
            raise ValueError(f"{len(commands)} bytes are not a whole number of {COMMAND_SIZE}-byte commands")
        results: list[bytes] = []
        events: list[bytes] = []
        self._applying = True
        for command in decode_commands(commands):
            self._state.command_sequence += 1
            events_before = len(events)
            result = self._result(command, partial(_emit, self._state, command.timestamp, events))
            record = Result(
                code=result.code,
                status=result.status,
                events=len(events) - events_before,
                filled=result.filled,
                remaining=result.remaining,
                notional=result.notional,
            )
            results.append(encode_result(record))
        self._applying = False
        return b"".join(results), b"".join(events)

    def _require_usable(self) -> None:
        if self._applying:
            raise BrokenInvariantError(_UNUSABLE)

    def _result(self, command: Command | CreateSymbol, emit: Emit) -> CommandResult:
        try:
            if isinstance(command, CreateSymbol):
                return directory.create_symbol(self._state, command)
            handler = require_found(_HANDLERS.get(command.kind), ResultCode.UNSUPPORTED_COMMAND)
            return handler(self._state, command, emit)
        except Rejected as rejected:
            return CommandResult(rejected.code, ResultStatus.REJECTED)
        except BrokenInvariantError as error:
            raise BrokenInvariantError(f"{error}, in command {self._state.command_sequence}") from error

    @property
    def command_sequence(self) -> int:
        """Number of commands ever applied."""
        return self._state.command_sequence

    @property
    def event_sequence(self) -> int:
        """Sequence of the newest event; 0 before the first."""
        return self._state.event_sequence

    @property
    def tracks_prices(self) -> bool:
        """Whether a TERMS, SET_MARK_PRICE or SET_PHASE was ever applied. Before, nothing waits or has a phase."""
        return self._state.tracks_prices

    def snapshot(self) -> bytes:
        """The whole state in canonical form, with its checksum."""
        self._require_usable()
        return sealed(write_state(self._state))

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError, and leaves the state unchanged, if `snapshot` is not valid."""
        self._state = read_snapshot(snapshot)
        self._applying = False

    def state_hash(self) -> str:
        """Hex SHA-256 of the state in a snapshot."""
        return hashlib.sha256(write_state(self._state)).hexdigest()

    def depth(self, symbol: int, levels: int) -> tuple[list[DepthLevel], list[DepthLevel]]:
        """(bids, asks), best price first, at most `levels` each; 0 means all."""
        book = self._state.books.get(symbol)
        if book is None:
            return [], []
        return book.bids.depth(levels), book.asks.depth(levels)

    def volumes(self, symbol: int, levels: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(bids, asks) with price and whole quantity, best price first, at most `levels` each; 0 means all."""
        book = self._state.books.get(symbol)
        if book is None:
            return [], []
        most = levels or None
        return list(islice(book.bids.volumes(), most)), list(islice(book.asks.volumes(), most))

    def order(self, order_id: int) -> RestingOrder | None:
        """An open order, which rests or waits, or None."""
        order = self._state.orders.get(order_id)
        return order.as_open_order() if order else None

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[RestingOrder]:
        """Open orders, which rest or wait, by ascending order id; 0 means any account or symbol."""
        candidates = self._state.orders
        if account:
            known = self._state.accounts.get(account)
            candidates = known.orders if known else {}
        return [order.as_open_order() for _, order in sorted(candidates.items()) if symbol in (order.symbol, 0)]

    def waiting_order(self, order_id: int) -> WaitingOrder | None:
        """What an open order waits for, or will once it is armed; None if it has no trigger, or is unknown."""
        order_list = self._state.listed.get(order_id)
        plan = order_list.plan_of(order_id) if order_list else None
        waiter = plan or self._state.waiting.get(order_id)
        has_trigger = waiter is not None and waiter.trigger.kind != TriggerKind.NONE
        return waiter.as_waiting_order(self._fired_price(waiter)) if waiter and has_trigger else None

    def iceberg(self, order_id: int) -> Iceberg | None:
        """What a resting order shows of its quantity; None if it shows all, or is unknown."""
        order = self._state.orders.get(order_id)
        return Iceberg(order.display, order.visible) if order and order.display else None

    def waiting_orders(self) -> list[WaitingOrder]:
        """The orders that wait for a trigger, by placement."""
        return [waiter.as_waiting_order(self._fired_price(waiter)) for waiter in self._state.waiting.values()]

    def _fired_price(self, waiter: Waiter) -> int:
        return self._state.books[waiter.order.symbol].fired.get(waiter.order.order_id, 0)

    def order_lists(self) -> list[CoreOrderList]:
        """The lists whose orders depend on each other, by ascending id."""
        return [order_list.as_core_list() for _, order_list in sorted(self._state.lists.items())]

    def expiries(self) -> list[OrderExpiry]:
        """The open orders that expire, by ascending order id."""
        return [
            OrderExpiry(number, order.expiry) for number, order in sorted(self._state.orders.items()) if order.expiry
        ]

    def activations_due(self) -> list[int]:
        """The active symbols in continuous trading with fired orders or filled entries that no command has seen to yet.

        Ascending.
        """
        return [
            number
            for number, book in sorted(self._state.books.items())
            if (book.fired or book.arming) and book.symbol.active and book.phase.phase == MarketPhase.CONTINUOUS
        ]

    def phases(self) -> list[SymbolPhase]:
        """The symbols that are not in continuous trading, ascending."""
        return [
            SymbolPhase(number, book.phase.phase, book.phase.ends, book.auction_reference, book.symbol.active)
            for number, book in sorted(self._state.books.items())
            if book.phase.phase != MarketPhase.CONTINUOUS
        ]

    def reference_prices(self) -> list[ReferencePrices]:
        """The symbols that have a reference price, ascending. The core knows them from the first TERMS on."""
        return [
            ReferencePrices(number, book.last_price, book.mark_price)
            for number, book in sorted(self._state.books.items())
            if book.last_price or book.mark_price
        ]

    def balances(self, account: int = 0) -> list[CoreBalance]:
        """Non-zero balances by ascending account and currency; 0 means all accounts."""
        numbers = sorted(self._state.accounts) if account == 0 else [account]
        return [
            balance for number in numbers if number in self._state.accounts for balance in self._state.balances(number)
        ]

    def account(self, account: int) -> AccountSettings | None:
        """An account's settings, or None."""
        return self._state.account_state(account) if account in self._state.accounts else None

    def owner_links(self) -> list[OwnerLink]:
        """The accounts that a SET_OWNER gave to the owner of another, ascending."""
        return [OwnerLink(*link) for link in sorted(self._state.owners.items())]

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        return [book.symbol for _, book in sorted(self._state.books.items())]

    def currencies(self) -> list[int]:
        """All currency numbers, ascending."""
        return sorted(self._state.supplies)


def _emit(state: CoreState, timestamp: int, events: list[bytes], event_type: EventType, **fields: int) -> None:
    """Append one event of the current command."""
    state.event_sequence += 1
    event = _BLANK_EVENT._replace(
        type=event_type,
        sequence=state.event_sequence,
        timestamp=timestamp,
        command_sequence=state.command_sequence,
        **fields,
    )
    events.append(encode_event(event))
