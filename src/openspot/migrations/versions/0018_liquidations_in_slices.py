"""Rounds of a liquidation in which nothing was traded."""

from alembic import op

revision = "0018"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count the idle rounds. A liquidation that used up its rounds goes on."""
    op.execute("ALTER TABLE margin_liquidations ADD COLUMN idle_rounds integer NOT NULL DEFAULT 0")
