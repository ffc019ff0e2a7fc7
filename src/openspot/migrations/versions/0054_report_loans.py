"""What users owed the house when a day of the reports was closed."""

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table: one row a day, so that a day without loans differs from one that was not counted."""
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS report_loans (
            day date PRIMARY KEY,
            assets text[] NOT NULL,
            outstanding numeric[] NOT NULL
        )
        """
    )
