"""The movements of a house account are found in the order in which its balance changed. Trades do not pay for it."""

from openspot.migrations.indexes import create_index

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    create_index(
        "ledger_entries_house",
        "ledger_entries (user_id, entry_id) WHERE starts_with(user_id, 'house:') AND reference_type <> 'trade'",
    )
