"""One name for the engine's order id; events that the bus has not taken yet."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE orders RENAME COLUMN internal_id TO engine_order_id",
    "ALTER TABLE orders RENAME CONSTRAINT orders_internal_id_key TO orders_engine_order_id_key",
    "ALTER SEQUENCE internal_order_ids RENAME TO engine_order_ids",
    # Events of the translator whose rows are written but that the bus has not taken yet, oldest first.
    """
    CREATE TABLE router_held_events (
        held_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        message_id text NOT NULL UNIQUE,
        sequence bigint NOT NULL,
        key text NOT NULL,
        subject text NOT NULL,
        payload bytea NOT NULL
    )
    """,
)


def upgrade() -> None:
    """Rename, and add the table."""
    for statement in STATEMENTS:
        op.execute(statement)
