"""A position says when the router refused the order that closes it. Until it is decided, nobody tries again."""

from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE margin_positions ADD COLUMN IF NOT EXISTS closing_refused_at timestamptz")
