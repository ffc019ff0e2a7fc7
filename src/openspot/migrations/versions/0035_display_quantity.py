"""An order's row has the quantity that the order shows at a time. No order of before has one."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table. The column is empty for nearly every row, which costs nothing."""
    op.execute("ALTER TABLE orders ADD COLUMN IF NOT EXISTS display_quantity numeric(38, 18)")
