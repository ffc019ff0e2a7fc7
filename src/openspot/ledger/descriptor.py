"""The ledger describes itself: its main process and its workflow worker."""

from openspot.contracts import subjects
from openspot.contracts.streams import TRADES, TRANSFERS, StreamConsumer
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process, Tables
from openspot.ledger.settings import LedgerSettings

ACKNOWLEDGE_WAIT_S = 10.0
"""After this time without an acknowledgement the bus gives a message to another process, in case this one died."""
SETTLEMENT = StreamConsumer(TRADES, subjects.TRADES_EXECUTED, "ledger-settlement", 1000, ACKNOWLEDGE_WAIT_S)
TRANSFER_POSTING = StreamConsumer(TRANSFERS, subjects.TRANSFERS_EXECUTED, "ledger-transfers", 200, ACKNOWLEDGE_WAIT_S)

BUS = BusAccess(
    serves=(
        subjects.LEDGER_BALANCES_GET,
        subjects.LEDGER_CREDIT,
        subjects.LEDGER_DEBIT,
        subjects.LEDGER_LOCK,
        subjects.LEDGER_UNLOCK,
        subjects.LEDGER_HISTORY_GET,
    ),
    publishes=(subjects.TRADES_SETTLED, f"{subjects.BALANCES_UPDATED}.*"),
    consumes=(SETTLEMENT, TRANSFER_POSTING),
)

DESCRIPTOR = Descriptor(
    name="ledger",
    title="Ledger",
    settings=LedgerSettings,
    processes=(
        Process(
            name="ledger",
            title="Ledger",
            module="openspot.ledger.service",
            host="ledger_host",
            listeners=(Listener("ledger_port", "health and metrics"),),
            bus=BUS,
        ),
        Process(
            name="ledger-worker",
            title="Ledger worker",
            module="openspot.ledger.worker",
            host="ledger_worker_host",
            listeners=(Listener("ledger_worker_port", "health and metrics"),),
            bus=BUS,
        ),
    ),
    tables=Tables(
        owns=("ledger_accounts", "ledger_entries", "ledger_movements", "ledger_outbox", "ledger_rejected_trades"),
        reads=("archive_floors",),
    ),
    addresses=(Address("Ledger health", lambda settings: f"{settings.ledger_url}/health"),),
)
