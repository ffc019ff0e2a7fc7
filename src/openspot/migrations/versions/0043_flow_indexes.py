"""The movements that no trade made are found by user and time. Trades do not pay for these indexes.

The table may be large, and an earlier release may still write to it: writers are not locked out.
"""

from openspot.migrations.indexes import create_index

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

CREATED = {
    "ledger_entries_flows": "ledger_entries (user_id, created_at) WHERE reference_type <> 'trade'",
    # Those of all users, in the order in which the position service follows them.
    "ledger_entries_movements": "ledger_entries (created_at, transaction_id) WHERE reference_type <> 'trade'",
}


def upgrade() -> None:
    """Make the indexes."""
    for name, definition in CREATED.items():
        create_index(name, definition)
