"""An order's row has what the order may slip when its trigger fires. No order of before has said it."""

from alembic import op

revision = "0056"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table. The column is empty for nearly every row, which costs nothing."""
    op.execute("ALTER TABLE orders ADD COLUMN IF NOT EXISTS max_slippage_bps numeric(38, 18)")
