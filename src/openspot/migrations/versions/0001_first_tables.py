"""Users, sessions and audit of the edge; orders and trades of the router; accounts and entries of the ledger."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE users (
        user_id text PRIMARY KEY,
        email text NOT NULL UNIQUE,
        password_hash text NOT NULL,
        role text NOT NULL CHECK (role IN ('user', 'admin')),
        email_verified_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE refresh_tokens (
        token_hash bytea PRIMARY KEY,
        family_id text NOT NULL,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        revoked_at timestamptz
    )
    """,
    "CREATE INDEX refresh_tokens_family ON refresh_tokens (family_id)",
    "CREATE INDEX refresh_tokens_user ON refresh_tokens (user_id)",
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
    # The shared counter of internal order ids: a router takes a block of them at a time.
    "CREATE SEQUENCE internal_order_ids AS bigint INCREMENT BY 1000 START WITH 1000",
    """
    CREATE TABLE orders (
        order_id text PRIMARY KEY,
        internal_id bigint UNIQUE,
        client_order_id text,
        user_id text NOT NULL,
        symbol text NOT NULL,
        side text NOT NULL CHECK (side IN ('buy', 'sell')),
        type text NOT NULL CHECK (type IN ('limit', 'market', 'stop_limit', 'stop_market')),
        time_in_force text NOT NULL CHECK (time_in_force IN ('gtc', 'ioc', 'fok')),
        margin_mode text,
        price numeric(38, 18),
        quantity numeric(38, 18) NOT NULL,
        filled_quantity numeric(38, 18) NOT NULL DEFAULT 0,
        filled_notional numeric(38, 18) NOT NULL DEFAULT 0,
        remaining_quantity numeric(38, 18) NOT NULL,
        fee numeric(38, 18) NOT NULL DEFAULT 0,
        fee_currency text NOT NULL,
        status text NOT NULL
            CHECK (status IN ('pending', 'open', 'partially_filled', 'filled', 'cancelled', 'rejected')),
        reject_reason text,
        last_sequence bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX orders_of_user ON orders (user_id, created_at DESC, order_id DESC)",
    """
    CREATE INDEX orders_open ON orders (user_id, created_at DESC, order_id DESC)
        WHERE status IN ('pending', 'open', 'partially_filled')
    """,
    "CREATE INDEX orders_client ON orders (user_id, client_order_id) WHERE client_order_id IS NOT NULL",
    """
    CREATE TABLE trades (
        trade_id text PRIMARY KEY,
        sequence bigint NOT NULL,
        symbol text NOT NULL,
        price numeric(38, 18) NOT NULL,
        quantity numeric(38, 18) NOT NULL,
        taker_side text NOT NULL,
        taker_order_id text NOT NULL REFERENCES orders (order_id),
        maker_order_id text NOT NULL REFERENCES orders (order_id),
        buyer_id text NOT NULL,
        seller_id text NOT NULL,
        taker_fee numeric(38, 18) NOT NULL,
        maker_fee numeric(38, 18) NOT NULL,
        fee_currency text NOT NULL,
        executed_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX trades_of_symbol ON trades (symbol, sequence DESC)",
    "CREATE INDEX trades_of_buyer ON trades (buyer_id, sequence DESC)",
    "CREATE INDEX trades_of_seller ON trades (seller_id, sequence DESC)",
    # How far a mirror of the engine has come; `epoch` names the engine's journal.
    """
    CREATE TABLE engine_cursors (
        consumer text PRIMARY KEY,
        epoch text NOT NULL,
        sequence bigint NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    # `version` counts the changes of an account. Free room in the pages keeps updates off the index.
    """
    CREATE TABLE ledger_accounts (
        user_id text NOT NULL,
        asset text NOT NULL,
        available numeric(38, 18) NOT NULL DEFAULT 0,
        locked numeric(38, 18) NOT NULL DEFAULT 0 CHECK (locked >= 0),
        version bigint NOT NULL DEFAULT 0,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (user_id, asset)
    ) WITH (fillfactor = 70)
    """,
    # `balance` is available and locked together: the sum of the account's entries up to this one.
    """
    CREATE TABLE ledger_entries (
        entry_id bigint GENERATED ALWAYS AS IDENTITY,
        transaction_id text PRIMARY KEY,
        user_id text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL,
        balance numeric(38, 18) NOT NULL,
        entry_type text NOT NULL,
        reference_type text NOT NULL,
        reference_id text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX ledger_entries_of_account ON ledger_entries (user_id, asset, entry_id DESC)",
    # Moves between available and locked: one for each reference and direction.
    """
    CREATE TABLE ledger_movements (
        user_id text NOT NULL,
        asset text NOT NULL,
        reference_id text NOT NULL,
        direction text NOT NULL CHECK (direction IN ('lock', 'unlock')),
        amount numeric(38, 18) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (user_id, asset, reference_id, direction)
    )
    """,
    # Balance events that are committed and not yet published.
    """
    CREATE TABLE ledger_outbox (
        outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text NOT NULL,
        asset text NOT NULL,
        transaction_id text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    # Trades that cannot be settled as they are, for a person to look at.
    """
    CREATE TABLE ledger_rejected_trades (
        payload_hash bytea PRIMARY KEY,
        trade_id text NOT NULL,
        reason text NOT NULL,
        payload text NOT NULL,
        rejected_at timestamptz NOT NULL DEFAULT now()
    )
    """,
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
