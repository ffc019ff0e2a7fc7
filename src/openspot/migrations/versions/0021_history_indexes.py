"""A user's pages stay as fast as on the first day, and every trade pays for one index less.

Tables may be large here, and an earlier release may still write to them: no statement locks writers out, and all of
them may be repeated.
"""

from alembic import op

from openspot.migrations.indexes import create_index, drop_index

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

CREATED = {
    # A page merges what the user took and what the user made. Whoever only makes has nothing to find among the taken.
    "trades_of_buyer_by_side": "trades (buyer_id, taker_side, sequence DESC)",
    "trades_of_seller_by_side": "trades (seller_id, taker_side, sequence DESC)",
    # Only deposits are in it, so trades do not pay for it.
    "ledger_entries_deposits": (
        "ledger_entries (user_id, created_at DESC, transaction_id DESC)"
        " WHERE entry_type = 'deposit' AND reference_type = 'custody'"
    ),
    "custody_deposits_of_user": "custody_deposits (user_id, created_at DESC, tx_hash DESC)",
}
# No query reads trades_of_symbol: public trades have a table of their own.
DROPPED = ("trades_of_buyer", "trades_of_seller", "trades_of_symbol")
STATEMENTS = (
    # A prepared statement is planned for an average user, and for one with a few rows the planner reads and sorts them
    # all instead of walking along an index. That must not happen to the users who have millions. So it is told of fewer
    # users than there are; from the next ANALYZE on, which PostgreSQL runs by itself.
    "ALTER TABLE orders ALTER COLUMN user_id SET (n_distinct = 50)",
    "ALTER TABLE trades ALTER COLUMN buyer_id SET (n_distinct = 50), ALTER COLUMN seller_id SET (n_distinct = 50)",
    "ALTER TABLE ledger_entries ALTER COLUMN user_id SET (n_distinct = 50)",
)


def upgrade() -> None:
    """Make and drop indexes, and tell the planner of the heaviest users."""
    for name, definition in CREATED.items():
        create_index(name, definition)
    for name in DROPPED:
        drop_index(name)
    for statement in STATEMENTS:
        op.execute(statement)
