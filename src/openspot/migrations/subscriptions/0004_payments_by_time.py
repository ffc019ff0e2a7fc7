"""The index of payments of a span of time, which operators read."""

from openspot.migrations.indexes import create_index

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index beside whoever writes."""
    create_index("subscription_payments_made", "subscription_payments (created_at DESC, payment_number DESC)")
