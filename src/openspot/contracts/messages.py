"""Payloads on the bus: plain JSON, camelCase, decimals as strings, times in milliseconds since 1970.

Unknown fields are ignored, so that a service may be newer than its neighbour. A field of the wrong type is
a malformed message: it is logged, counted and dropped, or refused where there is someone to answer to.
"""

import msgspec


class Message(msgspec.Struct, rename="camel", frozen=True, omit_defaults=False):
    """Base of all payloads."""


class OrderRequest(Message, frozen=True):
    """An order as the REST edge sends it: already validated in shape, not yet against market rules.

    `order_id` is allocated by the edge; `quote_quantity` is the spend of a market buy, instead of quantity.
    """

    order_id: str
    symbol: str
    side: str
    type: str
    quantity: str | None = None
    price: str | None = None
    quote_quantity: str | None = None
    stop_price: str | None = None
    time_in_force: str = "gtc"
    margin_mode: str | None = None
    max_slippage_bps: float | None = None
    client_order_id: str | None = None


class OrderRecord(Message, frozen=True):
    """An order as clients see it (design section 8). Times here are ISO 8601 in UTC."""

    order_id: str
    client_order_id: str | None
    user_id: str
    symbol: str
    side: str
    type: str
    time_in_force: str
    margin_mode: str | None
    price: str | None
    quantity: str
    filled_quantity: str
    remaining_quantity: str
    average_price: str | None
    fee: str
    fee_currency: str
    status: str
    reject_reason: str | None
    created_at: str
    updated_at: str


class SubmitOrder(Message, frozen=True):
    """Request `orders.submit`.

    `deadline`, in milliseconds since 1970, is when its answer is no longer waited for: from then on it is not
    carried out any more.
    """

    user_id: str
    order: OrderRequest
    deadline: int | None = None


class SubmitOrderReply(Message, frozen=True):
    """Answer of `orders.submit`: on a refusal `error` is the reason and `order` the rejected record.

    `status_unknown` is true where the engine did not answer: the order may or may not stand.
    """

    success: bool
    order: OrderRecord | None = None
    error: str | None = None
    status_unknown: bool = False


class CancelOrder(Message, frozen=True):
    """Request `orders.cancel`. `symbol` may be empty where the caller does not know it."""

    user_id: str
    order_id: str
    symbol: str = ""


class CancelOrderReply(Message, frozen=True):
    """Answer of `orders.cancel`. `not_found`: nobody knows the order, or it is another user's."""

    success: bool
    error: str | None = None
    order: OrderRecord | None = None
    not_found: bool = False


class GetOrder(Message, frozen=True):
    """Request `orders.get`: for an order whose row may not be written yet."""

    user_id: str
    order_id: str


class GetOrderReply(Message, frozen=True):
    """Answer of `orders.get`: no order where nobody knows it, or it is another user's."""

    order: OrderRecord | None = None
    error: str | None = None


class OrderEvent(Message, frozen=True):
    """Payload of `orders.*`: the record after the event, and the engine event that it speaks of.

    `sequence` is the engine's event sequence, 0 for a pre-trade rejection.
    """

    event: str
    sequence: int
    timestamp: int
    order: OrderRecord
    reason: str | None = None


class RiskCheckFailed(Message, frozen=True):
    """Payload of `risk.check.failed`."""

    order_id: str
    user_id: str
    symbol: str
    check: str
    reason: str
    timestamp: int


class SideTrade(Message, frozen=True):
    """Payload of `trades.executed.<SYMBOL>`: one trade as one of its two orders sees it."""

    trade_id: str
    symbol: str
    liquidity: str
    order_id: str
    user_id: str
    side: str
    price: str
    quantity: str
    fee: str
    fee_bps: int
    fee_currency: str
    is_order_completed: bool
    sequence: int
    timestamp: int


class TradeFee(Message, frozen=True):
    """One side's fee: a negative amount is a rebate."""

    user_id: str
    amount: str
    currency: str


class TradeFees(Message, frozen=True):
    """The fees of a settled trade."""

    buyer: TradeFee
    seller: TradeFee


class ExecutedTrade(Message, frozen=True):
    """Payload of `trades.executed` (Document A 2.3): once a trade, consolidated for settlement."""

    id: str
    symbol: str
    base_asset: str
    quote_asset: str
    buyer_id: str
    seller_id: str
    price: str
    qty: str
    fees: TradeFees
    taker_side: str
    taker_order_id: str
    maker_order_id: str
    is_taker_completed: bool
    is_maker_completed: bool
    sequence: int
    timestamp: int


class LedgerBalancesRequest(Message, frozen=True):
    """Request `ledger.balances.get`."""

    user_id: str
    asset: str | None = None


class LedgerBalance(Message, frozen=True):
    """One account of the ledger."""

    asset: str
    available: str
    locked: str


class LedgerBalancesReply(Message, frozen=True):
    """Answer of `ledger.balances.get`. `error` is set, and the list empty, where it could not be read."""

    balances: list[LedgerBalance]
    error: str | None = None


class LedgerPosting(Message, frozen=True):
    """Request `ledger.credit` and `ledger.debit`; `amount` is positive in both."""

    transaction_id: str
    user_id: str
    asset: str
    amount: str
    entry_type: str
    reference_type: str
    reference_id: str


class LedgerPostingReply(Message, frozen=True):
    """Answer of `ledger.credit` and `ledger.debit`; `new_balance` is the available balance."""

    success: bool
    new_balance: str | None = None
    error: str | None = None


class LedgerLock(Message, frozen=True):
    """Request `ledger.lock` and `ledger.unlock`."""

    user_id: str
    asset: str
    amount: str
    reference_id: str


class LedgerLockReply(Message, frozen=True):
    """Answer of `ledger.lock` and `ledger.unlock`."""

    success: bool
    error: str | None = None


class LedgerHistoryRequest(Message, frozen=True):
    """Request `ledger.history.get`: a user's ledger entries, newest first. `cursor` is that of the page before."""

    user_id: str
    asset: str | None = None
    limit: int = 100
    cursor: str | None = None


class LedgerHistoryEntry(Message, frozen=True):
    """One ledger entry: `balance` is the running one after it, `created_at` ISO 8601 in UTC."""

    transaction_id: str
    asset: str
    amount: str
    balance: str
    entry_type: str
    reference_type: str
    reference_id: str
    created_at: str


class LedgerHistoryReply(Message, frozen=True):
    """Answer of `ledger.history.get`; without `next_cursor` it is the last page, with `error` there is none."""

    entries: list[LedgerHistoryEntry]
    next_cursor: str | None = None
    error: str | None = None


class BalanceUpdated(Message, frozen=True):
    """Payload of `balances.updated.<userId>`: an account as it stands after a change.

    `version` grows with every change of the account: events may arrive out of order or again, and one with a
    lower version than was seen is out of date.
    """

    user_id: str
    asset: str
    available: str
    locked: str
    transaction_id: str
    timestamp: int
    version: int = 0


class TradesSettled(Message, frozen=True):
    """Payload of `trades.settled`: informational, after a batch was settled in the workflow runner."""

    trade_ids: list[str]
    count: int
    last_sequence: int
    timestamp: int


class DepositConfirmed(Message, frozen=True):
    """Payload of `custody.deposit.confirmed`."""

    tx_hash: str
    user_id: str
    asset: str
    amount: str
    address: str | None = None
    network: str | None = None
    confirmations: int | None = None
    timestamp: int | None = None


class WithdrawalRequested(Message, frozen=True):
    """Payload of `custody.withdrawal.requested`."""

    withdrawal_id: str
    user_id: str
    asset: str
    amount: str
    address: str | None = None
    network: str | None = None
    timestamp: int | None = None


class WithdrawalOutcome(Message, frozen=True):
    """Payload of `custody.withdrawal.{reserved,completed,failed}`.

    `refused` is true on a failure that says: the router could not reserve the funds, nothing is held.
    """

    withdrawal_id: str
    user_id: str
    asset: str
    amount: str
    reason: str | None = None
    tx_hash: str | None = None
    timestamp: int | None = None
    refused: bool = False
