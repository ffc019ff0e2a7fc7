"""Subscriptions, their payments, and what the HTTP layer keeps for the service."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATEMENTS = (
    # `due_on` is the date of the next step, `not_before` a pause after a step that failed by a fault. `staking_balance`
    # comes from the user's newest token. It is in whole units, and at most what gives the largest discount.
    """
    CREATE TABLE subscriptions (
        subscription_id text PRIMARY KEY,
        user_id text NOT NULL,
        plan_id text NOT NULL,
        asset text NOT NULL,
        interval_months integer NOT NULL CHECK (interval_months BETWEEN 1 AND 12),
        anchor date NOT NULL,
        price numeric(38, 18) NOT NULL CHECK (price >= 0),
        status text NOT NULL CHECK (status IN ('active', 'past_due', 'expired')),
        cancel_at_period_end boolean NOT NULL CHECK (NOT cancel_at_period_end OR status = 'active'),
        period_index integer NOT NULL CHECK (period_index >= 0),
        period_number integer NOT NULL CHECK (period_number >= 1),
        attempts integer NOT NULL CHECK (attempts >= 0),
        past_due_since date,
        credit numeric(38, 18) NOT NULL CHECK (credit >= 0),
        staking_balance bigint NOT NULL CHECK (staking_balance >= 0),
        due_on date,
        not_before timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CHECK ((due_on IS NULL) = (status = 'expired')),
        CHECK (status <> 'past_due' OR past_due_since IS NOT NULL)
    )
    """,
    "CREATE UNIQUE INDEX subscriptions_one_of_user ON subscriptions (user_id) WHERE status <> 'expired'",
    "CREATE INDEX subscriptions_due ON subscriptions (due_on, subscription_id) WHERE due_on IS NOT NULL",
    """
    CREATE TABLE subscription_payments (
        payment_number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        payment_id text PRIMARY KEY,
        subscription_id text NOT NULL REFERENCES subscriptions (subscription_id),
        user_id text NOT NULL,
        plan_id text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('subscribe', 'upgrade', 'renewal')),
        period_number integer NOT NULL CHECK (period_number >= 1),
        attempt integer NOT NULL CHECK (attempt >= 1),
        period_start date NOT NULL,
        period_end date NOT NULL,
        status text NOT NULL CHECK (status IN ('completed', 'failed')),
        reason text,
        asset text NOT NULL,
        price numeric(38, 18),
        discount_bps integer,
        credit numeric(38, 18),
        amount numeric(38, 18),
        created_at timestamptz NOT NULL,
        UNIQUE (subscription_id, period_number, attempt),
        CHECK ((status = 'failed') = (reason IS NOT NULL)),
        CHECK (status = 'failed' OR (price IS NOT NULL AND amount = price - credit AND amount >= 0))
    )
    """,
    # A period has one completed charge, whoever tries, and however often.
    "CREATE UNIQUE INDEX subscription_payments_one_charge ON subscription_payments (subscription_id, period_number)"
    " WHERE status = 'completed'",
    "CREATE INDEX subscription_payments_user ON subscription_payments (user_id, payment_number DESC)",
    """
    CREATE TABLE audit_records (
        audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        request_id text NOT NULL,
        user_id text,
        method text NOT NULL,
        path text NOT NULL,
        status integer NOT NULL,
        address text NOT NULL,
        duration_ms double precision NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX audit_records_user ON audit_records (user_id, audit_id DESC)",
    """
    CREATE TABLE idempotency_keys (
        user_id text NOT NULL,
        key text NOT NULL,
        request_hash bytea NOT NULL,
        operation_id text NOT NULL,
        method text NOT NULL,
        path text NOT NULL,
        claimed_until timestamptz NOT NULL,
        status integer,
        headers text,
        body bytea,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, key)
    )
    """,
    "CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
