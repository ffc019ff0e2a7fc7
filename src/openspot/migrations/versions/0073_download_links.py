"""Links by which a browser saves a file of operators to its disk: each is used once, within a minute."""

from alembic import op

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

STATEMENTS = (
    # Neither column opens anything without the link itself, which is kept nowhere.
    """
    CREATE TABLE IF NOT EXISTS download_links (
        link_hash bytea PRIMARY KEY,
        sealed bytea NOT NULL,
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS download_links_expired ON download_links (expires_at)",
)


def upgrade() -> None:
    """Make the table."""
    for statement in STATEMENTS:
        op.execute(statement)
