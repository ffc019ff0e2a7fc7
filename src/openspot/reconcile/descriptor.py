"""Reconcile describes itself: it reads every mirror, and writes only what a repair makes right again."""

from openspot.contracts import subjects
from openspot.kit.description import BusAccess, Descriptor, Tables
from openspot.ledger.descriptor import SETTLEMENT, TRANSFER_POSTING
from openspot.positions.descriptor import FILLS
from openspot.reconcile.money_checks import tables_compared
from openspot.reconcile.settings import ReconcileSettings
from openspot.router.descriptor import COMPLETE, DEPOSIT

DESCRIPTOR = Descriptor(
    name="reconcile",
    title="Reconcile",
    settings=ReconcileSettings,
    tables=Tables(
        reads=(
            "orders",
            "trades",
            "engine_cursors",
            "router_held_events",
            "ledger_accounts",
            "ledger_entries",
            "ledger_movements",
            "ledger_rejected_trades",
            "archive_floors",
            "ledger_carried",
            *tables_compared(),
        ),
        repairs=(
            # Locked only, so that the router waits.
            "engine_cursors",
            "orders",
            "trades",
            "ledger_accounts",
            "ledger_entries",
            "ledger_movements",
            "ledger_outbox",
            "positions",
            "position_trades",
            "position_balances",
            "position_checkpoints",
            "fifo_owners",
            "fifo_transactions",
            "fifo_pending_fills",
            "fifo_checkpoints",
        ),
    ),
    bus=BusAccess(
        requests=(subjects.MARKETDATA_FAIR_PRICES_GET,),
        inspects=(
            SETTLEMENT,
            TRANSFER_POSTING,
            DEPOSIT,
            COMPLETE,
            FILLS,
        ),
    ),
)
