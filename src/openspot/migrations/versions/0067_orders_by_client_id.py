"""Operators find whose order it is by a client order id alone.

The index led with the user. It leads with the client's id now: a user's own orders are found along it as before, since
both are given, and no order is written into one index more.
"""

from openspot.migrations.indexes import create_index, drop_index

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Index client order ids before their users."""
    create_index("orders_by_client_id", "orders (client_order_id, user_id) WHERE client_order_id IS NOT NULL")
    drop_index("orders_client")
