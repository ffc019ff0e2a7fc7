"""What operators do for users: locks, notes, limits, actions of two persons, adjustments, and the indexes of searches.

The tables that are searched may be large, and an earlier release may still write to them: no statement locks writers
out, and all of them may be repeated.
"""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

STATEMENTS = (
    # What a user must not do. The row is there as long as the lock.
    """
    CREATE TABLE IF NOT EXISTS user_locks (
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        kind text NOT NULL CHECK (kind IN ('login', 'withdrawals')),
        reason text NOT NULL,
        locked_by text NOT NULL,
        locked_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, kind)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS user_notes (
        note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        author text NOT NULL,
        text text NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS user_notes_of_user ON user_notes (user_id, note_id DESC)",
    # A limit that is null is that of the level of verification, or of the plan.
    """
    CREATE TABLE IF NOT EXISTS user_limits (
        user_id text PRIMARY KEY REFERENCES users (user_id) ON DELETE CASCADE,
        daily_withdrawal_usd bigint CHECK (daily_withdrawal_usd >= 0),
        api_keys_max integer CHECK (api_keys_max >= 0),
        saved_addresses_max integer CHECK (saved_addresses_max >= 0),
        changed_by text NOT NULL,
        changed_at timestamptz NOT NULL
    )
    """,
    # What one person asks for and another decides. It says who did what with money: it stays when a user goes.
    """
    CREATE TABLE IF NOT EXISTS operator_requests (
        request_id text PRIMARY KEY,
        kind text NOT NULL CHECK (kind IN ('adjustment', 'second_factor_reset', 'account_closure')),
        user_id text NOT NULL,
        detail jsonb NOT NULL,
        reason text NOT NULL,
        requested_by text NOT NULL,
        requested_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        status text NOT NULL CHECK (status IN ('waiting', 'approved', 'rejected')),
        decided_by text,
        decided_at timestamptz,
        decision_reason text,
        CHECK ((status = 'waiting') = (decided_by IS NULL)),
        CHECK (decided_by IS NULL OR decided_by <> requested_by OR status = 'rejected')
    )
    """,
    "CREATE INDEX IF NOT EXISTS operator_requests_newest ON operator_requests (requested_at DESC, request_id DESC)",
    """
    CREATE INDEX IF NOT EXISTS operator_requests_waiting ON operator_requests (requested_at DESC, request_id DESC)
        WHERE status = 'waiting'
    """,
    """
    CREATE INDEX IF NOT EXISTS operator_requests_of_user
        ON operator_requests (user_id, requested_at DESC, request_id DESC)
    """,
    # `amount` is what the user gets; below 0 it is what the user gives.
    """
    CREATE TABLE IF NOT EXISTS adjustments (
        adjustment_id text PRIMARY KEY,
        user_id text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount <> 0),
        category text NOT NULL CHECK (category IN ('correction', 'goodwill', 'refund', 'chargeback', 'promotion')),
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
    "CREATE INDEX IF NOT EXISTS adjustments_newest ON adjustments (created_at DESC, adjustment_id DESC)",
    "CREATE INDEX IF NOT EXISTS adjustments_of_user ON adjustments (user_id, created_at DESC, adjustment_id DESC)",
    "CREATE INDEX IF NOT EXISTS adjustments_alone ON adjustments (created_at) WHERE approved_by IS NULL",
)
# The operators of `text_pattern_ops` find the addresses and names that begin with a text.
INDEXES = {
    "users_by_email": "users (email text_pattern_ops)",
    "users_by_name": "users (lower(display_name) text_pattern_ops) WHERE display_name IS NOT NULL",
    "users_newest": "users (created_at DESC, user_id DESC)",
    "custody_addresses_by_address": "custody_addresses (address)",
    "withdrawal_addresses_by_address": "withdrawal_addresses (address)",
    "custody_withdrawals_by_address": "custody_withdrawals (address)",
    "custody_withdrawals_newest": "custody_withdrawals (created_at DESC, withdrawal_id DESC)",
    "custody_withdrawals_by_status": "custody_withdrawals (status, created_at DESC, withdrawal_id DESC)",
    "custody_deposits_newest": "custody_deposits (created_at DESC, tx_hash DESC)",
    "payments_newest": "payments (created_at DESC, payment_id DESC)",
    "payments_by_status": "payments (status, created_at DESC, payment_id DESC)",
    "payments_uncredited": (
        "payments (created_at DESC, payment_id DESC) WHERE payment_status = 'paid' AND NOT credited"
    ),
    "kyc_profiles_by_status": "kyc_profiles (status, updated_at, user_id)",
}


def upgrade() -> None:
    """Create the tables, then the indexes beside whoever writes."""
    for statement in STATEMENTS:
        op.execute(statement)
    for name, definition in INDEXES.items():
        create_index(name, definition)
