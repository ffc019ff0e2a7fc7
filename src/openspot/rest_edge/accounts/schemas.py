"""What goes out of the account routes."""

from typing import Literal

from openspot.rest_edge.validation import Answer


class BalanceAnswer(Answer):
    """One asset of the caller. `source` is `ledger` where the engine did not answer and its mirror did."""

    asset: str
    total: str
    available: str
    locked: str
    source: Literal["engine", "ledger"]


class TransactionAnswer(Answer):
    """One ledger entry: `balance` is the running one after it, `createdAt` ISO 8601 in UTC."""

    transaction_id: str
    asset: str
    amount: str
    balance: str
    entry_type: str
    reference_type: str
    reference_id: str
    created_at: str
