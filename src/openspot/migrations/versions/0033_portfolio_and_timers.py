"""A portfolio's history is bounded work, and a timer remembers that it had orders to cancel."""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0033"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and the index. Nothing locks writers of entries out, and all may be repeated."""
    # Whether the user had open orders when an edge claimed the due timer: those are the users who are notified.
    op.execute("ALTER TABLE cancel_timers ADD COLUMN IF NOT EXISTS had_orders boolean NOT NULL DEFAULT false")
    # The last balance before a point in time is the first entry of it.
    create_index("ledger_entries_of_account_by_time", "ledger_entries (user_id, asset, created_at DESC, entry_id DESC)")
