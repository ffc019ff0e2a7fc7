"""Indexes for what is bounded for each user, and for what is deleted after a time."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

STATEMENTS = (
    "CREATE INDEX payments_unpaid ON payments (expires_at) WHERE payment_status <> 'paid'",
    "CREATE INDEX position_transfers_pending ON position_transfers (participant_id) WHERE status = 'pending'",
    # The number of a user's transactions, so that the bound is checked without counting them.
    "ALTER TABLE fifo_owners ADD COLUMN transaction_count bigint NOT NULL DEFAULT 0",
    """
    UPDATE fifo_owners SET transaction_count =
        (SELECT count(*) FROM fifo_transactions AS own WHERE own.user_id = fifo_owners.user_id)
    """,
)


def upgrade() -> None:
    """Add them."""
    for statement in STATEMENTS:
        op.execute(statement)
