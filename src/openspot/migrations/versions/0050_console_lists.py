"""Lists of the console: views that operators saved, and who is to decide on a withdrawal."""

from alembic import op

revision = "0050"
down_revision = "0047"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `query` is what stands behind the page's address. An operator's views go with the operator's account.
    """
    CREATE TABLE IF NOT EXISTS operator_views (
        view_id text PRIMARY KEY,
        operator text NOT NULL,
        page text NOT NULL,
        name text NOT NULL,
        query text NOT NULL,
        saved_at timestamptz NOT NULL,
        UNIQUE (operator, page, name)
    )
    """,
    # `assignee` is the name of an operator. It says who should decide, and keeps nobody else from it.
    """
    CREATE TABLE IF NOT EXISTS withdrawal_assignments (
        withdrawal_id text PRIMARY KEY,
        assignee text NOT NULL,
        assigned_by text NOT NULL,
        assigned_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS withdrawal_assignments_of ON withdrawal_assignments (assignee, withdrawal_id)",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
