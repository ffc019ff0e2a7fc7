"""Charges that are being made, and the transfers that pay them and give credit back."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A charge is here from the beginning of its transfer until the engine has decided: one of a user at most.
    """
    CREATE TABLE subscription_charges (
        user_id text PRIMARY KEY,
        charge_id text NOT NULL UNIQUE,
        subscription_id text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('subscribe', 'upgrade', 'renewal')),
        plan_id text NOT NULL,
        interval_months integer NOT NULL CHECK (interval_months BETWEEN 1 AND 12),
        period_index integer NOT NULL CHECK (period_index >= 0),
        period_number integer NOT NULL CHECK (period_number >= 1),
        attempt integer NOT NULL CHECK (attempt >= 1),
        period_start date NOT NULL,
        period_end date NOT NULL,
        asset text NOT NULL,
        price numeric(38, 18) NOT NULL,
        discount_bps integer NOT NULL,
        credit numeric(38, 18) NOT NULL CHECK (credit >= 0),
        amount numeric(38, 18) NOT NULL CHECK (amount > 0 AND amount = price - credit),
        credit_left numeric(38, 18) NOT NULL CHECK (credit_left >= 0),
        staking_balance bigint NOT NULL CHECK (staking_balance >= 0),
        made_on date NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE subscription_transfers (
        reference text PRIMARY KEY,
        kind text NOT NULL,
        subject_id text NOT NULL,
        movements jsonb NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'done', 'refused')),
        result_code text,
        attempts integer NOT NULL,
        next_attempt_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        decided_at timestamptz
    )
    """,
    "CREATE INDEX subscription_transfers_due ON subscription_transfers (next_attempt_at) WHERE status = 'pending'",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
