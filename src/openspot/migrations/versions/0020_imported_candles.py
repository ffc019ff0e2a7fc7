"""Candles of another venue are marked, so that they are not taken for candles of trades."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table."""
    op.execute("ALTER TABLE market_candles ADD COLUMN is_imported boolean NOT NULL DEFAULT false")
