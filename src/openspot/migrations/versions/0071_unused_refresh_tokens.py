"""A session ends by its one unused token, found along an index, and has an allowance of refreshes.

The index of all tokens of a user, of which a session may have many, is used by nobody any more.
"""

from alembic import op

from openspot.migrations.indexes import create_index, drop_index

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and make the indexes."""
    # When the allowance of refreshes is complete. Null in tokens of earlier releases and in the first one of a session.
    op.execute("ALTER TABLE refresh_tokens ADD COLUMN IF NOT EXISTS allowance_full_at timestamptz")
    create_index("refresh_tokens_unused", "refresh_tokens (family_id) WHERE used_at IS NULL")
    create_index("refresh_tokens_unused_of_user", "refresh_tokens (user_id) WHERE used_at IS NULL")
    drop_index("refresh_tokens_user")
