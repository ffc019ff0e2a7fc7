"""The router's cursor becomes one cursor for each partition of the events by symbol.

Cursors that are not current belong to an earlier number of partitions (router/rows_position.py).
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table. The cursor that is there is that of the only partition."""
    op.execute(
        """
        ALTER TABLE engine_cursors
            ADD COLUMN partition integer NOT NULL DEFAULT 0,
            ADD COLUMN partitions integer NOT NULL DEFAULT 1,
            ADD COLUMN is_current boolean NOT NULL DEFAULT true,
            ADD CHECK (partition >= 0 AND partition < partitions)
        """
    )
