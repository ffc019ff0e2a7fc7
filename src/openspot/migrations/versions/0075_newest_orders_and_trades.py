"""The newest orders and trades of everybody, for operators.

Times of new rows are the largest, so they come to one end of an index. They are indexed in UTC, an expression that no
list of one user or one market asks for: with an index of the bare time the planner would leave theirs, and read the
newest rows of all in search of somebody's who has left.
"""

from openspot.migrations.indexes import create_index

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None

INDEXES = {
    "orders_newest": "orders ((created_at AT TIME ZONE 'UTC') DESC, order_id DESC)",
    "orders_open_newest": (
        "orders ((created_at AT TIME ZONE 'UTC') DESC, order_id DESC)"
        " WHERE status IN ('pending', 'open', 'partially_filled')"
    ),
    "trades_newest": "trades ((executed_at AT TIME ZONE 'UTC') DESC, sequence DESC)",
}


def upgrade() -> None:
    """Make the indexes beside whoever writes."""
    for name, definition in INDEXES.items():
        create_index(name, definition)
