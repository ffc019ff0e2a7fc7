"""The matching core of OpenSpot in Rust.

Records are those of openspot.engine.core.records, rules those of docs/protocol/matching.md. Prices and
quantities are scaled integers, amounts integers at 18 decimal places, times nanoseconds since 1970. An
integer that its field cannot hold raises OverflowError, with nothing applied.
"""

from collections.abc import Sequence

from typing_extensions import disjoint_base

_DepthRow = tuple[int, int, int]
_OrderRow = tuple[int, int, int, int, int, int, int, int, int, int]
_BalanceRow = tuple[int, int, int, int, int]
_AccountRow = tuple[int, bool, int, int | None, int | None]
_WaitingRow = tuple[int, int, int, int, int, int, int, int, int]
_SymbolRow = tuple[int, int, int, int, int, int, int, int, int, bool]

@disjoint_base
class RustCore:
    """A matching core: one deterministic state, without clock, IO and threads."""

    name: str
    """"rust"."""

    def __new__(cls, open_orders_expected: int = 65_536) -> RustCore:
        """An empty core with the fee account alone. Address space for the expected orders is set aside at
        once, and gets memory as orders come; beyond it the core grows in small chunks, and access becomes a
        little slower. Raises ValueError beyond 2^28 expected orders."""

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        """Apply whole command records in order; answer (results, events), one result a command.

        Raises ValueError, with nothing applied, if the length is no multiple of the record size. Raises
        RuntimeError if the state broke one of its own rules: it is then unusable, and all later calls but
        `restore` raise it too.
        """

    @property
    def command_sequence(self) -> int:
        """How many commands were ever applied."""

    @property
    def event_sequence(self) -> int:
        """The sequence of the newest event, 0 before the first."""

    @property
    def tracks_prices(self) -> bool:
        """Whether a TERMS, SET_MARK_PRICE or SET_PHASE was ever applied."""

    def snapshot(self) -> bytes:
        """The whole state in its canonical form, with its checksum (docs/protocol/snapshot.md): equal states,
        equal bytes."""

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError, with the state unchanged, on anything but a whole snapshot of
        a state that the rules allow. Undrained events are kept."""

    def state_hash(self) -> str:
        """Hex SHA-256 of the state in a snapshot."""

    def depth(self, symbol: int, levels: int) -> tuple[Sequence[_DepthRow], Sequence[_DepthRow]]:
        """(bids, asks), best first, at most `levels` each (0 = all): (price, total remaining, orders)."""

    def volumes(self, symbol: int, levels: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(bids, asks) with price and whole quantity, best first, at most `levels` each; 0 means all."""

    def order(self, order_id: int) -> _OrderRow | None:
        """An open order, which rests or waits, as (order_id, account, symbol, side, order_type, price,
        reserve_price, quantity, remaining, timestamp), or None."""

    def open_orders(self, account: int = 0, symbol: int = 0) -> Sequence[_OrderRow]:
        """Open orders, as `order` answers them, by ascending order id; 0 means any account or symbol.
        Looks at every open order of the core."""

    def waiting_order(self, order_id: int) -> _WaitingRow | None:
        """What an open order waits for, or will once it is armed, as (order_id, symbol, order_type, kind, flags, value,
        trigger_price, limit, fired_price); None if it has no trigger, or is unknown."""

    def iceberg(self, order_id: int) -> tuple[int, int] | None:
        """What a resting order shows of its quantity at a time, and what is left of that; None if it shows all."""

    def waiting_orders(self) -> Sequence[_WaitingRow]:
        """The orders that wait for a trigger, as `waiting_order` answers them, by placement."""

    def order_lists(self) -> Sequence[tuple[int, int, int, int, int, int, Sequence[int], Sequence[int]]]:
        """(list_id, list_type, account, symbol, entry, unarmed, armed exits, planned exits) of each list whose orders
        depend on each other, by ascending id."""

    def expiries(self) -> Sequence[tuple[int, int]]:
        """(order_id, time) of each open order that expires, ascending."""

    def activations_due(self) -> list[int]:
        """The active symbols in continuous trading with fired orders or filled entries that no command has seen to.

        Ascending.
        """

    def phases(self) -> Sequence[tuple[int, int, int, int, bool]]:
        """(symbol, phase, end, reference_price, active) of each symbol that is not in continuous trading, ascending.

        The end is in nanoseconds since 1970, 0 for none.
        """

    def reference_prices(self) -> Sequence[tuple[int, int, int]]:
        """(symbol, last_price, mark_price) of each symbol that has one of them, ascending; 0 is unknown."""

    def balances(self, account: int = 0) -> Sequence[_BalanceRow]:
        """(account, currency, total, locked, reserved) by ascending account and currency, without zero
        totals; 0 means all accounts."""

    def account(self, account: int) -> _AccountRow | None:
        """(account, active, stp_mode, taker_fee_bps, maker_fee_bps), or None; the fees are None where the
        symbol's hold."""

    def owner_links(self) -> Sequence[tuple[int, int]]:
        """(account, owner) of each account that belongs to the owner of another, ascending."""

    def symbols(self) -> Sequence[_SymbolRow]:
        """(symbol, base, quote, base_scale_k, quote_scale_k, tick, lot, taker_fee_bps, maker_fee_bps, active)
        by ascending number."""

    def currencies(self) -> list[int]:
        """All currencies, ascending."""

    def place(
        self,
        order_id: int,
        account: int,
        symbol: int,
        side: int,
        order_type: int,
        price: int,
        quantity: int,
        reserve_price_or_budget: int,
        timestamp: int,
    ) -> int:
        """Apply one PLACE; its result code. Its events wait for `drain_events`.

        The last amount is a BUY's reserve price (scaled as the price), or the budget of a FOK_BUDGET. The test of a
        FOK is not bounded here.
        Raises BufferError, with nothing applied, while more than 2 GiB of events wait; so do `cancel`,
        `move_order` and `reduce`.
        """

    def cancel(self, order_id: int, account: int, symbol: int, timestamp: int) -> int:
        """Apply one CANCEL; its result code. Account 0 is an administrator, symbol 0 any symbol."""

    def move_order(self, order_id: int, account: int, price: int, timestamp: int) -> int:
        """Apply one MOVE to a new price; its result code."""

    def reduce(self, order_id: int, account: int, quantity: int, timestamp: int) -> int:
        """Apply one REDUCE by `quantity`; its result code."""

    def drain_events(self) -> bytes:
        """The events of the calls since the last drain, as records; those that `apply` answered are not among
        them."""

    def memory_bytes(self) -> int:
        """Bytes of address space set aside for resting orders, price levels and their indexes."""
