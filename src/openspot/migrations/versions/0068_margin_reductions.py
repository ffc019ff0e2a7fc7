"""A reduce-only request closes positions of a margin account once, however often it is repeated.

A position names only the last request that closed it, so a repetition that comes late would close others.
"""

from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS margin_reductions (
            account_id text NOT NULL REFERENCES margin_accounts,
            request_id text NOT NULL,
            requested_at timestamptz NOT NULL,
            PRIMARY KEY (account_id, request_id)
        )
        """
    )
