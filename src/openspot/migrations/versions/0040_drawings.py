"""Drawings: what a user has drawn on the chart of a market."""

from alembic import op

revision = "0040"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS chart_drawings (
            user_id text COLLATE "C" NOT NULL,
            symbol text NOT NULL,
            drawings jsonb NOT NULL,
            count integer NOT NULL CHECK (count > 0),
            updated_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, symbol)
        )
        """
    )
