"""Notifications that users were told of."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A row is the proof that a notification was taken; its mail is queued in the same transaction. It is kept longer
    # than the bus keeps the request, so that no repetition of it is taken again.
    """
    CREATE TABLE notifications (
        notification_id text PRIMARY KEY,
        user_id text NOT NULL,
        kind text NOT NULL,
        title text NOT NULL,
        text text NOT NULL,
        announced boolean NOT NULL,
        created_at timestamptz NOT NULL,
        taken_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX notifications_user ON notifications (user_id)",
    "CREATE INDEX notifications_age ON notifications (taken_at)",
)


def upgrade() -> None:
    """Create the table."""
    for statement in STATEMENTS:
        op.execute(statement)
