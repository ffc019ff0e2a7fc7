"""Up to which trade users are told of their filled orders."""

from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

# A row for each journal of the engine. The trade at `sequence`, or one before it, was at `executed_at`.
TABLE = """
    CREATE TABLE IF NOT EXISTS fill_notification_positions (
        epoch text PRIMARY KEY,
        sequence bigint NOT NULL CHECK (sequence >= 0),
        executed_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(TABLE)
