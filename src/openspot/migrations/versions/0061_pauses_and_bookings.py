"""Pauses of deposits and withdrawals, and requests to book what the engine alone has."""

from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

STATEMENTS = (
    # What operators have paused: a coin on one network, on all (`network` is `*`), or all coins of a network (`asset`
    # is `*`). No row is no pause.
    """
    CREATE TABLE IF NOT EXISTS transfer_pauses (
        asset text NOT NULL,
        network text NOT NULL,
        direction text NOT NULL CHECK (direction IN ('deposits', 'withdrawals')),
        notice text NOT NULL,
        reason text NOT NULL,
        paused_by text NOT NULL,
        paused_at timestamptz NOT NULL,
        PRIMARY KEY (asset, network, direction),
        CHECK (asset <> '*' OR network <> '*')
    )
    """,
    # Two persons book adjustments, too. No row has a kind that the wider rule refuses.
    "ALTER TABLE operator_requests DROP CONSTRAINT IF EXISTS operator_requests_kind_check",
    """
    ALTER TABLE operator_requests ADD CONSTRAINT operator_requests_kind_check CHECK (kind IN (
        'adjustment', 'second_factor_reset', 'account_closure', 'house_transfer', 'engine_adjustments'
    )) NOT VALID
    """,
)


def upgrade() -> None:
    """Make the table, and let requests be of the new kind."""
    for statement in STATEMENTS:
        op.execute(statement)
