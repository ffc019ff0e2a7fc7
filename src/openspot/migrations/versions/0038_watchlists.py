"""Watchlists: the markets that a user keeps together."""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS watchlists (
            user_id text COLLATE "C" NOT NULL,
            name text NOT NULL,
            symbols text[] NOT NULL,
            updated_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, name)
        )
        """
    )
