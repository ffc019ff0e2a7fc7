"""What a matching core is: the interface that the reference and the Rust twin share.

A core is deterministic: the same commands give the same results, events and state on both twins. It has no
clock, no IO and no threads, and it never fails on a record: whatever it refuses, it refuses with a code.
"""

from typing import NamedTuple, Protocol


class OpenOrder(NamedTuple):
    """A resting order. Price and quantities are scaled integers."""

    order_id: int
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    timestamp: int


class Balance(NamedTuple):
    """One account's money in one currency, in amount units (18 places).

    `locked` is Σ remaining × price over open buys (quote asset), Σ remaining over open sells (base asset),
    derived from the orders at each call (Document A 1.4). `reserved` is what open orders hold beyond that:
    the worst-case fee of buys, and what withdrawals hold. Free for new orders: total − locked − reserved.
    """

    account: int
    currency: int
    total: int
    locked: int
    reserved: int


class AccountState(NamedTuple):
    """An account's flags. `taker_fee_bps` and `maker_fee_bps` are None where the symbol's fees hold."""

    account: int
    active: bool
    stp_mode: int
    taker_fee_bps: int | None
    maker_fee_bps: int | None


class Symbol(NamedTuple):
    """A symbol as the core knows it: numbers only, names belong to the engine's directory."""

    symbol: int
    base: int
    quote: int
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int
    active: bool


FEE_ACCOUNT = 1
"""The account that receives fees and pays rebates. It exists from the start, is inactive (it places no
orders) and never goes negative: a rebate is bounded by the fee of the same trade."""


class MatchingCore(Protocol):
    """A matching core. See openspot.engine.core.records for the records."""

    name: str
    """"reference" or "rust"."""

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        """Apply whole command records in order; answer (results, events), one result a command.

        Raises ValueError, with nothing applied, if the length is no multiple of the record size.
        """
        ...

    @property
    def command_sequence(self) -> int:
        """How many commands were ever applied."""
        ...

    @property
    def event_sequence(self) -> int:
        """The sequence of the newest event, 0 before the first."""
        ...

    def snapshot(self) -> bytes:
        """The whole state in the canonical form (docs/protocol/snapshot.md): equal states, equal bytes."""
        ...

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError, with the state unchanged, on anything but a whole snapshot."""
        ...

    def state_hash(self) -> str:
        """Hex SHA-256 of the snapshot."""
        ...

    def depth(self, symbol: int, levels: int) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
        """(bids, asks), best first, at most `levels` each (0 = all): (price, total remaining, orders)."""
        ...

    def order(self, order_id: int) -> OpenOrder | None:
        """A resting order, or None."""
        ...

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[OpenOrder]:
        """Resting orders by ascending order id; 0 means any account or symbol."""
        ...

    def balances(self, account: int = 0) -> list[Balance]:
        """Balances by ascending account and currency; 0 means all accounts."""
        ...

    def account(self, account: int) -> AccountState | None:
        """An account's flags, or None."""
        ...

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        ...

    def currencies(self) -> list[int]:
        """All currencies, ascending."""
        ...
