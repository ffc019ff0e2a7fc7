"""A timer remembers that it had orders to cancel."""

from alembic import op

revision = "0033"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    # Whether the user had open orders when an edge claimed the due timer: those are the users who are notified.
    op.execute("ALTER TABLE cancel_timers ADD COLUMN IF NOT EXISTS had_orders boolean NOT NULL DEFAULT false")
