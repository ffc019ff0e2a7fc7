"""The value of quotes and conversions, from which the exposure of the inventory follows."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE conversion_quotes ADD COLUMN value_cents bigint NOT NULL DEFAULT 0 CHECK (value_cents >= 0)",
    "ALTER TABLE conversion_quotes ADD COLUMN is_funded boolean NOT NULL DEFAULT true",
    "ALTER TABLE conversions ADD COLUMN value_cents bigint NOT NULL DEFAULT 0 CHECK (value_cents >= 0)",
    "CREATE INDEX conversions_recent ON conversions (created_at)",
)


def upgrade() -> None:
    """Extend the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
