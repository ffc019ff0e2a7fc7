"""The sources of notifications: subjects, and the durable consumers that read them."""

from dataclasses import dataclass

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, NOTIFICATIONS, ORDERS, TRANSFERS, StreamDefinition


@dataclass(frozen=True, slots=True)
class NotificationSource:
    """A subject whose events become notifications, and the durable consumer that reads it."""

    stream: StreamDefinition
    subject: str
    durable: str


SENT = NotificationSource(NOTIFICATIONS, subjects.NOTIFICATIONS_SEND, "rest-edge-notifications")
DEPOSITS = NotificationSource(CUSTODY, subjects.CUSTODY_DEPOSIT_CONFIRMED, "rest-edge-deposits")
REQUESTED = NotificationSource(CUSTODY, subjects.CUSTODY_WITHDRAWAL_REQUESTED, "rest-edge-withdrawals-requested")
COMPLETED = NotificationSource(CUSTODY, subjects.CUSTODY_WITHDRAWAL_COMPLETED, "rest-edge-withdrawals-completed")
FAILED = NotificationSource(CUSTODY, subjects.CUSTODY_WITHDRAWAL_FAILED, "rest-edge-withdrawals-failed")
EXECUTED = NotificationSource(TRANSFERS, subjects.TRANSFERS_EXECUTED, "rest-edge-transfers")
FILLS = NotificationSource(ORDERS, f"{subjects.ORDERS_FILLED}.*", "rest-edge-fills")

SOURCES = (SENT, DEPOSITS, REQUESTED, COMPLETED, FAILED, EXECUTED, FILLS)
