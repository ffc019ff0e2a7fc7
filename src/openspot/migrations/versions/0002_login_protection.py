"""Failed logins by account and network, and the networks from which users have logged in."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE login_attempts (
        key text PRIMARY KEY,
        attempts integer NOT NULL DEFAULT 0,
        next_at timestamptz NOT NULL DEFAULT '-infinity',
        last_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX login_attempts_last ON login_attempts (last_at)",
    """
    CREATE TABLE user_networks (
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        network text NOT NULL,
        last_login_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, network)
    )
    """,
    "CREATE INDEX user_networks_last ON user_networks (last_login_at)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
