"""Fair prices with their samples by the minute, prices that operators set, and users who are one owner."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

STATEMENTS = (
    # The last fair price of each market, and what a new leader needs to continue it.
    """
    CREATE TABLE fair_prices (
        symbol text PRIMARY KEY,
        state text NOT NULL CHECK (state IN ('good', 'thin', 'stale', 'disputed')),
        price numeric NOT NULL,
        low numeric NOT NULL,
        high numeric NOT NULL,
        day_median numeric NOT NULL,
        sellable numeric NOT NULL,
        buyable numeric NOT NULL,
        reason text NOT NULL,
        computed_at timestamptz NOT NULL,
        standing_price numeric,
        standing_at timestamptz,
        move_cost numeric
    ) WITH (fillfactor = 70)
    """,
    """
    CREATE TABLE fair_price_samples (
        symbol text NOT NULL,
        sampled_at timestamptz NOT NULL,
        price numeric NOT NULL,
        PRIMARY KEY (symbol, sampled_at)
    )
    """,
    # The newest row of a market counts until `ends_at`, unless it was cleared. Rows are never deleted.
    """
    CREATE TABLE operator_prices (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        symbol text NOT NULL,
        price numeric(38, 18) NOT NULL CHECK (price > 0),
        ends_at timestamptz NOT NULL,
        reason text NOT NULL,
        set_by text NOT NULL,
        set_at timestamptz NOT NULL DEFAULT now(),
        cleared_by text,
        cleared_at timestamptz
    )
    """,
    "CREATE INDEX operator_prices_of_symbol ON operator_prices (symbol, number DESC)",
    # A link counts until it is ended. `first_user_id` is the smaller of both. Rows are never deleted.
    """
    CREATE TABLE owner_links (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        first_user_id text NOT NULL,
        second_user_id text NOT NULL,
        reason text NOT NULL,
        linked_by text NOT NULL,
        linked_at timestamptz NOT NULL DEFAULT now(),
        end_reason text,
        ended_by text,
        ended_at timestamptz,
        CHECK (first_user_id < second_user_id)
    )
    """,
    "CREATE UNIQUE INDEX owner_links_present ON owner_links (first_user_id, second_user_id) WHERE ended_at IS NULL",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
