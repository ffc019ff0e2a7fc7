"""The sessions that ended lately are found along an index, which has one token of each."""

from openspot.migrations.indexes import create_index

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    create_index(
        "refresh_tokens_revoked", "refresh_tokens (revoked_at) WHERE revoked_at IS NOT NULL AND used_at IS NULL"
    )
