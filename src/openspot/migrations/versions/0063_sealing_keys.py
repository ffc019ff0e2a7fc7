"""The sealing keys that edges have known, so that API keys outlive the secret under which they were made."""

from alembic import op

revision = "0063"
down_revision = "0061"
branch_labels = None
depends_on = None

# `key_id` names the key that follows from a sealing secret, in hexadecimal. `sealed_tag_key` says whether an id of an
# API key was made with it, and is itself sealed under the current secret. `current_at` is when a REST edge started
# last that seals with it.
TABLE = """
    CREATE TABLE IF NOT EXISTS sealing_keys (
        key_id text PRIMARY KEY,
        sealed_tag_key bytea NOT NULL,
        noted_at timestamptz NOT NULL DEFAULT now(),
        current_at timestamptz
    )
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(TABLE)
