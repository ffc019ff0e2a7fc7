"""Transfers of the REST edge, conversions, staking, payments, fee quotes and notification settings."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A transfer is written together with the row that it belongs to, and sent to the engine until its outcome is known.
    """
    CREATE TABLE edge_transfers (
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
    "CREATE INDEX edge_transfers_due ON edge_transfers (next_attempt_at) WHERE status = 'pending'",
    """
    CREATE TABLE conversion_quotes (
        quote_id text PRIMARY KEY,
        user_id text NOT NULL,
        symbol text NOT NULL,
        from_asset text NOT NULL,
        to_asset text NOT NULL,
        from_amount numeric(38, 18) NOT NULL CHECK (from_amount > 0),
        to_amount numeric(38, 18) NOT NULL CHECK (to_amount > 0),
        spread_amount numeric(38, 18) NOT NULL CHECK (spread_amount >= 0),
        spread_bps integer NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX conversion_quotes_expired ON conversion_quotes (expires_at)",
    """
    CREATE TABLE conversions (
        conversion_id text PRIMARY KEY,
        quote_id text NOT NULL UNIQUE,
        user_id text NOT NULL,
        from_asset text NOT NULL,
        to_asset text NOT NULL,
        from_amount numeric(38, 18) NOT NULL,
        to_amount numeric(38, 18) NOT NULL,
        spread_amount numeric(38, 18) NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
        failure_code text,
        created_at timestamptz NOT NULL,
        completed_at timestamptz
    )
    """,
    "CREATE INDEX conversions_user ON conversions (user_id, created_at DESC, conversion_id DESC)",
    """
    CREATE TABLE staking_balances (
        balance_id text PRIMARY KEY,
        user_id text NOT NULL,
        product_id text NOT NULL,
        asset text NOT NULL,
        type text NOT NULL CHECK (type IN ('flexible', 'locked')),
        staked numeric(38, 18) NOT NULL CHECK (staked > 0),
        amount numeric(38, 18) NOT NULL CHECK (amount >= 0),
        accrued numeric(38, 18) NOT NULL CHECK (accrued >= 0),
        remainder bigint NOT NULL CHECK (remainder >= 0),
        apr_ppm integer NOT NULL,
        lock_days integer NOT NULL,
        unbonding_days integer NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'failed', 'active', 'unbonding', 'redeemed')),
        failure_code text,
        created_at timestamptz NOT NULL,
        starts_on date,
        ends_on date,
        next_accrual_on date
    )
    """,
    "CREATE INDEX staking_balances_user ON staking_balances (user_id, created_at DESC, balance_id DESC)",
    "CREATE INDEX staking_balances_product ON staking_balances (product_id)",
    "CREATE INDEX staking_balances_due ON staking_balances (next_accrual_on) WHERE status = 'active'",
    """
    CREATE TABLE staking_accruals (
        balance_id text NOT NULL REFERENCES staking_balances (balance_id),
        day date NOT NULL,
        amount numeric(38, 18) NOT NULL,
        apr_ppm integer NOT NULL,
        reward numeric(38, 18) NOT NULL,
        remainder bigint NOT NULL,
        PRIMARY KEY (balance_id, day)
    )
    """,
    """
    CREATE TABLE staking_unstakes (
        unstake_id text PRIMARY KEY,
        balance_id text NOT NULL REFERENCES staking_balances (balance_id),
        user_id text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount > 0),
        reward numeric(38, 18) NOT NULL CHECK (reward >= 0),
        status text NOT NULL CHECK (status IN ('unbonding', 'paying', 'paid')),
        principal_paid boolean NOT NULL DEFAULT false,
        reward_paid boolean NOT NULL,
        created_at timestamptz NOT NULL,
        available_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX staking_unstakes_user ON staking_unstakes (user_id, created_at DESC, unstake_id DESC)",
    "CREATE INDEX staking_unstakes_balance ON staking_unstakes (balance_id)",
    "CREATE INDEX staking_unstakes_due ON staking_unstakes (available_at) WHERE status = 'unbonding'",
    """
    CREATE TABLE staking_events (
        event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text NOT NULL,
        balance_id text NOT NULL,
        type text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX staking_events_user ON staking_events (user_id, event_id DESC)",
    """
    CREATE TABLE payments (
        payment_id text PRIMARY KEY,
        user_id text NOT NULL,
        route_id text NOT NULL,
        currency text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount > 0),
        fee numeric(38, 18) NOT NULL CHECK (fee >= 0),
        return_url text,
        status text NOT NULL CHECK (status IN ('open', 'complete')),
        payment_status text NOT NULL CHECK (payment_status IN ('unpaid', 'paid', 'failed')),
        credited boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        completed_at timestamptz
    )
    """,
    "CREATE INDEX payments_user ON payments (user_id, created_at DESC, payment_id DESC)",
    """
    CREATE TABLE payment_events (
        event_id text PRIMARY KEY,
        payment_id text NOT NULL REFERENCES payments (payment_id),
        payment_status text NOT NULL,
        received_at timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE fee_quotes (
        quote_id text PRIMARY KEY,
        user_id text NOT NULL,
        asset text NOT NULL,
        network text NOT NULL,
        fee numeric(38, 18) NOT NULL,
        minimum numeric(38, 18) NOT NULL,
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX fee_quotes_expired ON fee_quotes (expires_at)",
    """
    CREATE TABLE notification_settings (
        user_id text NOT NULL,
        event text NOT NULL,
        email boolean NOT NULL,
        websocket boolean NOT NULL,
        PRIMARY KEY (user_id, event)
    )
    """,
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
