"""Margin accounts, positions, loans, interest postings, transfers and liquidations."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

STATEMENTS = (
    # The lock of this row serialises everything that is done to the account.
    """
    CREATE TABLE margin_accounts (
        account_id text PRIMARY KEY,
        user_id text NOT NULL,
        status text NOT NULL CHECK (status IN ('active', 'liquidating', 'closed')),
        zone text NOT NULL CHECK (zone IN ('safe', 'warning', 'liquidation')),
        warnings bigint NOT NULL DEFAULT 0,
        changes bigint NOT NULL,
        created_at timestamptz NOT NULL,
        closed_at timestamptz
    )
    """,
    "CREATE UNIQUE INDEX margin_accounts_open ON margin_accounts (user_id) WHERE status <> 'closed'",
    "CREATE INDEX margin_accounts_user ON margin_accounts (user_id)",
    # A change of an account takes the next number, so that a scan finds the accounts that changed since the last one.
    "CREATE SEQUENCE margin_changes AS bigint",
    "CREATE INDEX margin_accounts_changes ON margin_accounts (changes)",
    """
    CREATE TABLE margin_loans (
        loan_id text PRIMARY KEY,
        account_id text NOT NULL REFERENCES margin_accounts (account_id),
        asset text NOT NULL,
        borrowed numeric(38, 18) NOT NULL CHECK (borrowed > 0),
        principal numeric(38, 18) NOT NULL CHECK (principal >= 0),
        rate numeric NOT NULL CHECK (rate >= 0),
        segment_start bigint NOT NULL,
        settled numeric(38, 18) NOT NULL DEFAULT 0,
        posted numeric(38, 18) NOT NULL DEFAULT 0,
        paid numeric(38, 18) NOT NULL DEFAULT 0,
        repaying text,
        status text NOT NULL CHECK (status IN ('pending', 'active', 'repaid', 'refused', 'written_off')),
        created_at timestamptz NOT NULL,
        ended_at timestamptz,
        CHECK (paid <= posted)
    )
    """,
    "CREATE INDEX margin_loans_account ON margin_loans (account_id, created_at, loan_id)",
    "CREATE INDEX margin_loans_active ON margin_loans (loan_id) WHERE status = 'active'",
    # Interest that was added to the debt. The id names the sum before it, so no minute is posted twice.
    """
    CREATE TABLE margin_interest (
        posting_id text PRIMARY KEY,
        loan_id text NOT NULL REFERENCES margin_loans (loan_id),
        amount numeric(38, 18) NOT NULL CHECK (amount > 0),
        posted_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX margin_interest_loan ON margin_interest (loan_id)",
    """
    CREATE TABLE margin_positions (
        position_id text PRIMARY KEY,
        account_id text NOT NULL REFERENCES margin_accounts (account_id),
        symbol text NOT NULL,
        side text NOT NULL CHECK (side IN ('buy', 'sell')),
        quantity numeric(38, 18) NOT NULL CHECK (quantity >= 0),
        leverage numeric NOT NULL,
        required_margin numeric(38, 18) NOT NULL,
        own_funds numeric(38, 18) NOT NULL,
        entry_price numeric,
        status text NOT NULL
            CHECK (status IN ('opening', 'failed', 'open', 'closing', 'liquidating', 'closed', 'liquidated')),
        reason text,
        loan_id text REFERENCES margin_loans (loan_id),
        closings integer NOT NULL DEFAULT 0,
        close_request text,
        opened_at timestamptz NOT NULL,
        closed_at timestamptz
    )
    """,
    "CREATE INDEX margin_positions_account ON margin_positions (account_id, opened_at, position_id)",
    # A transfer is written before it is sent, and sent until the engine's decision is known.
    """
    CREATE TABLE margin_transfers (
        reference text PRIMARY KEY,
        account_id text NOT NULL REFERENCES margin_accounts (account_id),
        purpose text NOT NULL CHECK (purpose IN ('in', 'out', 'borrow', 'repay', 'loss')),
        loan_id text REFERENCES margin_loans (loan_id),
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL CHECK (amount > 0),
        movements jsonb NOT NULL,
        at_ms bigint NOT NULL,
        number bigint GENERATED ALWAYS AS IDENTITY,
        status text NOT NULL CHECK (status IN ('pending', 'done', 'refused')),
        result_code text
    )
    """,
    "CREATE INDEX margin_transfers_pending ON margin_transfers (account_id, number) WHERE status = 'pending'",
    """
    CREATE TABLE margin_liquidations (
        liquidation_id text PRIMARY KEY,
        account_id text NOT NULL REFERENCES margin_accounts (account_id),
        step text CHECK (
            step IN ('cancel_orders', 'positions_closed', 'notify_user', 'liquidation_orders', 'settle_loans')
        ),
        round integer NOT NULL,
        orders jsonb,
        margin_level text,
        next_at timestamptz NOT NULL,
        started_at timestamptz NOT NULL,
        finished_at timestamptz
    )
    """,
    "CREATE UNIQUE INDEX margin_liquidations_open ON margin_liquidations (account_id) WHERE step IS NOT NULL",
    "CREATE INDEX margin_liquidations_account ON margin_liquidations (account_id)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
