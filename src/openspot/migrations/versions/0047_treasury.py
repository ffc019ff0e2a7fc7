"""What operators move between the house's accounts, and the level that each account should have of an asset.

All statements may be repeated, and none of them locks out those who write to the tables that are there.
"""

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE IF NOT EXISTS house_transfers (
        transfer_id text PRIMARY KEY,
        source text NOT NULL,
        destination text NOT NULL CHECK (destination <> source),
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount > 0),
        reason text NOT NULL,
        value_cents bigint,
        requested_by text NOT NULL,
        approved_by text,
        status text NOT NULL CHECK (status IN ('pending', 'done', 'refused')),
        result_code text,
        created_at timestamptz NOT NULL,
        decided_at timestamptz,
        CHECK (approved_by IS NULL OR approved_by <> requested_by)
    )
    """,
    "CREATE INDEX IF NOT EXISTS house_transfers_newest ON house_transfers (created_at DESC, transfer_id DESC)",
    "CREATE INDEX IF NOT EXISTS house_transfers_alone ON house_transfers (created_at) WHERE approved_by IS NULL",
    # No row is no level.
    """
    CREATE TABLE IF NOT EXISTS house_levels (
        account text NOT NULL,
        asset text NOT NULL,
        level numeric(38, 18) NOT NULL CHECK (level > 0),
        set_by text NOT NULL,
        set_at timestamptz NOT NULL,
        PRIMARY KEY (account, asset)
    )
    """,
    # Two persons move money of the house, too. No row has a kind that the wider rule refuses.
    "ALTER TABLE operator_requests DROP CONSTRAINT IF EXISTS operator_requests_kind_check",
    """
    ALTER TABLE operator_requests ADD CONSTRAINT operator_requests_kind_check
        CHECK (kind IN ('adjustment', 'second_factor_reset', 'account_closure', 'house_transfer')) NOT VALID
    """,
)


def upgrade() -> None:
    """Make the tables, and let requests be of the new kind."""
    for statement in STATEMENTS:
        op.execute(statement)
