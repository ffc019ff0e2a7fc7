"""Indexes of the lists over all users that operators read."""

from openspot.migrations.indexes import create_index

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INDEXES = {
    "subscriptions_newest": "subscriptions (created_at DESC, subscription_id DESC)",
    "subscriptions_of_plan": "subscriptions (plan_id, created_at DESC, subscription_id DESC)",
    "subscriptions_of_user": "subscriptions (user_id, created_at DESC, subscription_id DESC)",
    "subscriptions_past_due": "subscriptions (created_at DESC, subscription_id DESC) WHERE status = 'past_due'",
    "subscription_payments_failed": "subscription_payments (payment_number DESC) WHERE status = 'failed'",
}


def upgrade() -> None:
    """Create the indexes beside whoever writes."""
    for name, definition in INDEXES.items():
        create_index(name, definition)
