"""Tables of the position service."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STATEMENTS = (
    # Sums of amounts have no bound of their own, so `numeric` has no precision where a column holds one.
    """
    CREATE TABLE positions (
        participant_id text COLLATE "C" NOT NULL,
        symbol text COLLATE "C" NOT NULL,
        quantity numeric NOT NULL DEFAULT 0,
        cost numeric NOT NULL DEFAULT 0,
        realised numeric NOT NULL DEFAULT 0,
        fees numeric NOT NULL DEFAULT 0,
        cash_flow numeric NOT NULL DEFAULT 0,
        trade_count bigint NOT NULL DEFAULT 0,
        opened_at timestamptz,
        closed_at timestamptz,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (participant_id, symbol)
    )
    """,
    # A trade moves its position in the transaction that inserts it here, so each trade counts once.
    """
    CREATE TABLE position_trades (
        serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        trade_id text NOT NULL UNIQUE,
        participant_id text NOT NULL,
        symbol text NOT NULL,
        side text NOT NULL CHECK (side IN ('buy', 'sell')),
        quantity numeric(38, 18) NOT NULL,
        notional numeric(38, 18) NOT NULL,
        fee numeric(38, 18) NOT NULL,
        realised numeric NOT NULL,
        source text NOT NULL CHECK (source IN ('fill', 'broker', 'close')),
        executed_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX position_trades_of_participant ON position_trades (participant_id, serial DESC)",
    """
    CREATE TABLE position_balances (
        participant_id text COLLATE "C" NOT NULL,
        asset text COLLATE "C" NOT NULL,
        available numeric NOT NULL DEFAULT 0,
        locked numeric NOT NULL DEFAULT 0 CHECK (locked >= 0),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (participant_id, asset)
    )
    """,
    """
    CREATE TABLE position_transfers (
        serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        transfer_id text NOT NULL UNIQUE,
        participant_id text NOT NULL,
        asset text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('deposit', 'withdrawal', 'adjustment')),
        amount numeric(38, 18) NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'completed', 'cancelled')),
        reference text,
        reason text,
        allow_negative boolean NOT NULL DEFAULT false,
        created_by text NOT NULL,
        ended_by text,
        created_at timestamptz NOT NULL DEFAULT now(),
        ended_at timestamptz,
        UNIQUE (participant_id, kind, reference)
    )
    """,
    "CREATE INDEX position_transfers_of_participant ON position_transfers (participant_id, serial DESC)",
    """
    CREATE TABLE position_marks (
        symbol text PRIMARY KEY,
        price numeric(38, 18) NOT NULL,
        priced_at timestamptz NOT NULL,
        marked_at timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE position_snapshots (
        taken_at timestamptz NOT NULL,
        participant_id text COLLATE "C" NOT NULL,
        symbol text COLLATE "C" NOT NULL,
        quantity numeric NOT NULL,
        cost numeric NOT NULL,
        realised numeric NOT NULL,
        fees numeric NOT NULL,
        mark_price numeric,
        unrealised numeric,
        PRIMARY KEY (taken_at, participant_id, symbol)
    )
    """,
    "CREATE INDEX position_snapshots_of_participant ON position_snapshots (participant_id, taken_at DESC, symbol DESC)",
    # How far the trades of the exchange have come, written with the trades themselves.
    """
    CREATE TABLE position_checkpoints (
        name text PRIMARY KEY,
        sequence bigint NOT NULL,
        trade_id text NOT NULL,
        trade_count bigint NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE TABLE position_refused_trades (trade_id text PRIMARY KEY, trade jsonb NOT NULL, reason text NOT NULL)",
    # A change sets `dirty_*` to the earliest transaction that has to be computed again, in the same transaction.
    """
    CREATE TABLE fifo_owners (
        user_id text COLLATE "C" PRIMARY KEY,
        dirty_ms bigint,
        dirty_id text COLLATE "C",
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE fifo_transactions (
        user_id text NOT NULL,
        external_id text COLLATE "C" NOT NULL,
        executed_ms bigint NOT NULL,
        kind text NOT NULL CHECK (kind IN ('acquisition', 'disposal', 'transfer')),
        account text NOT NULL,
        asset text NOT NULL,
        quantity numeric(38, 18) NOT NULL,
        value numeric(38, 18) NOT NULL,
        fee numeric(38, 18) NOT NULL,
        fee_asset text,
        fee_quantity numeric(38, 18) NOT NULL,
        destination text,
        fingerprint text NOT NULL,
        shortfall text,
        PRIMARY KEY (user_id, external_id)
    )
    """,
    "CREATE UNIQUE INDEX fifo_transactions_in_order ON fifo_transactions (user_id, executed_ms, external_id)",
    """
    CREATE INDEX fifo_transactions_short ON fifo_transactions (user_id, executed_ms, external_id)
        WHERE shortfall IS NOT NULL
    """,
    # Everything below is computed from `fifo_transactions`.
    """
    CREATE TABLE fifo_disposals (
        user_id text NOT NULL,
        disposed_ms bigint NOT NULL,
        disposal_id text COLLATE "C" NOT NULL,
        part integer NOT NULL,
        account text NOT NULL,
        asset text NOT NULL,
        reason text NOT NULL,
        quantity numeric(38, 18) NOT NULL,
        proceeds numeric NOT NULL,
        cost numeric NOT NULL,
        acquired_ms bigint NOT NULL,
        acquisition_id text NOT NULL,
        PRIMARY KEY (user_id, disposed_ms, disposal_id, part)
    )
    """,
    """
    CREATE INDEX fifo_disposals_of_asset
        ON fifo_disposals (user_id, asset, disposed_ms DESC, disposal_id DESC, part DESC)
    """,
    """
    CREATE TABLE fifo_lots (
        user_id text NOT NULL,
        asset text COLLATE "C" NOT NULL,
        account text COLLATE "C" NOT NULL,
        acquired_ms bigint NOT NULL,
        acquisition_id text COLLATE "C" NOT NULL,
        quantity numeric(38, 18) NOT NULL,
        cost numeric NOT NULL,
        PRIMARY KEY (user_id, asset, account, acquired_ms, acquisition_id)
    )
    """,
    """
    CREATE TABLE fifo_checkpoints (
        user_id text NOT NULL,
        executed_ms bigint NOT NULL,
        external_id text COLLATE "C" NOT NULL,
        is_newest boolean NOT NULL,
        state text NOT NULL,
        PRIMARY KEY (user_id, executed_ms, external_id)
    )
    """,
    # Fills of the exchange that are not FIFO transactions yet: the value of their quote asset may be missing.
    """
    CREATE TABLE fifo_pending_fills (
        serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        trade_id text NOT NULL,
        user_id text NOT NULL,
        symbol text NOT NULL,
        side text NOT NULL CHECK (side IN ('buy', 'sell')),
        quantity numeric(38, 18) NOT NULL,
        notional numeric(38, 18) NOT NULL,
        fee numeric(38, 18) NOT NULL,
        executed_ms bigint NOT NULL,
        UNIQUE (trade_id, user_id, side)
    )
    """,
    "CREATE INDEX fifo_pending_fills_of_user ON fifo_pending_fills (user_id)",
    """
    CREATE TABLE broker_reports (
        order_id text PRIMARY KEY,
        report jsonb NOT NULL,
        accepted_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE broker_exceptions (
        serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        exception_id text NOT NULL UNIQUE,
        order_id text NOT NULL,
        participant_id text NOT NULL,
        report jsonb NOT NULL,
        reasons jsonb NOT NULL,
        times_reported bigint NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX broker_exceptions_of_participant ON broker_exceptions (participant_id, serial DESC)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
