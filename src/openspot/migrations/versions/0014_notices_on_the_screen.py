"""What users were told on the screen, as a list."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE notifications ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY",
    # False where the user did not want to be told on the screen.
    "ALTER TABLE notifications ADD COLUMN on_screen boolean NOT NULL DEFAULT true",
    "DROP INDEX notifications_user",
    "CREATE INDEX notifications_user ON notifications (user_id, number)",
    # Every edge looks there all the time, and most often finds nothing.
    "CREATE INDEX notifications_waiting ON notifications (taken_at) WHERE NOT announced",
    # Mails of this kind are written otherwise now. Those that still wait keep their subject.
    r"""
    UPDATE mail_outbox SET kind = 'notification', detail = E'A change of your account\n'
        'Something was changed in your account: its list of activity says what.\n'
        'Was it not you? Reset your password and end all sessions.'
    WHERE kind = 'notice'
    """,
)


def upgrade() -> None:
    """Extend the table."""
    for statement in STATEMENTS:
        op.execute(statement)
