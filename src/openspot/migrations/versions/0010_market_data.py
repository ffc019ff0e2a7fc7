"""Trades, candles and checkpoint of the market data service."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A trade is counted in candles in the transaction that inserts it here, so each trade counts once.
    """
    CREATE TABLE market_trades (
        trade_id text PRIMARY KEY,
        symbol text NOT NULL,
        sequence bigint NOT NULL,
        price numeric(38, 18) NOT NULL,
        quantity numeric(38, 18) NOT NULL,
        taker_side text NOT NULL CHECK (taker_side IN ('buy', 'sell')),
        executed_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX market_trades_of_symbol ON market_trades (symbol, executed_at DESC, sequence DESC)",
    # The first and the last trade, by (time, sequence), decide open and close, in whatever order trades are counted.
    """
    CREATE TABLE market_candles (
        symbol text NOT NULL,
        interval text NOT NULL CHECK (interval IN ('1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w')),
        begins_at timestamptz NOT NULL,
        open numeric(38, 18) NOT NULL,
        high numeric(38, 18) NOT NULL,
        low numeric(38, 18) NOT NULL,
        close numeric(38, 18) NOT NULL,
        volume numeric NOT NULL,
        quote_volume numeric NOT NULL,
        trades bigint NOT NULL,
        first_at timestamptz NOT NULL,
        first_sequence bigint NOT NULL,
        last_at timestamptz NOT NULL,
        last_sequence bigint NOT NULL,
        PRIMARY KEY (symbol, interval, begins_at)
    ) WITH (fillfactor = 70)
    """,
    # How far trades and candles have come. `token` is that of the newest leader: an older one can no longer write.
    """
    CREATE TABLE market_data_checkpoints (
        name text PRIMARY KEY,
        token bigint NOT NULL,
        epoch text NOT NULL DEFAULT '',
        sequence bigint NOT NULL DEFAULT 0,
        updated_at timestamptz NOT NULL DEFAULT now()
    )
    """,
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
