"""The sources of notifications: the durable consumers whose events become notifications."""

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, MARGIN, NOTIFICATIONS, ORDERS, RISK, TRANSFERS, StreamConsumer

BATCH_MAX = 50
WANTED_MAX = 500

SENT = StreamConsumer(NOTIFICATIONS, subjects.NOTIFICATIONS_SEND, "rest-edge-notifications", BATCH_MAX)
DEPOSITS = StreamConsumer(CUSTODY, subjects.CUSTODY_DEPOSIT_CONFIRMED, "rest-edge-deposits", BATCH_MAX)
REQUESTED = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_REQUESTED, "rest-edge-withdrawals-requested", BATCH_MAX)
COMPLETED = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_COMPLETED, "rest-edge-withdrawals-completed", BATCH_MAX)
FAILED = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_FAILED, "rest-edge-withdrawals-failed", BATCH_MAX)
EXECUTED = StreamConsumer(TRANSFERS, subjects.TRANSFERS_EXECUTED, "rest-edge-transfers", BATCH_MAX)
REFUSALS = StreamConsumer(RISK, subjects.RISK_CHECK_FAILED, "rest-edge-refusals", WANTED_MAX)
INCOMPLETE = StreamConsumer(ORDERS, f"{subjects.ORDERS_INCOMPLETE}.*", "rest-edge-incomplete-orders", WANTED_MAX)
WARNINGS = StreamConsumer(MARGIN, subjects.MARGIN_LIQUIDATION_WARNING, "rest-edge-margin-warnings", BATCH_MAX)
CLOSED = StreamConsumer(MARGIN, subjects.MARGIN_POSITION_CLOSED, "rest-edge-margin-closed", BATCH_MAX)

SOURCES = (SENT, DEPOSITS, REQUESTED, COMPLETED, FAILED, EXECUTED, REFUSALS, INCOMPLETE, WARNINGS, CLOSED)
