"""An order's row names its list: its ids and its type, the order's part in it, and whether it binds the order."""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# Both are empty but for the orders of lists, so other orders do not pay for them.
INDEXES = {
    "orders_of_list": "orders (list_id) WHERE list_id IS NOT NULL",
    "orders_lists_of_user": "orders (user_id, created_at DESC, list_id DESC) WHERE list_id IS NOT NULL",
}


def upgrade() -> None:
    """Extend the table. The columns are empty for nearly every row, which costs nothing."""
    op.execute("""
        ALTER TABLE orders
            ADD COLUMN IF NOT EXISTS list_id text,
            ADD COLUMN IF NOT EXISTS client_list_id text,
            ADD COLUMN IF NOT EXISTS list_type text,
            ADD COLUMN IF NOT EXISTS list_role text,
            ADD COLUMN IF NOT EXISTS list_state text
    """)
    for name, definition in INDEXES.items():
        create_index(name, definition)
