"""What `openspot archive` needs to know: its files, how far each kind of row has left, and what accounts carry on.

Trade rows no longer refer to order rows: an order that leaves would be looked for in all trades, which have no index by
order. Every trade also locked two orders. `openspot reconcile` compares both with the engine.
"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE trades DROP CONSTRAINT trades_taker_order_id_fkey, DROP CONSTRAINT trades_maker_order_id_fkey",
    # A file of rows: `written` while they are still in their table as well, `removed` when they are in the file alone.
    """
    CREATE TABLE archive_batches (
        batch_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind text NOT NULL,
        file text NOT NULL UNIQUE,
        sha256 text NOT NULL,
        row_count bigint NOT NULL CHECK (row_count > 0),
        state text NOT NULL CHECK (state IN ('written', 'removed')),
        written_at timestamptz NOT NULL DEFAULT now(),
        removed_at timestamptz
    )
    """,
    # Rows of events up to `sequence` of the journal `epoch`, and older than `before`, may be in the archive.
    """
    CREATE TABLE archive_floors (
        kind text PRIMARY KEY,
        epoch text NOT NULL,
        sequence bigint NOT NULL,
        before timestamptz NOT NULL
    )
    """,
    # The sum of an account's entries in the archive, their number, and the newest of them.
    """
    CREATE TABLE ledger_carried (
        user_id text NOT NULL,
        asset text NOT NULL,
        amount numeric(38, 18) NOT NULL,
        entries bigint NOT NULL CHECK (entries > 0),
        entry_id bigint NOT NULL,
        PRIMARY KEY (user_id, asset)
    )
    """,
)


def upgrade() -> None:
    """Drop the references, and add the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
