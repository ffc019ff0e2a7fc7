"""Rows of the lists over all users. Times are ISO 8601 in UTC."""

from typing import Literal

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import ResponseBody

WithdrawalStatus = Literal[
    "pending_approval", "approved", "signing", "broadcasting", "confirming", "completed", "cancelled", "rejected",
    "failed",
]  # fmt: skip


class OperatedWithdrawalResponse(ResponseBody):
    """A withdrawal of any user. `valueUsd` is its value at its creation; `approvals` are the approvers, in order.

    `assignee` is the operator who is asked to decide, null if nobody is.
    """

    id: str
    user_id: str
    asset: str
    network: str
    amount: DecimalText
    fee: DecimalText
    net_amount: DecimalText
    value_usd: DecimalText
    address: str
    tag: str | None
    wallet: str
    status: WithdrawalStatus
    funds: str
    reason: str | None
    tx_hash: str | None
    approvals_needed: int
    approvals: str
    assignee: str | None
    created_at: TimeText
    updated_at: TimeText


class OperatedDepositResponse(ResponseBody):
    """A deposit that a chain has included. `credited`: whether the ledger has it, null if that is not looked up."""

    tx_hash: str
    user_id: str
    asset: str
    network: str
    address: str
    amount: DecimalText
    required_confirmations: int
    status: Literal["pending", "waiting", "confirmed"]
    credited: bool | None
    created_at: TimeText
    confirmed_at: TimeText | None


class OperatedPaymentResponse(ResponseBody):
    """A payment of any user. One that is paid and not `credited` waits for its credit."""

    id: str
    user_id: str
    route_id: str
    asset: str
    amount: DecimalText
    fee: DecimalText
    status: Literal["open", "complete", "expired", "cancelled"]
    payment_status: Literal["unpaid", "paid", "failed"]
    credited: bool
    created_at: TimeText
    expires_at: TimeText
    completed_at: TimeText | None
