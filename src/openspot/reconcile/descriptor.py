"""Reconcile describes itself: it reads every mirror, and writes only through the code of the mirror's owner."""

from openspot.contracts.streams import CUSTODY, TRADES, TRANSFERS
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.description import BusAccess, Descriptor, StreamConsumer, Tables

DESCRIPTOR = Descriptor(
    name="reconcile",
    title="Reconcile",
    settings=EngineConnectionSettings,
    tables=Tables(
        reads=(
            "orders",
            "trades",
            "engine_cursors",
            "router_held_events",
            "ledger_accounts",
            "ledger_entries",
            "ledger_rejected_trades",
        )
    ),
    bus=BusAccess(
        inspects=(
            StreamConsumer(TRADES, "ledger-settlement"),
            StreamConsumer(TRANSFERS, "ledger-transfers"),
            StreamConsumer(CUSTODY, "router-deposit"),
            StreamConsumer(CUSTODY, "router-complete"),
        ),
    ),
)
