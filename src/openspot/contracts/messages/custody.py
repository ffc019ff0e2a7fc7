"""Custody: the events `custody.deposit.*` and `custody.withdrawal.*` (Document A 1.5)."""

from openspot.contracts.messages.message import Message


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

    `refused` marks a failure that the router itself published: it could not reserve the funds, and nothing is held.
    """

    withdrawal_id: str
    user_id: str
    asset: str
    amount: str
    reason: str | None = None
    tx_hash: str | None = None
    timestamp: int | None = None
    refused: bool = False
