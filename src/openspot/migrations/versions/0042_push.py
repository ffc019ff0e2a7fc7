"""Devices that users are notified on, what waits for them, and for which events users want that."""

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A subscription counts while its session can be refreshed. The key and the secret are the device's: they close
    # messages for it, and open none.
    """
    CREATE TABLE IF NOT EXISTS push_subscriptions (
        subscription_id text PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        session_id text NOT NULL,
        endpoint text NOT NULL,
        public_key bytea NOT NULL,
        secret bytea NOT NULL,
        refusals integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        paused_until timestamptz NOT NULL,
        reached_at timestamptz,
        UNIQUE (user_id, endpoint)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS push_messages (
        message_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        subscription_id text NOT NULL REFERENCES push_subscriptions (subscription_id) ON DELETE CASCADE,
        user_id text COLLATE "C" NOT NULL,
        reference text NOT NULL,
        kind text NOT NULL,
        title text NOT NULL,
        text text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        next_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS push_messages_device ON push_messages (subscription_id)",
    "CREATE INDEX IF NOT EXISTS push_messages_due ON push_messages (next_at)",
    # Nobody is notified on a device who has not turned that on there, so choices that are made already gain it. Refused
    # orders stay off: who places an order reads its refusal.
    "ALTER TABLE notification_settings ADD COLUMN IF NOT EXISTS push boolean NOT NULL DEFAULT true",
    "UPDATE notification_settings SET push = false WHERE event = 'order_refused'",
)


def upgrade() -> None:
    """Make the tables and the column."""
    for statement in STATEMENTS:
        op.execute(statement)
