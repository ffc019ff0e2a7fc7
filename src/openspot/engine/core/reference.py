"""The reference core: the specification of matching, in Python.

Short and naive on purpose. The Rust twin must answer every command with the same bytes; where the two
differ, docs/protocol/matching.md decides. The rules are in reference_orders.py, reference_money.py and
reference_directory.py, each a function a command over the state of reference_state.py; this file turns
records into calls and calls into records, and answers the queries.
"""

import hashlib
from collections.abc import Callable
from functools import partial

from openspot.domain.result_code import ResultCode
from openspot.engine.core import reference_directory as directory
from openspot.engine.core import reference_money as money
from openspot.engine.core import reference_orders as orders
from openspot.engine.core.protocol import AccountState, Balance, OpenOrder, Symbol
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
from openspot.engine.core.reference_state import Emit, Outcome, Refused, State, found
from openspot.engine.core.snapshot_format import read_snapshot, write_snapshot

_HANDLERS: dict[int, Callable[[State, Command, Emit], Outcome]] = {
    CommandKind.PLACE: orders.place,
    CommandKind.CANCEL: orders.cancel,
    CommandKind.MOVE: orders.move,
    CommandKind.REDUCE: orders.reduce,
    CommandKind.DEPOSIT: money.deposit,
    CommandKind.WITHDRAW: money.withdraw,
    CommandKind.RESERVE: money.reserve,
    CommandKind.RELEASE: money.release,
    CommandKind.COMMIT: money.commit,
    CommandKind.ADJUST: money.adjust,
    CommandKind.CREATE_CURRENCY: directory.create_currency,
    CommandKind.DELETE_CURRENCY: directory.delete_currency,
    CommandKind.UPDATE_SYMBOL: directory.update_symbol,
    CommandKind.DELETE_SYMBOL: directory.delete_symbol,
    CommandKind.CREATE_ACCOUNT: directory.create_account,
    CommandKind.SET_ACCOUNT: directory.set_account,
    CommandKind.SET_ACCOUNT_FEES: directory.set_account_fees,
}
_BLANK_EVENT = Event(*[0] * len(Event._fields))


class ReferenceCore:
    """A MatchingCore (protocol.py) out of plain dicts and sorted lists."""

    name = "reference"

    def __init__(self) -> None:
        self._state = State()

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        """Apply whole records in order; answer (results, events).

        Raises ValueError, with nothing applied, if the length is no multiple of the record size.
        """
        if len(commands) % COMMAND_SIZE:
            raise ValueError(f"{len(commands)} bytes are no whole number of {COMMAND_SIZE}-byte commands")
        results: list[bytes] = []
        events: list[bytes] = []
        for command in decode_commands(commands):
            self._state.command_sequence += 1
            events_before = len(events)
            outcome = self._outcome(command, partial(_emit, self._state, command.timestamp, events))
            emitted = len(events) - events_before
            results.append(encode_result(Result(outcome.code, outcome.status, emitted, *outcome[2:])))
        return b"".join(results), b"".join(events)

    def _outcome(self, command: Command | CreateSymbol, emit: Emit) -> Outcome:
        try:
            if isinstance(command, CreateSymbol):
                return directory.create_symbol(self._state, command)
            handler = found(_HANDLERS.get(command.kind), ResultCode.UNSUPPORTED_COMMAND)
            return handler(self._state, command, emit)
        except Refused as refusal:
            return Outcome(refusal.code, ResultStatus.REJECTED)

    @property
    def command_sequence(self) -> int:
        """How many commands were ever applied."""
        return self._state.command_sequence

    @property
    def event_sequence(self) -> int:
        """The sequence of the newest event, 0 before the first."""
        return self._state.event_sequence

    def snapshot(self) -> bytes:
        """The whole state in its canonical bytes."""
        return write_snapshot(self._state)

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError, with the state unchanged, on anything but a whole snapshot."""
        self._state = read_snapshot(snapshot)

    def state_hash(self) -> str:
        """Hex SHA-256 of the snapshot."""
        return hashlib.sha256(self.snapshot()).hexdigest()

    def depth(self, symbol: int, levels: int) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
        """(bids, asks), best first, at most `levels` each (0 = all): (price, total remaining, orders)."""
        market = self._state.markets.get(symbol)
        if market is None:
            return [], []
        return market.book.bids.depth(levels), market.book.asks.depth(levels)

    def order(self, order_id: int) -> OpenOrder | None:
        """A resting order, or None."""
        order = self._state.orders.get(order_id)
        return order.as_open_order() if order else None

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[OpenOrder]:
        """Resting orders by ascending order id; 0 means any account or symbol."""
        candidates = self._state.orders
        if account:
            known = self._state.accounts.get(account)
            candidates = known.orders if known else {}
        return [order.as_open_order() for _, order in sorted(candidates.items()) if symbol in (order.symbol, 0)]

    def balances(self, account: int = 0) -> list[Balance]:
        """Balances by ascending account and currency, without zero totals; 0 means all accounts."""
        numbers = sorted(self._state.accounts) if account == 0 else [account]
        return [
            balance for number in numbers if number in self._state.accounts for balance in self._state.balances(number)
        ]

    def account(self, account: int) -> AccountState | None:
        """An account's flags, or None."""
        return self._state.account_state(account) if account in self._state.accounts else None

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        return [market.symbol for _, market in sorted(self._state.markets.items())]

    def currencies(self) -> list[int]:
        """All currencies, ascending."""
        return sorted(self._state.currencies)


def _emit(state: State, timestamp: int, events: list[bytes], event_type: EventType, **fields: int) -> None:
    """Append one event of the running command."""
    state.event_sequence += 1
    event = _BLANK_EVENT._replace(
        type=event_type,
        sequence=state.event_sequence,
        timestamp=timestamp,
        command_sequence=state.command_sequence,
        **fields,
    )
    events.append(encode_event(event))
