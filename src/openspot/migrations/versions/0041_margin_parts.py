"""A margin position keeps the part of it that is being closed. Whole ones, as all before, keep none."""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table. Adding an empty column changes no row."""
    op.execute("ALTER TABLE margin_positions ADD COLUMN IF NOT EXISTS closing_quantity numeric(38, 18)")
