"""The events that users are told of, and the durable consumers that follow them."""

from dataclasses import dataclass

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, NOTIFICATIONS, ORDERS, TRANSFERS, StreamDefinition


@dataclass(frozen=True, slots=True)
class Followed:
    """A subject whose events users are told of, and the durable consumer that follows it."""

    stream: StreamDefinition
    subject: str
    durable: str


SENT = Followed(NOTIFICATIONS, subjects.NOTIFICATIONS_SEND, "rest-edge-notifications")
DEPOSITS = Followed(CUSTODY, subjects.CUSTODY_DEPOSIT_CONFIRMED, "rest-edge-deposits")
REQUESTED = Followed(CUSTODY, subjects.CUSTODY_WITHDRAWAL_REQUESTED, "rest-edge-withdrawals-requested")
COMPLETED = Followed(CUSTODY, subjects.CUSTODY_WITHDRAWAL_COMPLETED, "rest-edge-withdrawals-completed")
FAILED = Followed(CUSTODY, subjects.CUSTODY_WITHDRAWAL_FAILED, "rest-edge-withdrawals-failed")
EXECUTED = Followed(TRANSFERS, subjects.TRANSFERS_EXECUTED, "rest-edge-transfers")
FILLS = Followed(ORDERS, f"{subjects.ORDERS_FILLED}.*", "rest-edge-fills")

FOLLOWED = (SENT, DEPOSITS, REQUESTED, COMPLETED, FAILED, EXECUTED, FILLS)
