"""Layouts: where a user has put the panels of the trading screen, for each class of windows."""

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS screen_layouts (
            user_id text COLLATE "C" NOT NULL,
            width text NOT NULL,
            version bigint NOT NULL,
            panels jsonb NOT NULL,
            updated_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, width)
        )
        """
    )
