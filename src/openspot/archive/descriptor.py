"""The archive describes itself: it takes old rows out of the tables of others, under a lock that keeps repairs away."""

from openspot.archive.settings import ArchiveSettings
from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="archive",
    title="Archive",
    settings=ArchiveSettings,
    tables=Tables(
        owns=("archive_batches", "archive_floors", "ledger_carried"),
        reads=("engine_cursors",),
        repairs=("orders", "trades", "ledger_entries", "ledger_accounts", "audit_records"),
    ),
)
