"""The interface of a matching core, which the reference and the Rust core share.

A core is deterministic: the same commands give the same results, events and state in both implementations. It
has no clock, no IO and no threads. No record makes it raise an error: it rejects a command that breaks a rule, with
a result code.
"""

from typing import NamedTuple, Protocol


class DepthLevel(NamedTuple):
    """A price level: scaled price, scaled total remaining, and how many orders rest there."""

    price: int
    quantity: int
    orders: int


class RestingOrder(NamedTuple):
    """A resting order. Price and quantities are scaled integers, `timestamp` is nanoseconds since 1970."""

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


class WaitingOrder(NamedTuple):
    """What an order waits for, beside its RestingOrder, whose price is the limit that it was placed or moved with.

    `kind` is a TriggerKind, `flags` and `value` are those of its TERMS. `trigger_price` is the price that fires it now,
    `limit` the one that it would match with, and `fired_price` the price that has fired it, or 0. Prices are scaled.
    """

    order_id: int
    symbol: int
    order_type: int
    kind: int
    flags: int
    value: int
    trigger_price: int
    limit: int
    fired_price: int


class Iceberg(NamedTuple):
    """What a resting order shows of its quantity: `display` at a time, of which `visible` is left. Both are scaled."""

    display: int
    visible: int


class OrderExpiry(NamedTuple):
    """An open order that ends at a time, in nanoseconds since 1970."""

    order_id: int
    time_ns: int


class ReferencePrices(NamedTuple):
    """The prices that fire the triggers of a symbol, scaled: its last trade and its mark price. 0 is unknown."""

    symbol: int
    last_price: int
    mark_price: int


class CoreOrderList(NamedTuple):
    """Orders of one account and symbol that depend on each other. `list_type` is an OrderListType.

    `entry` is the id of the entry while it is open, else 0; `unarmed` the scaled quantity that it has filled and no
    exit covers yet. An exit is open from its first arming on; all of a list are armed together.
    """

    list_id: int
    list_type: int
    account: int
    symbol: int
    entry: int
    unarmed: int
    armed_exits: tuple[int, ...]
    planned_exits: tuple[int, ...]


class SymbolPhase(NamedTuple):
    """A symbol that is not in continuous trading.

    `phase` is a MarketPhase, `ends_ns` when it ends (nanoseconds since 1970), or 0, `reference` the price that an
    auction is near to among equal ones, or 0, and `active` whether the symbol is.
    """

    symbol: int
    phase: int
    ends_ns: int
    reference: int
    active: bool


class CoreBalance(NamedTuple):
    """One account's money in one currency, in amount units (18 places).

    `locked` is Σ remaining × price over open buys (quote asset) or Σ remaining over open sells (base asset), as the
    facts A1.4-10 to A1.4-17 define it. `reserved` is held in addition: for the worst-case fees of open buys, and for
    withdrawals. New orders can use total − locked − reserved.
    """

    account: int
    currency: int
    total: int
    locked: int
    reserved: int


class AccountSettings(NamedTuple):
    """An account's settings. The fees are None if the account has no fees of its own."""

    account: int
    active: bool
    stp_mode: int
    taker_fee_bps: int | None
    maker_fee_bps: int | None


class Symbol(NamedTuple):
    """A symbol as the core knows it. The core uses numbers only; names belong to the engine's directory."""

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


OWNER_SHIFT = 32
"""An account number from 2^32 on names in its upper half the account whose user owns this one, too: a margin account
names its user's spot account. The lower half makes it unique."""


def spot_account_of(account: int) -> int:
    """The account that the number of `account` names in its upper half, else `account` itself."""
    return account >> OWNER_SHIFT or account


class OwnerLink(NamedTuple):
    """An account that belongs to the owner of another. Both numbers are below 2^32."""

    account: int
    owner: int


FEE_ACCOUNT = 1
"""The account that receives fees and pays rebates. It always exists, is inactive (it places no orders) and
never goes below zero, because a rebate is at most the fee of the same trade."""


class MatchingCore(Protocol):
    """A matching core. openspot.engine.core.records describes the records."""

    name: str
    """"reference" or "rust"."""

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        """Apply whole command records in order; return (results, events), with one result for each command.

        Raises ValueError, and applies nothing, if the length is not a multiple of the record size.
        """
        ...

    @property
    def command_sequence(self) -> int:
        """Number of commands ever applied."""
        ...

    @property
    def event_sequence(self) -> int:
        """Sequence of the newest event; 0 before the first."""
        ...

    @property
    def tracks_prices(self) -> bool:
        """Whether a TERMS, SET_MARK_PRICE or SET_PHASE was ever applied. Before, nothing waits or has a phase."""
        ...

    def snapshot(self) -> bytes:
        """The whole state in canonical form (docs/protocol/snapshot.md). Equal states have equal bytes."""
        ...

    def restore(self, snapshot: bytes) -> None:
        """Replace the state by the one in `snapshot`.

        Raises ValueError, and leaves the state unchanged, unless `snapshot` is complete and canonical and its state
        follows the rules. docs/protocol/snapshot.md lists the reasons.
        """
        ...

    def state_hash(self) -> str:
        """Hex SHA-256 of the snapshot."""
        ...

    def depth(self, symbol: int, levels: int) -> tuple[list[DepthLevel], list[DepthLevel]]:
        """(bids, asks), best price first, at most `levels` each; 0 means all."""
        ...

    def volumes(self, symbol: int, levels: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(bids, asks) with price and whole quantity, best price first, at most `levels` each; 0 means all.

        Unlike in `depth`, what icebergs do not show counts, as in an auction.
        """
        ...

    def order(self, order_id: int) -> RestingOrder | None:
        """An open order, which rests or waits, or None."""
        ...

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[RestingOrder]:
        """Open orders, which rest or wait, by ascending order id; 0 means any account or symbol."""
        ...

    def waiting_order(self, order_id: int) -> WaitingOrder | None:
        """What an open order waits for, or will once it is armed; None if it has no trigger, or is unknown."""
        ...

    def iceberg(self, order_id: int) -> Iceberg | None:
        """What a resting order shows of its quantity; None if it shows all, or is unknown."""
        ...

    def waiting_orders(self) -> list[WaitingOrder]:
        """The orders that wait for a trigger, by placement."""
        ...

    def order_lists(self) -> list[CoreOrderList]:
        """The lists whose orders depend on each other, by ascending id."""
        ...

    def expiries(self) -> list[OrderExpiry]:
        """The open orders that expire, by ascending order id."""
        ...

    def activations_due(self) -> list[int]:
        """The active symbols in continuous trading with fired orders or filled entries that no command has seen to yet.

        Ascending.
        """
        ...

    def phases(self) -> list[SymbolPhase]:
        """The symbols that are not in continuous trading, ascending."""
        ...

    def reference_prices(self) -> list[ReferencePrices]:
        """The symbols that have a reference price, ascending. The core knows them from the first TERMS on."""
        ...

    def balances(self, account: int = 0) -> list[CoreBalance]:
        """Non-zero balances by ascending account and currency; 0 means all accounts."""
        ...

    def account(self, account: int) -> AccountSettings | None:
        """An account's settings, or None."""
        ...

    def owner_links(self) -> list[OwnerLink]:
        """The accounts that a SET_OWNER gave to the owner of another, ascending."""
        ...

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        ...

    def currencies(self) -> list[int]:
        """All currency numbers, ascending."""
        ...
