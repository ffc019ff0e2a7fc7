"""A stake keeps what taking it back early does, as it keeps its rate and its days."""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and make the index by which an edge finds the stakes that have none."""
    # Files and the engine have the products, not the database. So the edge fills it in for locked stakes of before.
    op.execute("ALTER TABLE staking_balances ADD COLUMN IF NOT EXISTS early_redemption text")
    create_index(
        "staking_balances_unkept",
        "staking_balances (product_id) WHERE early_redemption IS NULL AND type = 'locked'",
    )
