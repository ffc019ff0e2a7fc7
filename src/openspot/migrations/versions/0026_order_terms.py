"""An order's row has its terms: trigger, expiry and mode of self-trade prevention. No order of before has any."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Extend the table. The columns are empty for nearly every row, which costs nothing.

    The rows that are there passed narrower checks, so they need not be read again.
    """
    op.execute("""
        ALTER TABLE orders
            ADD COLUMN stop_price numeric(38, 18),
            ADD COLUMN trigger_by text,
            ADD COLUMN trailing_amount numeric(38, 18),
            ADD COLUMN trailing_bps bigint,
            ADD COLUMN triggered_at timestamptz,
            ADD COLUMN expires_at timestamptz,
            ADD COLUMN self_trade_prevention text,
            DROP CONSTRAINT orders_type_check,
            DROP CONSTRAINT orders_time_in_force_check,
            ADD CONSTRAINT orders_type_check CHECK (type IN (
                'limit', 'market', 'stop_limit', 'stop_market', 'take_profit_limit', 'take_profit_market',
                'trailing_stop_limit', 'trailing_stop_market'
            )) NOT VALID,
            ADD CONSTRAINT orders_time_in_force_check CHECK (time_in_force IN ('gtc', 'ioc', 'fok', 'gtd')) NOT VALID
    """)
