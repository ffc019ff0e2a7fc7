"""Price alerts of users, and up to which trade the alerts of each market are judged."""

from alembic import op

revision = "0029"
down_revision = "0026"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `waits_for` and `level`: the price that the alert waits for, and from which side; null when it has fired for good.
    # `seen_at` and `seen_sequence`: the trade after which it counts.
    """
    CREATE TABLE price_alerts (
        alert_id text PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL,
        symbol text NOT NULL,
        source text NOT NULL CHECK (source IN ('last_trade', 'fair_price')),
        direction text NOT NULL CHECK (direction IN ('above', 'below')),
        price numeric(38, 18) NOT NULL CHECK (price > 0),
        note text,
        repeats boolean NOT NULL,
        rearm_distance numeric(38, 18) CHECK (rearm_distance > 0),
        interval_s integer CHECK (interval_s > 0),
        waits_for text CHECK (waits_for IN ('above', 'below')),
        level numeric(38, 18),
        rests_until timestamptz,
        seen_at timestamptz NOT NULL,
        seen_sequence bigint NOT NULL,
        times_fired bigint NOT NULL,
        fired_at timestamptz,
        fired_price numeric(38, 18),
        created_at timestamptz NOT NULL,
        CHECK ((waits_for IS NULL) = (level IS NULL))
    )
    """,
    "CREATE INDEX price_alerts_of_user ON price_alerts (user_id, created_at)",
    # Which alerts a price reaches.
    """
    CREATE INDEX price_alerts_waiting ON price_alerts (source, symbol, waits_for, level) WHERE waits_for IS NOT NULL
    """,
    """
    CREATE TABLE price_alert_markets (
        symbol text PRIMARY KEY,
        judged_at timestamptz NOT NULL,
        judged_sequence bigint NOT NULL
    ) WITH (fillfactor = 50)
    """,
)


def upgrade() -> None:
    """Make the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
