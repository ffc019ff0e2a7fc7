"""Money of the house that came from outside or went there.

All statements may be repeated, and none of them locks out those who write to the tables that are there.
"""

from alembic import op

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `amount` is what came in; below 0 what went out.
    """
    CREATE TABLE IF NOT EXISTS house_flows (
        flow_id text PRIMARY KEY,
        account text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount <> 0),
        category text NOT NULL,
        reference text NOT NULL,
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
    # What was refused moved nothing, so its reference may be used again.
    """
    CREATE UNIQUE INDEX IF NOT EXISTS house_flows_reference ON house_flows (lower(reference))
        WHERE status <> 'refused'
    """,
    "CREATE INDEX IF NOT EXISTS house_flows_newest ON house_flows (created_at DESC, flow_id DESC)",
    "CREATE INDEX IF NOT EXISTS house_flows_alone ON house_flows (created_at) WHERE approved_by IS NULL",
    # Two persons record large flows. No row has a kind that the wider rule refuses.
    "ALTER TABLE operator_requests DROP CONSTRAINT IF EXISTS operator_requests_kind_check",
    """
    ALTER TABLE operator_requests ADD CONSTRAINT operator_requests_kind_check CHECK (kind IN (
        'adjustment', 'second_factor_reset', 'account_closure', 'house_transfer', 'engine_adjustments', 'house_flow'
    )) NOT VALID
    """,
)


def upgrade() -> None:
    """Make the table, and let requests be of the new kind."""
    for statement in STATEMENTS:
        op.execute(statement)
