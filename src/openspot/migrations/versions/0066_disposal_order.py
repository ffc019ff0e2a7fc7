"""Disposals of one millisecond are listed as they happened: by the engine's sequence of their trades.

The lists ordered them by their ids as texts, so the disposal of trade 10 stood before that of trade 9. The sequence is
a part of the id, as in `order_key` of FIFO transactions. The indexes hold it, because a page begins behind the last row
of the one before, and one millisecond may have a hundred thousand disposals.
"""

from openspot.migrations.indexes import create_index, drop_index

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

# The backslashes keep SQLAlchemy from reading a parameter behind a colon.
_SEQUENCE = "coalesce(substring(disposal_id FROM '^[^:]*-([0-9]{1,18}):(?\\:buy|sell):(?\\:from|to)$')::bigint, 0)"


def upgrade() -> None:
    """Index disposals in their order."""
    create_index("fifo_disposals_in_order", f"fifo_disposals (user_id, disposed_ms, ({_SEQUENCE}), disposal_id, part)")
    create_index(
        "fifo_disposals_of_asset_in_order",
        f"fifo_disposals (user_id, asset, disposed_ms DESC, ({_SEQUENCE}) DESC, disposal_id DESC, part DESC)",
    )
    drop_index("fifo_disposals_of_asset")
