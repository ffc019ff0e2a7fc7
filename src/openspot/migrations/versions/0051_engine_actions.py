"""How far the operators' trail has followed the actions in the engine's journal."""

from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `through` is the last command of the journal `epoch` up to which every action has its entry.
    """
    CREATE TABLE IF NOT EXISTS engine_action_positions (
        epoch text PRIMARY KEY,
        through bigint NOT NULL CHECK (through >= 0)
    )
    """,
)


def upgrade() -> None:
    """Make the table."""
    for statement in STATEMENTS:
        op.execute(statement)
