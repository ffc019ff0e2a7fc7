"""Decisions on withdrawals say which operator made them, why and from where; the operators' trail takes them over."""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

STATEMENTS = (
    # All five are null in entries that no operator made, and in those of earlier releases: their hashes leave them out.
    """
    ALTER TABLE custody_audit
        ADD COLUMN IF NOT EXISTS operator text,
        ADD COLUMN IF NOT EXISTS reason text,
        ADD COLUMN IF NOT EXISTS before text,
        ADD COLUMN IF NOT EXISTS after text,
        ADD COLUMN IF NOT EXISTS request_id text
    """,
    # Addresses are personal data: each is here until the trail has it.
    """
    CREATE TABLE IF NOT EXISTS custody_audit_origins (
        entry_number bigint PRIMARY KEY REFERENCES custody_audit (entry_number),
        address text NOT NULL
    )
    """,
    # `through` is the last entry of custody's chain up to which every decision of an operator is in the trail.
    """
    CREATE TABLE IF NOT EXISTS custody_trail_position (
        chain text PRIMARY KEY CHECK (chain = 'custody_audit'),
        through bigint NOT NULL CHECK (through >= 0)
    )
    """,
)


def upgrade() -> None:
    """Add the columns, and make the tables and the index."""
    for statement in STATEMENTS:
        op.execute(statement)
    create_index("custody_audit_of_operators", "custody_audit (entry_number) WHERE operator IS NOT NULL")
