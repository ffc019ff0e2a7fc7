"""What reports are made of: movements, volumes and users of each day, and the indexes that find a day.

The indexes are of few bytes for each block of a table, so that writers hardly pay for them. The tables may be large
here, and an earlier release may still write to them: writers are not locked out.
"""

from alembic import op

from openspot.migrations.indexes import create_index

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

STATEMENTS = (
    # What the accounts of a class moved on a day (UTC), and what they held at its end. A class is `users`, `margin`, or
    # the id of an account of the house. `fees`, `rebates` and `other` are sums of entries, together the day's movement.
    """
    CREATE TABLE IF NOT EXISTS report_movements (
        day date NOT NULL,
        account_class text NOT NULL,
        asset text NOT NULL,
        fees numeric NOT NULL,
        rebates numeric NOT NULL,
        other numeric NOT NULL,
        balance numeric NOT NULL,
        PRIMARY KEY (day, account_class, asset)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS report_volumes (
        day date NOT NULL,
        symbol text NOT NULL,
        trades bigint NOT NULL,
        base numeric NOT NULL,
        quote numeric NOT NULL,
        PRIMARY KEY (day, symbol)
    )
    """,
    # One row for each day that is closed. `verified` is how many users were verified when the day was closed, null if
    # it was closed later than that.
    """
    CREATE TABLE IF NOT EXISTS report_users (
        day date PRIMARY KEY,
        registered bigint NOT NULL,
        active bigint NOT NULL,
        total bigint NOT NULL,
        verified bigint
    )
    """,
    # What custody held when a day was closed. A day without rows is one for which custody was not asked.
    """
    CREATE TABLE IF NOT EXISTS report_reserves (
        day date NOT NULL,
        asset text NOT NULL,
        held numeric NOT NULL,
        PRIMARY KEY (day, asset)
    )
    """,
)
CREATED = {
    "ledger_entries_days": "ledger_entries USING brin (created_at) WITH (autosummarize = on)",
    "trades_days": "trades USING brin (executed_at) WITH (autosummarize = on)",
    "user_activity_days": "user_activity USING brin (created_at) WITH (autosummarize = on)",
}


def upgrade() -> None:
    """Create tables and indexes."""
    for statement in STATEMENTS:
        op.execute(statement)
    for name, definition in CREATED.items():
        create_index(name, definition)
