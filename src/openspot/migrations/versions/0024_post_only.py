"""An order's row says whether it is post-only. No order of before is."""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table."""
    op.execute("ALTER TABLE orders ADD COLUMN post_only boolean NOT NULL DEFAULT false")
