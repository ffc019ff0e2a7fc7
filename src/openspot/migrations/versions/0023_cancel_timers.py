"""The dead man's switch of users: when all open orders of a user are cancelled unless the user renews it."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. `fires_at` is null while no timer runs; an edge that carries one out claims it for a while."""
    op.execute(
        """
        CREATE TABLE cancel_timers (
            user_id text COLLATE "C" PRIMARY KEY,
            timeout_s integer NOT NULL CHECK (timeout_s >= 0),
            fires_at timestamptz,
            claimed_until timestamptz,
            fired_at timestamptz,
            cancelled_orders integer
        )
        """
    )
    op.execute("CREATE INDEX cancel_timers_due ON cancel_timers (fires_at) WHERE fires_at IS NOT NULL")
