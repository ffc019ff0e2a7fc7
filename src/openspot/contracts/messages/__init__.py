"""Payloads on the bus, one file for each family of subjects.

Plain JSON in camelCase. Decimals are text, times are milliseconds since 1970 unless a message says otherwise, and
`order_id` is the id that clients know. Unknown fields are ignored, so that a service may be newer than its neighbours.
A field of the wrong type makes a message malformed: a request is refused, an event is logged, counted and dropped.
"""

from openspot.contracts.messages.custody import (
    AssignAddress,
    AssignAddressReply,
    CancelWithdrawal,
    CreateWithdrawal,
    CustodyAddress,
    DepositConfirmed,
    GetAddress,
    GetAddressReply,
    GetUserAddresses,
    GetUserAddressesReply,
    WithdrawalOutcome,
    WithdrawalRecord,
    WithdrawalReply,
    WithdrawalRequested,
)
from openspot.contracts.messages.ledger import (
    BalanceUpdated,
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerHistoryEntry,
    LedgerHistoryReply,
    LedgerHistoryRequest,
    LedgerLock,
    LedgerLockReply,
    LedgerPosting,
    LedgerPostingReply,
)
from openspot.contracts.messages.message import Message
from openspot.contracts.messages.orders import (
    CancelOrder,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    OrderEvent,
    OrderRecord,
    OrderRequest,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.contracts.messages.risk import RiskCheckFailed
from openspot.contracts.messages.trades import ExecutedTrade, SideTrade, TradeFee, TradeFees, TradesSettled
from openspot.contracts.messages.transfers import ExecutedTransfer, TransferMovement
from openspot.contracts.messages.venue import VenueBookTicker, VenueTrade

__all__ = [
    "AssignAddress",
    "AssignAddressReply",
    "BalanceUpdated",
    "CancelOrder",
    "CancelOrderReply",
    "CancelWithdrawal",
    "CreateWithdrawal",
    "CustodyAddress",
    "DepositConfirmed",
    "ExecutedTrade",
    "ExecutedTransfer",
    "GetAddress",
    "GetAddressReply",
    "GetOrder",
    "GetOrderReply",
    "GetUserAddresses",
    "GetUserAddressesReply",
    "LedgerBalance",
    "LedgerBalancesReply",
    "LedgerBalancesRequest",
    "LedgerHistoryEntry",
    "LedgerHistoryReply",
    "LedgerHistoryRequest",
    "LedgerLock",
    "LedgerLockReply",
    "LedgerPosting",
    "LedgerPostingReply",
    "Message",
    "OrderEvent",
    "OrderRecord",
    "OrderRequest",
    "RiskCheckFailed",
    "SideTrade",
    "SubmitOrder",
    "SubmitOrderReply",
    "TradeFee",
    "TradeFees",
    "TradesSettled",
    "TransferMovement",
    "VenueBookTicker",
    "VenueTrade",
    "WithdrawalOutcome",
    "WithdrawalRecord",
    "WithdrawalReply",
    "WithdrawalRequested",
]
